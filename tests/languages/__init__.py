"""Catalogs of participants' texts: what belongs in them, and what is missing."""
