"""`python -m analysis FILE`: a report in the terminal or as PDF, or every number as JSON.

`python -m analysis sample FILE` draws posteriors by NUTS; `python -m analysis simulate` tries the
estimators on campaigns whose truth is known; `python -m analysis plan` plans a study, `python -m
analysis stop FILE` says whether it may stop, `python -m analysis judge FILE` adds a judge model's
scores to people's; `python -m analysis nexcv FILE` checks a classifier; `python -m analysis select
FILE` takes lines that do not fit a character out of a bot's store; `python -m analysis tasks FILE`
scores tasks beside open-domain chat; `python -m analysis template` prints a table to fill in.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path

from analysis import arguments as parsers
from analysis.arguments import whole
from analysis.registry import metric_names, report_names
from analysis.tables.columns import LABELS, REFUSE

COMMANDS = {
    "judge": "planning.judge",
    "nexcv": "predictions.nexcv",
    "plan": "planning.plan",
    "sample": "scores.sampling",
    "select": "conversations.selecting",
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
    # Before numpy is loaded: threads that wait for each other cost more than they give here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    line = sys.argv[1:] if arguments is None else list(arguments)
    if line and line[0] in OLD_NAMES:
        old, line[0] = line[0], OLD_NAMES[line[0]]
        print(f"The command {old} is called {line[0]} now.", file=sys.stderr)
    if line and line[0] in COMMANDS:
        if line[0] in parsers.OF_COMMANDS:
            parsers.OF_COMMANDS[line[0]]().parse_args(line[1:])  # ends here where help is asked for
        run: Command = import_module(f"analysis.{COMMANDS[line[0]]}").main
        return run(line[1:])
    options = _parser().parse_args(line)
    # Only here: it brings pandas and scipy, which whoever asks for help need not wait for.
    from analysis.command import command

    return command(options, shlex.join(["python", "-m", "analysis", *line]))


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
        help="CSV or TSV (also .gz), Parquet, JSON Lines, or an export's zip; one file for each "
        "table; ratings need "
        "the columns rater, system, question, value (docs/ratings_table.md has the others)",
    )
    _add_outputs(parser)
    _add_choices(parser)
    _add_texts(parser)
    _add_samples(parser)
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
        "--bib", type=Path, metavar="OUT.bib", help="write what the report cites, as BibTeX"
    )
    parser.add_argument(
        "--heds",
        type=Path,
        metavar="OUT.json",
        help="write the datasheet as a file that the form of HEDS 3.0 loads; what it leaves open "
        "is said on stderr",
    )
    parser.add_argument(
        "--heds-answers",
        type=Path,
        metavar="MINE.json",
        help="your own answers to the datasheet, by its numbers (docs/reading_the_report.md)",
    )
    parser.add_argument("--title", default="", help="of the PDF, in place of the report's own")
    parser.add_argument("--author", default="", help="of the PDF (default: it names none)")
    parser.add_argument(
        "--date", type=_day, metavar="YYYY-MM-DD", help="of the PDF (default: the PDF has none)"
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Declare what metrics and reports are told."""
    parser.add_argument("--seed", type=whole(0), default=0, help="of resampling and simulation")
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
        "--simulate",
        type=whole(0),
        metavar="N",
        help="campaigns simulated per question, to measure the coverage of this very design: 0 for "
        "none, 40 or more (default: as many as take some seconds, 500 at most)",
    )
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep what was simulated here, by design"
    )
    parser.add_argument(
        "--without-flagged",
        action="store_true",
        help="leave out the raters whom the report rater_quality flags; who, is said on stderr",
    )
    parser.add_argument(
        "--labels",
        choices=LABELS,
        default=REFUSE,
        help="how a reply is read that its rater called specific but not sensible "
        f"(default: {REFUSE}, with the rows)",
    )


def _add_texts(parser: argparse.ArgumentParser) -> None:
    """Declare how texts are read by metrics of text."""
    parser.add_argument(
        "--tokenizer",
        choices=parsers.TOKENIZERS,
        help="what metrics of text count (default: what each metric's paper counts); mecab is for "
        'Japanese and needs pip install "parley[japanese]", characters for scripts without spaces',
    )
    parser.add_argument(
        "--bleu-n",
        type=int,
        choices=range(1, 5),
        metavar="N",
        help="order of sentence BLEU, 1 to 4 (default 4), and of MaxBLEU (default 3)",
    )
    parser.add_argument(
        "--join-lines",
        action="store_true",
        help="read consecutive messages of one side of a conversation as one",
    )


def _add_samples(parser: argparse.ArgumentParser) -> None:
    """Declare what the report sample_sheet draws."""
    parser.add_argument(
        "--each",
        type=int,
        metavar="N",
        help="samples of each system in the report sample_sheet (default 3), drawn by --seed",
    )
    parser.add_argument(
        "--pick",
        metavar="A,B",
        help="conversations or examples of the report sample_sheet, which then says “picked”",
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
        "--contexts",
        type=Path,
        metavar="FILE",
        help="the contexts of a static evaluation, as JSON Lines, for the report meena_contexts",
    )
    parser.add_argument(
        "--training",
        type=Path,
        metavar="FILE",
        help="the conversations that systems learned from, as JSON Lines, for echoes and PMI",
    )
    parser.add_argument(
        "--nli",
        type=Path,
        metavar="FOLDER",
        help="a classifier of inference in the layout of transformers, by which --json tells how "
        "often systems contradict themselves",
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2026-05-31") from None


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
