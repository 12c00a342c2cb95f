"""What participants write for the protocol: forms, contributions, and decisions about them."""
