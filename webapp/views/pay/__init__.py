"""Pages about pay: who is owed what, and what proves it."""
