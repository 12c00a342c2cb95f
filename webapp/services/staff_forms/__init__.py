"""Staff input, checked and turned into values."""
