"""The acceptance of every protocol, bot, dataset, metric and analysis, shown by running it.

Each row of `rows.csv` (ids and sentences of the specification's checklist of systems) has one
function, named for it, in a module of this folder: `b_generic` shows B-GENERIC. It runs what a
reader would run, the commands where there are any, and tells what came of it. Those of protocols,
in `protocols/`, go through pages and sockets.

    python -m tests.acceptance [ID ...] [--quick | --pages] [--out DIR] [--json]
"""
