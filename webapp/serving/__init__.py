"""Calls of systems, each in the lane of its system, and who waits for a task to be settled."""
