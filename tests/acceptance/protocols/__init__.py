"""Rows of protocols, and of what rests on them: shown through pages and sockets, never by services.

    python -m tests.acceptance --pages [--out DIR]

A row lets simulated people take a campaign (`script/simulate`), reads its export by `python -m
analysis`, and runs the tests of pages that try what simulated people do not: what is refused.
"""
