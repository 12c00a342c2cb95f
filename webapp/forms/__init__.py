"""Forms, from typed text to checked values."""
