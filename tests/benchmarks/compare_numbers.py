"""Numbers of two versions of the report: by how much each metric differs between them.

    python -m analysis FILE --json > before.json    # in a checkout of the one
    python -m analysis FILE --json > after.json     # in a checkout of the other
    python -m tests.benchmarks.compare_numbers before.json after.json

Prints the metrics whose numbers differ at all, with the largest difference as a share of the number
(of one, where it is smaller), and ends with status 1 where rows or texts differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

Row = dict[str, object]


def differences(before: list[Row], after: list[Row]) -> tuple[dict[str, float], list[str]]:
    """Return the largest difference of each metric's numbers, and what else is not the same."""
    largest: dict[str, float] = {}
    other = [f"{len(before)} rows, then {len(after)}"] if len(before) != len(after) else []
    for one, two in zip(before, after, strict=False):
        name = f"{one['metric']}"
        for key in sorted({*one, *two}):
            old, new = one.get(key), two.get(key)
            if isinstance(old, int | float) and isinstance(new, int | float):
                apart = abs(old - new) / max(1.0, abs(old))
                largest[name] = max(largest.get(name, 0.0), apart)
            elif old != new:
                other.append(
                    f"{name} {one.get('question')} {one.get('system')}: {key} {old}, {new}"
                )
    return {name: apart for name, apart in largest.items() if apart}, other


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    given = parser.parse_args()
    one, two = (
        json.loads(path.read_text(encoding="utf-8")) for path in (given.before, given.after)
    )
    numbers, other = differences(one, two)
    for name, apart in sorted(numbers.items(), key=lambda each: -each[1]):
        print(f"{name:30} {apart:.1e}")
    print(
        f"{len(one)} rows compared; {len(numbers)} metrics differ, {len(other)} other differences"
    )
    print("\n".join(other[:20]))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
