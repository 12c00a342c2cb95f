"""Agreement of raters, and unusual raters."""
