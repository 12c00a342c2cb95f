"""Items, their assignment to raters, and the answers."""
