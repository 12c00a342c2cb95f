"""Functions of strings and tokens."""
