"""Kinds of question, one file per kind, named for it; each declares `KIND`."""
