"""Every rule and every write; one function is one transaction."""
