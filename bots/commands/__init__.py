"""Subcommands of `python -m bots`.

One module per command, apart because `__main__` only parses arguments and builds bots.
"""
