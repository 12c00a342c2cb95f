"""Systems compared side by side."""
