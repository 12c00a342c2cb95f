"""Campaigns, from draft to close."""
