"""Parts that two or more generators share."""
