"""Trials of the simulation, by kind of figure."""
