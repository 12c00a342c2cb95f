"""`python -m analysis FILE`: a report in the terminal or as PDF, or every number as JSON.

`python -m analysis sample FILE` draws posteriors by NUTS; `python -m analysis simulate` tries the
estimators on campaigns whose truth is known; `python -m analysis plan` plans a study, `python -m
analysis stop FILE` says whether it may stop, `python -m analysis judge FILE` adds a judge model's
scores to people's; `python -m analysis nexcv FILE` checks a classifier;
`python -m analysis tasks FILE` scores tasks beside open-domain chat; `python -m analysis template`
prints a table to fill in.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.output.all_metrics import evaluate, records, run
from analysis.output.notebook import READ_BY, NotebookRecipe, notebook
from analysis.output.terminal import rendered
from analysis.raters.raters import profiles, without_flagged
from analysis.registry import TABLES, get_report, metric_names, report_names, tables_of
from analysis.report import Report
from analysis.scores.cautions import cautions
from analysis.tables.options import BadOption
from analysis.tables.reading import read_all
from analysis.tables.schema import BadTable, RatingTable, Tables
from analysis.tables.training import read as training
from analysis.text.frequencies import read as corpus

BAD = 2
COMMANDS = {
    "judge": "planning.judge",
    "nexcv": "predictions.nexcv",
    "plan": "planning.plan",
    "sample": "scores.sampling",
    "simulate": "simulation.command",
    "stop": "planning.stop",
    "tasks": "predictions.tasks",
    "template": "tables.template",
}
# Former names of commands, which work for one more release.
OLD_NAMES = {"rehearse": "simulate"}
Command = Callable[[Sequence[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the file says; return 2, with the reason on stderr, where it cannot be used."""
    line = sys.argv[1:] if arguments is None else list(arguments)
    if line and line[0] in OLD_NAMES:
        old, line[0] = line[0], OLD_NAMES[line[0]]
        print(f"The command {old} is called {line[0]} now.", file=sys.stderr)
    if line and line[0] in COMMANDS:
        command: Command = import_module(f"analysis.{COMMANDS[line[0]]}").main
        return command(line[1:])
    options = _parser().parse_args(line)
    try:
        tables = read_all(options.file)
    except BadTable as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename}: cannot be read ({error.strerror or error})")
    try:
        return _answer(options, tables, shlex.join(["python", "-m", "analysis", *line]))
    except BadOption as error:
        return _refuse(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis",
        description="Analyze a table of ratings. Other commands: "
        + ", ".join(f"{name} --help" for name in COMMANDS),
        epilog="Metrics: " + ", ".join(metric_names()) + ".",
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="+",
        help="CSV, Parquet, JSON Lines, or an export's zip; one file for each table; ratings need "
        "the columns rater, system, question, value (docs/ratings_table.md has the others)",
    )
    _add_outputs(parser)
    _add_choices(parser)
    _add_sources(parser)
    return parser


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Declare what is printed or written."""
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print every number as a JSON list")
    output.add_argument(
        "--report", default="summary", choices=report_names(), help="the report to print"
    )
    parser.add_argument("--pdf", type=Path, metavar="OUT.pdf", help="write the report as PDF")
    parser.add_argument(
        "--notebook", type=Path, metavar="OUT.ipynb", help="write a notebook that makes the report"
    )
    parser.add_argument(
        "--date", type=_day, metavar="YYYY-MM-DD", help="of the PDF (default: the PDF has none)"
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Declare what metrics and reports are told."""
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
    parser.add_argument(
        "--without-flagged",
        action="store_true",
        help="leave out the raters whom the report rater_quality flags; who, is said on stderr",
    )


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Declare the files of what systems learned from."""
    parser.add_argument(
        "--corpus",
        type=Path,
        metavar="FILE",
        help="what systems were trained on, by which words are rare: an utterance a line, "
        "or word, tab, count",
    )
    parser.add_argument(
        "--training",
        type=Path,
        metavar="FILE",
        help="the conversations that systems learned from, as JSON Lines, for echoes and PMI",
    )


def _plain(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "seed": options.seed,
        "control": options.control,
        "control_questions": tuple(name for name in options.control_questions.split(",") if name),
    }


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return what was chosen, by the names that metrics and reports have for it."""
    chosen = _plain(options)
    if options.corpus is not None:
        chosen["corpus"] = corpus(options.corpus)
    if options.training is not None:
        chosen["training"] = training(options.training)
    return chosen


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2026-05-31") from None


