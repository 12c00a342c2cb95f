"""Whether what reports print holds in design families: `python -m tests.families`.

Campaigns of known truth are drawn by a simulator that shares no code with the estimators, the
report's own functions are run on each, and one table has a row per family: how often each kind of
95 % interval held, how often equal systems were called different, how much was withheld. Exits 1
where a row fails. With --into each batch is appended to a file, and what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tests.families.catalog import FAMILIES, Family
from tests.families.printed import Batch, Counts, campaigns
from tests.families.tallies import OPEN, Row, fill, has_table, row, table

TOGETHER = 25  # campaigns of a batch
# Of a family, which changes nothing that is drawn.
EXPECTED = ("abstains", "allows", "biased", "cautioned")
NIGHTLY, OF_NIGHT = 8, 200  # families of a night, and campaigns of each
USUAL = 1000
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a row fails, 2 where nothing is to be run."""
    options = _parser().parse_args(arguments)
    chosen = _chosen(options)
    if not chosen:
        print(f"--families: no family has {options.families!r} in its name", file=sys.stderr)
        return 2
    if options.page and not has_table(options.page):
        print(f"--page: {options.page} is no page with a line {OPEN.strip()}", file=sys.stderr)
        return 2
    night = options.nightly
    if options.seed is None:
        options.seed = night.toordinal() if night else 0
    options.campaigns = options.campaigns or (OF_NIGHT if night else USUAL)
    found = rows(chosen, options)
    print(table(found))
    if options.page:
        fill(options.page, found)
    print(f"seed {options.seed}; {len(found)} families; --simulate {options.simulate}")
    return 1 if any(each.faults for each in found) else 0


def rows(chosen: Sequence[Family], options: argparse.Namespace) -> list[Row]:
    """Run what is not stored, a batch of every family at a time, and return a row for each."""
    known = _stored(options)
    wanted = [
        batch
        for start in range(0, options.campaigns, TOGETHER)
        for family in chosen
        if _key(batch := _batch(family, start, options)) not in known
    ]
    if options.into:
        options.into.parent.mkdir(parents=True, exist_ok=True)
    for batch, counted in _run(wanted, options.workers):
        known[_key(batch)] = counted
        if options.into:
            with options.into.open("a", encoding="utf-8") as file:
                file.write(json.dumps([_key(batch), counted]) + "\n")
    of = defaultdict[Family, list[Counts]](list)
    for start in range(0, options.campaigns, TOGETHER):
        for family in chosen:
            of[family] += known[_key(_batch(family, start, options))]
    return [row(family, of[family]) for family in chosen]


def _batch(family: Family, start: int, options: argparse.Namespace) -> Batch:
    count = min(TOGETHER, options.campaigns - start)
    return family, options.seed, start, count, options.simulate


def _key(batch: Batch) -> str:
    """Return what a batch is made of; a family that has changed is another one."""
    family, *numbers = batch
    drawn = {name: each for name, each in vars(family).items() if name not in EXPECTED}
    parts = {name: getattr(each, "__name__", each) for name, each in drawn.items()}
    return json.dumps([parts, *numbers])


def _stored(options: argparse.Namespace) -> dict[str, list[Counts]]:
    if not options.into or not options.into.exists():
        return {}
    *lines, torn = options.into.read_text(encoding="utf-8").split("\n")
    if torn:  # what was killed while it wrote
        options.into.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return dict(json.loads(line) for line in lines)


def _run(batches: Iterable[Batch], workers: int) -> Iterator[tuple[Batch, list[Counts]]]:
    """Yield what each batch counted, in processes that have one thread each."""
    batches = list(batches)
    if not batches:
        return
    os.environ.update(dict.fromkeys(THREADS, "1"))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from zip(batches, pool.map(campaigns, batches), strict=True)


def _chosen(options: argparse.Namespace) -> list[Family]:
    if options.nightly:
        return [FAMILIES[number] for number in sorted(_tonight(options.nightly))]
    words = options.families or [""]
    return [one for one in FAMILIES if any(word in one.name for word in words)]


def _tonight(day: date) -> np.ndarray:
    """Return the numbers of a night's families; each has its turn once in so many nights."""
    nights = -(-len(FAMILIES) // NIGHTLY)
    cycle, night = divmod(day.toordinal(), nights)
    order = np.random.default_rng(cycle).permutation(len(FAMILIES))
    return np.array_split(order, nights)[night]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.families", description=__doc__)
    add: Any = parser.add_argument
    one: Any = parser.add_mutually_exclusive_group().add_argument
    one("--families", nargs="+", metavar="WORDS", help="only those with these words in their names")
    one("--nightly", nargs="?", type=date.fromisoformat, metavar="DATE",
        const=datetime.now(UTC).date(),
        help=f"{NIGHTLY} families drawn by the date, which is the seed")  # fmt: skip
    add("--campaigns", type=_count, help=f"of each family; {USUAL}, of a night {OF_NIGHT}")
    add("--workers", type=_count, default=1, help="processes; default 1")
    add("--seed", type=int, help="default 0, of a night its date")
    add("--simulate", type=int, default=0, help="campaigns of each report's self-test; default 0")
    add("--into", type=Path, metavar="FILE", help="keep what was counted, and go on from there")
    add("--page", type=Path, metavar="FILE", help="a page whose table gets the rows")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
