"""Estimators tried on campaigns whose truth is known."""
