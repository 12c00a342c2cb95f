"""Rows of a PredictionTable."""
