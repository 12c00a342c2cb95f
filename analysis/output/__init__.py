"""Reports as pages, PDF, notebooks and terminal text."""
