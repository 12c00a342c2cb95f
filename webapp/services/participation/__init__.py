"""One person's way through a campaign."""
