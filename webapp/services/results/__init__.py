"""Results of the analysis, as pages show them."""
