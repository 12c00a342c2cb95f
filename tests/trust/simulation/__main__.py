"""The command; `python -m tests.trust.simulation --help`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from django.conf import settings

from tests import live
from tests.trust import simulation
from tests.trust.outages import connect

MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of its own in it): nothing here waits for a disk

MOST_REFUSED = 0.4  # of the steps; a run in which nobody gets in finds nothing


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.trust.simulation",
        description=simulation.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the campaign to begin with")
    parser.add_argument("--seconds", type=float, help="begin no campaign after so long")
    wanted = parser.parse_args()
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        connect(live.environment(Path(folder), LOG_LEVEL="CRITICAL"))
        settings.DEBUG = False  # which would note every statement
        return _simulate(wanted)


def _simulate(wanted: argparse.Namespace) -> int:
    """Play one campaign after another; what one of them finds does not end the night."""
    from tests.trust.simulation import steps

    counts, found, began = Counter[str](), 0, time.monotonic()
    for number in range(wanted.first, wanted.first + -(-wanted.steps // steps.LIFE)):
        if wanted.seconds and time.monotonic() - began > wanted.seconds:
            break
        left = wanted.steps - (number - wanted.first) * steps.LIFE
        try:
            some = min(steps.LIFE, left)
            steps.run(wanted.seed, some, first=number, clear=clear, counts=counts)
        except Exception:  # of whatever kind: it is shown, and counts
            found += 1
            print(f"seed {wanted.seed}, campaign {number}:\n{traceback.format_exc()}", flush=True)
        if number % 10 == 0:
            _tell(wanted.seed, number, found, counts)
    _tell(wanted.seed, number, found, counts)
    if counts["refused"] > MOST_REFUSED * counts["steps"]:
        print("Too many steps were refused: this run shows nothing.", flush=True)
        return 1
    return 1 if found else 0


def _tell(seed: int, number: int, found: int, counts: Counter[str]) -> None:
    about = {"seed": seed, "campaign": number, "findings": found}
    spent = round(time.process_time())
    print(json.dumps({**about, "cpu s": spent, **counts}), flush=True)


def clear() -> None:
    from django.core.management import call_command

    from tests import factories

    call_command("flush", interactive=False, verbosity=0, inhibit_post_migrate=True)
    factories.restart()


if __name__ == "__main__":
    sys.exit(main())
