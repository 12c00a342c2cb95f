"""Django's migrations."""
