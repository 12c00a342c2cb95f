"""Ratings of one question, and models of them."""
