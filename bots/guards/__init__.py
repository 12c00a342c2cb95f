"""Limits on what a bot says and whom it calls."""
