"""Work without a visitor: sweeps, backups, server checks, logins."""
