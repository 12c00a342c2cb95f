"""Statistics of arrays."""
