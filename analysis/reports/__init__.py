"""One file per named analysis; each holds a function of that name, returning a Report."""
