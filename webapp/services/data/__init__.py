"""Campaigns as tables and as files."""
