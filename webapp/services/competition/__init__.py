"""Competitions: submissions by rules, runs on hidden data, the board, the human round, prizes."""
