"""Arguments of the commands that stand beside the report.

Apart from what they do, because that brings pandas, and whoever asks for help need not wait for it.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable
from pathlib import Path

TOKENIZERS = ("split", "words", "characters", "mecab")  # analysis/text/tokenizers.py
SAMPLED = ("published", "ordinal")  # models
PUBLISHED_VARIANCES = ("card-high", "card-low")


def whole(least: int) -> Callable[[str], int]:
    """Return a type of argparse: a whole number, not below the least."""

    def read(raw: str) -> int:
        try:
            number = int(raw)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"is {raw!r}, but must be a whole number of {least} or more"
            )
        return number

    return read


def nexcv() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis nexcv`."""
    parser = _parser("nexcv", "predictions/nexcv.py")
    parser.add_argument("file", type=Path, help='JSON Lines: {"text": ..., "label": ...}')
    parser.add_argument("--seed", type=whole(0), default=0)
    parser.add_argument("--repeats", type=whole(1), default=5)
    kinds = ("words", "characters")
    parser.add_argument("--classifier", choices=kinds, default="words", help="what it counts")
    parser.add_argument("--beside", choices=kinds, help="a second one, on the same splits")
    return parser


def sample() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis sample`."""
    parser = _parser("sample", "scores/sampling.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", choices=SAMPLED, default="published")
    parser.add_argument("--question", help="only this one")
    parser.add_argument("--draws", type=whole(1), default=1000, help="of each of four chains")
    parser.add_argument("--seed", type=whole(0), default=0)
    return parser


def select() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis select`."""
    parser = _parser("select", "conversations/selecting.py")
    add = parser.add_argument
    add("file", type=Path, nargs="+", help="judged lines: votes and messages, or an export's zip")
    add("--store", type=Path, required=True, help="dialogues as JSON Lines; `self` is the bot")
    add("--character", required=True, help="whose lines the bot is to say")
    add("--metric", choices=("PSProb", "PTSal", "uPPL", "MaxBLEU"), default="PSProb")
    add("--precision", type=float, default=0.8, help="that is wanted; default 0.8")
    add("--out", type=Path, required=True, help="what is kept, as dialogues of two turns")
    add("--removed", type=Path, help="what is removed, with its scores, as JSON Lines")
    add("--seed", type=whole(0), default=0)
    return parser


def tasks() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis tasks`."""
    parser = _parser("tasks", "predictions/tasks.py")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, help="JSON Lines, a case per line")
    parser.add_argument("--json", action="store_true", help="print every number as a JSON list")
    return parser


def judge() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis judge`."""
    parser = _parser("judge", "planning/judge.py")
    add = parser.add_argument
    add("file", type=Path, nargs="+", help="table of ratings, or export")
    add("--judge", required=True, metavar="RATER", help="the rater who is a model or metric")
    add("--scores", type=Path, metavar="TABLE", help="ratings of the judge, if in a table apart")
    add("--question", help="default: the only one")
    add("--epsilon", type=float, default=0.2,
        help="granted to people: .2 experts (default), .15 skilled, .1 crowds")  # fmt: skip
    add("--json", action="store_true", help="print everything as JSON")
    return parser


def plan() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis plan`."""
    parser = _parser("plan", "planning/plan.py")
    add = parser.add_argument
    add("--difference", type=float, required=True, help="to be found, in points of the scale")
    add("--raters", type=int, required=True, help="in all")
    add("--judges", type=int, help="systems that each rater judges (default: all)")
    add("--votes", type=int, help="raters per item (default: all raters)")
    add("--items", type=int, help="per system (default: as many as the power needs)")
    add("--systems", type=int, default=2, help="default 2; each pair is tested at 5 %% over pairs")
    add("--power", type=float, default=0.8, help="that is wanted; default 0.8")
    add("--scale", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"),
        help="ends of the scale, to which published variances are stretched")  # fmt: skip
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--variances", choices=PUBLISHED_VARIANCES, default="card-high",
                        help="published ones (Card et al. 2020); default card-high")  # fmt: skip
    source.add_argument("--learn", type=Path, nargs="+", metavar="FILE",
                        help="learn them from this table or export")  # fmt: skip
    add("--question", help="of the table, where it has several")
    add("--taste", type=float, help="SD of a rater's liking of single systems")
    add("--item", type=float, help="SD of a system's single replies or conversations")
    add("--noise", type=float, help="SD of single ratings")
    add("--severity", type=float,
        help="SD of raters' severity: it counts where each judges one system")  # fmt: skip
    add("--minutes", type=float, default=1.0, help="of work per rating; default 1")
    add("--pay", type=float, help="per rating")
    add("--fee", type=float, default=0.0, help="of the panel, in percent of the pay")
    add("--campaigns", type=int, default=10_000, help="that are simulated; default 10000")
    add("--seed", type=whole(0), default=0)
    add("--json", action="store_true", help="print the plan as JSON")
    return parser


def stop() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis stop`."""
    parser = _parser("stop", "planning/stop.py")
    add = parser.add_argument
    add("file", type=Path, nargs="+", help="table of ratings, or an export's zip")
    add("--question", help="default: the only one")
    add("--expected", type=float,
        help="difference that intervals are shortest for; default 1/8 of the scale")  # fmt: skip
    add("--margin", type=float, help="difference too small to matter: allows “equivalent”")
    add("--budget", type=int, help="the most items that each pair will have")
    add("--own-raters", action="store_true", default=None,
        help="each rater judged one system: compare the means of systems' raters")  # fmt: skip
    add("--alpha", type=float, help="probability that any interval is ever wrong; default .05")
    add("--json", action="store_true", help="print the looks as JSON")
    return parser


OF_COMMANDS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    each.__name__: each for each in (judge, nexcv, plan, sample, select, stop, tasks)
}


def _parser(name: str, file: str) -> argparse.ArgumentParser:
    """Return a parser with the command's name, described by its file, which is not imported."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(text))
    return argparse.ArgumentParser(prog=f"python -m analysis {name}", description=about)
