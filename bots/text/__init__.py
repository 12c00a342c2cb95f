"""Words and their statistics, without torch."""
