"""Self-test of a report: campaigns of known truth on the very incidence of the table at hand."""
