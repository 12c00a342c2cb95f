"""One file per protocol, named for it; each declares `PROTOCOL`."""
