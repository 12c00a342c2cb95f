"""Mutants of the services, run against the tests of their own room.

    python -m tests.mutation [--count 100] [--seed 0] [--module MODULE ...] [--list] [--out FILE]

Single-line changes (tests/mutation/operators.py) are drawn by seed, spread over the modules by the
number of their candidates, and applied one at a time to a copy of the tree. Run are the module's
own tests: those of the room that mirrors it, of these the ones that run the changed line, quickest
first, until one fails. What survives asks for a test, or for a line in equivalent.txt that says
why no test can tell. Exits 1 when a mutant survives or a line of equivalent.txt is out of date.

Neither mutmut nor cosmic-ray is used: both run one command per mutant in a fresh interpreter, and
importing Django, pandas and the rest takes several seconds, the tests of one line a fraction of
one; neither removes conditions of queries, where most of what these services decide stands.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutation import equivalents, trees
from tests.mutation.operators import Mutant, mutants
from tests.mutation.trees import Copy, Touched

TREE = Path(__file__).parents[2]
SERVICES = (
    "webapp.services.conversation",
    "webapp.services.rating",
    "webapp.services.rules.access",
    "webapp.services.rules.identity",
    "webapp.services.rules.payment",
    "webapp.services.rules.persona_stack",
    "webapp.services.rules.quota",
    "webapp.services.rules.states",
    "webapp.services.participation.enrolment",
    "webapp.services.participation.privacy",
    "webapp.services.participation.steps",
    "webapp.services.participation.stopping",
)
PATIENCE, SHARE = 30.0, 6.0  # seconds that a run may take, and times what its tests took before


@dataclass(frozen=True)
class Result:
    """What became of a mutant: caught, timeout, survived, equivalent, or not equivalent at all."""

    mutant: Mutant
    outcome: str
    test: str
    tests: int
    seconds: float

    def __str__(self) -> str:
        one = self.mutant
        by = f" by {self.test.rpartition('/')[2]}" if self.test else ""
        place = f"{trees.file_of(one.module)}:{one.line}"
        head = f"{self.outcome:10} {one.id}\n  {place} ({one.kind}, {self.tests} tests)"
        return f"{head}{by} {self.seconds:.1f} s\n  - {one.before}\n  + {one.after}"


def modules_of(tree: Path, names: Iterable[str]) -> list[str]:
    """Return the modules of a tree that are named, or stand in a package that is named.

    Raises `LookupError` for a name of neither.
    """
    found: dict[str, None] = {}
    for name in names:
        place = tree / Path(*name.split("."))
        files = sorted(place.glob("**/*.py")) if place.is_dir() else [place.with_suffix(".py")]
        if not all(file.exists() for file in files) or not files:
            raise LookupError(f"module: {name!r} is no module or package of {tree}")
        for file in files:
            if file.stem != "__init__":
                found[".".join(file.relative_to(tree).with_suffix("").parts)] = None
    return list(found)


def candidates(tree: Path, modules: Iterable[str]) -> dict[str, list[Mutant]]:
    """Return all mutants by module."""
    return {one: mutants(one, (tree / trees.file_of(one)).read_text()) for one in modules}


def draw(found: Mapping[str, Sequence[Mutant]], count: int, seed: int) -> list[Mutant]:
    """Draw `count` mutants, of each module its share by largest remainders, at least none."""
    total = sum(map(len, found.values()))
    count = min(count, total)
    exact = {module: count * len(rows) / total for module, rows in found.items() if rows}
    shares = {module: int(share) for module, share in exact.items()}
    by_rest = sorted(exact, key=lambda module: (shares[module] - exact[module], module))
    for module in by_rest[: count - sum(shares.values())]:
        shares[module] += 1
    return [
        mutant
        for module, share in shares.items()
        for mutant in sorted(
            random.Random(f"{seed}:{module}").sample(found[module], share),
            key=lambda one: (one.start, one.text),
        )
    ]


def choose_tests(mutant: Mutant, own: Sequence[str], touched: Mapping[str, Touched]) -> list[str]:
    """Return the tests that run the changed line, quickest first; all, where importing runs it."""
    file, lines = trees.file_of(mutant.module), range(mutant.lines[0], mutant.lines[1] + 1)
    mine = [test for test in touched if test.split("::")[0] in own]
    if mutant.function:
        mine = [
            test
            for test in mine
            if not touched[test].lines.get(file, frozenset()).isdisjoint(lines)
        ]
    return sorted(
        mine, key=lambda test: (file not in touched[test].lines, touched[test].seconds, test)
    )


def judge(mutant: Mutant, copy: Copy, tests: Sequence[str], seconds: float) -> Result:
    """Run a mutant's tests in a copy of the tree."""
    if not tests:
        return Result(mutant, "survived", "(no test runs this line)", 0, 0.0)
    began = time.monotonic()
    reply = copy.run(mutant, tests, PATIENCE + SHARE * seconds)
    outcome = {"failed": "caught", "passed": "survived", "timeout": "timeout"}[reply["outcome"]]
    return Result(mutant, outcome, reply["test"], len(tests), time.monotonic() - began)


