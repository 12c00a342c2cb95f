"""Work without a visitor: sweeps, backups and server checks."""
