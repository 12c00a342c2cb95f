"""The Django app: the only code that knows the web and the database."""
