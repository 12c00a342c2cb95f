"""python -m tests.acceptance [ID ...] [--quick | --pages] [--json] [--out DIR]: row by row.

Exit status: 0 where every row that could be shown holds, 1 where one does not, 2 for an unknown id.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.acceptance import table
from tests.acceptance.shell import SEED

ABOUT = (
    "Commands run in one folder; weights/NAME there is what `python -m bots train NAME --data "
    f"demo:train --seed {SEED} --out weights/NAME` writes."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a row does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=__doc__)
    parser.add_argument("id", nargs="*", metavar="ID", help="rows, as B-GENERIC; all if none")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="leave out rows that take long")
    which.add_argument(
        "--pages", action="store_true", help="only rows that go through pages and sockets"
    )
    parser.add_argument("--out", type=Path, help="keep all that is written; again: only what lacks")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    given = parser.parse_args(arguments)
    known = [each.id for each in table.wanted()]
    if unknown := [each for each in given.id if each not in known]:
        print(f"no row {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    asked = [each for each in given.id or known if _is_asked(each, given)]
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        return _print(asked, given.out, as_json=given.json)
    with tempfile.TemporaryDirectory(prefix="parley-acceptance-") as folder:
        return _print(asked, Path(folder), as_json=given.json)


def _is_asked(id: str, given: argparse.Namespace) -> bool:
    if given.pages:
        return table.is_through_pages(id)
    return not (given.quick and table.is_slow(id))


def _print(asked: Sequence[str], folder: Path, *, as_json: bool) -> int:
    began, found = time.monotonic(), []
    if not as_json:
        print(f"{ABOUT}\n\n| id | what | command | result | |\n|---|---|---|---|---|", flush=True)
    for row in table.rows(folder, asked):
        found.append(row)
        if not as_json:
            cells = (row.id, row.what, row.command, row.result, row.verdict)
            line = " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
            print(f"| {line} |", flush=True)
    if as_json:
        print(json.dumps([asdict(row) for row in found], indent=1, ensure_ascii=False))
    else:
        print(f"\n{_summary(found)} In {time.monotonic() - began:.0f} s.")
    return int(any(row.holds is False for row in found))


def _summary(found: Sequence[table.Row]) -> str:
    lines = [f"{sum(row.holds is True for row in found)} of {len(found)} rows hold."]
    for verdict in ("does not hold", "not shown"):
        ids = ", ".join(row.id for row in found if row.verdict == verdict)
        lines += [f"{verdict.capitalize()}: {ids}."] if ids else []
    return " ".join(lines)


if __name__ == "__main__":
    sys.exit(main())
