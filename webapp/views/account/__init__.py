"""Pages of an account: signing in, the second factor, sessions."""
