"""Training loop, checkpoints and splits."""
