"""The acceptance of every bot, dataset, metric and analysis, shown by running it.

Each row of `rows.csv` (ids and sentences of the specification's checklist of systems) has one
function, named for it, in a module of this folder: `b_generic` shows B-GENERIC. It runs what a
reader would run, the commands where there are any, and tells what came of it.

    python -m tests.acceptance [ID ...] [--json]
"""