def run_all(
    tree: Path, chosen: Sequence[Mutant], accepted: Mapping[str, str], workers: int
) -> list[Result]:
    """Run mutants in copies of the tree, printing each result as it comes."""
    modules = sorted({one.module for one in chosen})
    own = {module: trees.own_tests(tree, module) for module in modules}
    every = sorted({file for files in own.values() for file in files})
    with trees.copies(tree, workers) as made, ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda copy: copy.load(every, modules), made))
        files = [trees.file_of(module) for module in modules]
        touched = trees.remembered(tree, every, files, lambda: _trace(made, every, files, pool))
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in made:
            free.put(copy)

        def work(mutant: Mutant) -> Result:
            copy = free.get()
            try:
                tests = choose_tests(mutant, own[mutant.module], touched)
                seconds = sum(touched[test].seconds for test in tests)
                result = _accept(judge(mutant, copy, tests, seconds), accepted)
            finally:
                free.put(copy)
            print(result, flush=True)
            return result

        return list(pool.map(work, chosen))


def _trace(
    made: Sequence[Copy], tests: Sequence[str], files: Sequence[str], pool: ThreadPoolExecutor
) -> dict[str, Touched]:
    """Let each copy run its part of the tests once, to see what they touch."""
    parts = [tests[number :: len(made)] for number in range(len(made))]
    jobs = [(copy, part) for copy, part in zip(made, parts, strict=True) if part]
    touched: dict[str, Touched] = {}
    for found in pool.map(lambda job: job[0].trace(job[1], files), jobs):
        touched |= found
    return touched


def _accept(result: Result, accepted: Mapping[str, str]) -> Result:
    if result.mutant.id not in accepted:
        return result
    outcome = "equivalent" if result.outcome == "survived" else "not equivalent"
    return Result(**vars(result) | {"outcome": outcome})


def summary(results: Sequence[Result], seconds: float) -> str:
    """Count the outcomes; a mutant that never ends is caught by whoever waits for the tests."""
    count = Counter(result.outcome for result in results)
    counted = len(results) - count["equivalent"]
    caught = count["caught"] + count["timeout"]
    share = f"{caught / counted:.1%}" if counted else "none to catch"
    parts = ", ".join(f"{outcome} {number}" for outcome, number in sorted(count.items()))
    return f"{caught} of {counted} caught ({share}): {parts}; {seconds:.0f} s"


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--count", type=int, default=100, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--module", nargs="+", default=SERVICES, help="modules or packages")
    parser.add_argument("--only", nargs="+", default=(), metavar="ID", help="these mutants instead")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    parser.add_argument("--out", type=Path, help="a file for the results, as JSON")
    parser.add_argument("--workers", type=int, default=2, help="copies of the tree at work")
    parser.add_argument("--tree", type=Path, default=TREE, help="the repository to change")
    return parser.parse_args(arguments)


def _chosen(options: argparse.Namespace, found: Mapping[str, Sequence[Mutant]]) -> list[Mutant]:
    if not options.only:
        return draw(found, options.count, options.seed)
    known = {one.id: one for rows in found.values() for one in rows}
    unknown = [name for name in options.only if name not in known]
    if unknown:
        raise LookupError(f"only: {', '.join(unknown)} is no mutant of these modules")
    return [known[name] for name in options.only]


def _write(file: Path, results: Sequence[Result]) -> None:
    rows = [
        {"id": one.mutant.id, "file": trees.file_of(one.mutant.module)}
        | {name: getattr(one.mutant, name) for name in ("line", "kind", "before", "after")}
        | {name: getattr(one, name) for name in ("outcome", "test", "tests", "seconds")}
        for one in results
    ]
    file.write_text(json.dumps(rows, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    tree = options.tree.resolve()
    found = candidates(tree, modules_of(tree, options.module))
    chosen = _chosen(options, found)
    if options.list:
        for one in chosen:
            print(f"{one.id} {trees.file_of(one.module)}:{one.line}\n  - {one.before}")
            print(f"  + {one.after}")
        return 0
    accepted = equivalents.read(tree)
    stale = equivalents.stale(tree, accepted)
    began = time.monotonic()
    results = run_all(tree, chosen, accepted, options.workers)
    if options.out:
        _write(options.out, results)
    print(*(f"out of date in {equivalents.FILE}: {name}" for name in stale), sep="\n")
    print(summary(results, time.monotonic() - began))
    bad = {"survived", "not equivalent"}
    return int(bool(stale) or any(result.outcome in bad for result in results))


if __name__ == "__main__":
    sys.exit(main())
