"""Accounts of staff: logins, second factors, sessions, and projects with their members."""
