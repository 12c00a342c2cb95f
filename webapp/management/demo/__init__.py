"""The demo: a study by simulated people on this machine, from the weights to the report."""
