"""Conversations, from match to end."""
