"""Arguments of the commands that stand beside the report.

Apart from what they do, because that brings pandas, and whoever asks for help need not wait for it.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable
from pathlib import Path

SAMPLED = ("published", "ordinal")  # models


def nexcv() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis nexcv`."""
    parser = _parser("nexcv", "predictions/nexcv.py")
    parser.add_argument("file", type=Path, help='JSON Lines: {"text": ..., "label": ...}')
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    return parser


def sample() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis sample`."""
    parser = _parser("sample", "scores/sampling.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", choices=SAMPLED, default="published")
    parser.add_argument("--question", help="only this one")
    parser.add_argument("--draws", type=int, default=1000, help="of each of four chains")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def tasks() -> argparse.ArgumentParser:
    """Return the arguments of `python -m analysis tasks`."""
    parser = _parser("tasks", "predictions/tasks.py")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, help="JSON Lines, a case per line")
    parser.add_argument("--json", action="store_true", help="print every number as a JSON list")
    return parser


OF_COMMANDS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    each.__name__: each for each in (nexcv, sample, tasks)
}


def _parser(name: str, file: str) -> argparse.ArgumentParser:
    """Return a parser with the command's name, described by its file, which is not imported."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(text))
    return argparse.ArgumentParser(prog=f"python -m analysis {name}", description=about)
