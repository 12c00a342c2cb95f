"""Parts that two or more rankers share."""
