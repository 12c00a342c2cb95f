"""Receipts that participants are handed, and how anybody tells whether one is true."""
