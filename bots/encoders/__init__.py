"""Texts as vectors, and exact search among them."""
