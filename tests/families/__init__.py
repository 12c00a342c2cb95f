"""Design families: campaigns of known truth, and whether what a report prints of them holds."""
