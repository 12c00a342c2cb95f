"""The three tables: their schema, reading and validation."""
