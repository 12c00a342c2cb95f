"""`python -m analysis FILE`: a report in the terminal, or every number as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.cautions import cautions
from analysis.options import BadOption
from analysis.reading import read
from analysis.registry import get_report, metric_names, report_names
from analysis.results import call, evaluate, records
from analysis.tables import BadTable, Tables
from analysis.terminal import rendered

BAD = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the file says; return 2, with the reason on stderr, where it cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        tables = read(options.file)
    except BadTable as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{options.file}: cannot be read ({error.strerror or error})")
    try:
        _print(options, tables)
    except BadOption as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # Whoever reads the output has seen enough; nothing is left to be flushed to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis",
        description="Say what a table of ratings says.",
        epilog="Metrics: " + ", ".join(metric_names()) + ".",
    )
    parser.add_argument("file", type=Path, help="CSV, Parquet, JSON Lines, or an export's zip")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print every number as a JSON list")
    output.add_argument(
        "--report", default="summary", choices=report_names(), help="the report to print"
    )
    parser.add_argument("--seed", type=int, default=0, help="of resampling and simulation")
    parser.add_argument(
        "--control", metavar="NAME", help="the degraded system that raters must see"
    )
    parser.add_argument(
        "--control-questions",
        metavar="A,B",
        default="",
        help="the questions by which raters are tested against the control (default: all)",
    )
    return parser


def _print(options: argparse.Namespace, tables: Tables) -> None:
    tested = tuple(name for name in options.control_questions.split(",") if name)
    if options.json:
        _print_json(options, tables, tested)
    elif tables.ratings is None:
        print("No report reads this table; --json prints what metrics say of it.")
    else:
        chosen = {"seed": options.seed, "control": options.control, "control_questions": tested}
        report = call(get_report(options.report), tables.ratings, chosen)
        print(rendered(report), end="")


def _print_json(options: argparse.Namespace, tables: Tables, tested: Sequence[str]) -> None:
    results = evaluate(
        tables.ratings,
        messages=tables.messages,
        predictions=tables.predictions,
        seed=options.seed,
        control=options.control,
        control_questions=tested,
    )
    if tables.ratings is not None:
        for sentence in cautions(tables.ratings):
            print(f"Caution: {sentence}", file=sys.stderr)
    print(json.dumps(records(results), indent=1, ensure_ascii=False, allow_nan=False))


def _refuse(reason: str) -> int:
    print(reason, file=sys.stderr)
    return BAD


if __name__ == "__main__":
    sys.exit(main())
