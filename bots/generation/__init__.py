"""Decoding and perplexity of any model that predicts the next token."""
