"""Running campaigns, as staff see them."""
