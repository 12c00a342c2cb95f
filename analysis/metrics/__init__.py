"""One file per metric, named for it; each holds a function of that name."""
