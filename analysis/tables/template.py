"""`python -m analysis template`: a table of ratings to fill in, which passes as it is.

Its ratings are made up: three systems, four raters, and a report with a ranking.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.tables.columns import OPTIONAL_COLUMNS, RATING_COLUMNS, REQUIRED

BAD = 2
SYSTEMS = {"baseline": (2, 3, 2, 2), "ours": (4, 5, 4, 4), "variant": (3, 4, 2, 4)}
RECOMMENDED = {"baseline": (0, 1, 0, 0), "ours": (1, 1, 1, 1), "variant": (1, 1, 0, 0)}
# Each rater has an order of their own; the systems rotate.
RATERS = ("anna", "ben", "chen", "dina")
ITEMS = 3  # contexts that every rater saw, where there is a column item


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the template or write it to a file; return 2 where there is such a file already."""
    options = _parser().parse_args(arguments)
    text = template(every_column=options.all)
    if options.file is None:
        sys.stdout.write(text)
        return 0
    try:
        with options.file.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        why = "exists already; name another" if isinstance(error, FileExistsError) else error
        print(f"{options.file}: {why}", file=sys.stderr)
        return BAD
    print(f"{options.file}: written, with made-up rows; put your own in their place")
    return 0


def template(*, every_column: bool = False) -> str:
    """Return the table as CSV: the four columns that are needed, or every one there is."""
    columns = (*RATING_COLUMNS, *OPTIONAL_COLUMNS) if every_column else REQUIRED
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for number, row in enumerate(_example_rows(ITEMS if every_column else 1), start=1):
        writer.writerow({"answer": number, **row})
    return buffer.getvalue()


def _example_rows(items: int) -> Iterator[dict[str, object]]:
    about = {"campaign": "pilot", "protocol": "my study"}
    for index, rater in enumerate(RATERS):
        for item in range(items):
            for k, (system, scores) in enumerate(SYSTEMS.items()):
                row: dict[str, object] = {
                    **about,
                    "rater": rater,
                    "system": system,
                    "item": f"context {item + 1}",
                }
                row["place"] = (k + index + item) % len(SYSTEMS)
                score = max(1, scores[index] - item)
                yield {**row, **_answer("overall", "ordinal", score, 1, 5)}
                yes = RECOMMENDED[system][index]
                yield {**row, **_answer("recommended", "nominal", yes, 0, 1)}


def _answer(question: str, level: str, value: int, low: int, high: int) -> dict[str, object]:
    ends = {"scale_low": low, "scale_high": high}
    return {"question": question, "level": level, "value": value, "better": "high", **ends}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis template",
        description="Print a table of ratings to fill in: "
        f"{', '.join(REQUIRED)}, or with --all every column (docs/ratings_table.md).",
    )
    parser.add_argument("file", type=Path, nargs="?", help="write it there; default: print it")
    parser.add_argument("--all", action="store_true", help="every column, not only the needed ones")
    return parser