def _answer(options: argparse.Namespace, tables: Tables, command: str) -> int:
    chosen = _chosen(options)
    written = options.pdf or options.notebook
    if options.json and written:
        return _refuse("--json prints numbers, but --pdf and --notebook write a report: leave one")
    if options.without_flagged and tables.ratings is not None:
        tables = replace(tables, ratings=_unflagged(tables.ratings, chosen))
    if options.json:
        _print_json(tables, chosen)
        return 0
    report = run(get_report(options.report), tables, chosen)
    if report is None and written:
        return _refuse(_lacking(options.report, tables).rstrip())
    if report is not None and written:
        return _write(options, report, command)
    print(_lacking(options.report, tables) if report is None else rendered(report), end="")
    return 0


def _write(options: argparse.Namespace, report: Report, command: str) -> int:
    try:
        if options.pdf:
            # Only here: loading what draws takes longer than most reports.
            from analysis.output.pdf import Origin, pdf

            options.pdf.write_bytes(pdf(report, Origin(command, options.seed, options.date)))
        if options.notebook:
            text = notebook(report, _recipe(options))
            options.notebook.write_text(text, encoding="utf-8")
    except OSError as error:
        return _refuse(f"{error.filename}: cannot be written ({error.strerror or error})")
    return 0


def _recipe(options: argparse.Namespace) -> NotebookRecipe:
    files = {name: getattr(options, name) for name in READ_BY}
    paths = {name: file for name, file in files.items() if file is not None}
    return NotebookRecipe(
        files=options.file,
        options=_plain(options),
        read=paths,
        without_flagged=options.without_flagged,
    )


def _unflagged(ratings: RatingTable, chosen: dict[str, Any]) -> RatingTable:
    """Return the ratings of raters without a flag, and say on stderr who is left out."""
    names = ("seed", "control", "control_questions")
    found = profiles(ratings, **{name: chosen[name] for name in names})
    flagged = found[found["flags"] != ""]
    print(f"Left out: {len(flagged)} of {len(found)} raters, who are flagged.", file=sys.stderr)
    for rater, flags in flagged["flags"].items():
        print(f"  {rater}: {flags}", file=sys.stderr)
    return without_flagged(ratings, found)


def _lacking(name: str, tables: Tables) -> str:
    """Say which tables the report would need, and which reports make do with those there are."""
    needed = " and ".join(sorted(tables_of(get_report(name))))
    there = {table for table in TABLES if getattr(tables, table) is not None}
    other = [each for each in report_names() if tables_of(get_report(each)) <= there]
    return (
        f"The report {name} reads {needed}; here are only {', '.join(sorted(there))}.\n"
        f"Reports that read these: {', '.join(other) or 'none'}; --json prints every number.\n"
    )


def _print_json(tables: Tables, chosen: dict[str, Any]) -> None:
    results = evaluate(
        tables.ratings, messages=tables.messages, predictions=tables.predictions, **chosen
    )
    if tables.ratings is not None:
        for sentence in (*tables.notes, *cautions(tables.ratings)):
            print(f"Caution: {sentence}", file=sys.stderr)
    print(json.dumps(records(results), indent=1, ensure_ascii=False, allow_nan=False))


def _refuse(reason: str) -> int:
    print(reason, file=sys.stderr)
    return BAD


def piped() -> int:
    """Return the status of the command; 0 once nobody reads its output, as with `| head`."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()  # not only at exit, when a complaint can no longer be caught
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left
        return 0


if __name__ == "__main__":
    sys.exit(piped())
