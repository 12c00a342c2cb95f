"""Protocols, one file per protocol, named for it; each declares `PROTOCOL`.

Its docstring is one sentence, which the page *Choose a protocol* shows.
"""
