"""Writing for the protocol: forms, contributions, and decisions about them."""
