"""Benchmarks, `python -m bots benchmark`: the papers' analyses that run models, on your own data.

Every analysis is a file of `bots/benchmarks/`; its tables are written as Markdown and JSON beside
the printed figures. Apart because it is a command of its own.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from bots.commands.arguments import whole
from bots.commands.benchmark_data import BenchmarkData, Form, Split, Table, render, write
from bots.dialogue import Dialogue
from bots.learning.splits import hold_out_personas
from bots.line_files import InvalidData
from bots.options import InvalidOption, parse_option
from bots.registry import UnknownName, bot_options

FOLDER = Path(__file__).parents[1] / "benchmarks"


def benchmark_names() -> list[str]:
    """Return the names of all analyses, sorted, without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]))


def run(name: str, study: BenchmarkData) -> list[Table]:
    """Run one analysis. Raises UnknownName if there is no such analysis."""
    if name not in benchmark_names():
        raise UnknownName(f"no benchmark {name!r}; there are {', '.join(benchmark_names())}")
    module = importlib.import_module(f"bots.benchmarks.{name}")
    return cast(Callable[[BenchmarkData], list[Table]], module.run)(study)


def command(arguments: argparse.Namespace, read: Callable[[Sequence[str]], list[Dialogue]]) -> None:
    """Run the chosen analyses; print each table as soon as it is there.

    Raises UnknownName if there is no such analysis.
    """
    chosen = arguments.name or benchmark_names()
    for name in chosen:
        if name not in benchmark_names():
            raise UnknownName(f"no benchmark {name!r}; there are {', '.join(benchmark_names())}")
    study = BenchmarkData(
        name=",".join(arguments.data),
        forms=_forms(arguments, read),
        directory=arguments.out,
        size=arguments.size,
        seed=arguments.seed,
        limit=arguments.limit,
        candidates=arguments.candidates,
        sides=arguments.sides,
        options=_options(arguments.set),
    )
    for name in chosen:
        began = time.monotonic()
        for table in run(name, study):
            write(table, arguments.out)
            print(render(table))
        print(f"{name}: {time.monotonic() - began:.1f} s; tables in {arguments.out}\n", flush=True)


def _options(settings: Sequence[str]) -> dict[str, dict[str, object]]:
    """Read BOT.OPTION=VALUE, each overriding the size's options of that bot."""
    found: dict[str, dict[str, object]] = {}
    for setting in settings:
        name, equals, raw = setting.partition("=")
        bot, dot, option = name.partition(".")
        if not (equals and dot):
            raise InvalidOption(f"--set {setting}: must be BOT.OPTION=VALUE")
        value = parse_option(bot, bot_options(bot), option, raw)
        found.setdefault(bot, {})[option] = value
    return found


def _forms(
    arguments: argparse.Namespace, read: Callable[[Sequence[str]], list[Dialogue]]
) -> Mapping[Form, Split]:
    forms: dict[Form, Split] = {
        "original": Split(tuple(read(arguments.data)), tuple(read(arguments.test)))
        if arguments.test
        else _held(read(arguments.data), arguments)
    }
    if arguments.revised:
        revised = read(arguments.revised)
        forms["revised"] = (
            Split(tuple(revised), tuple(read(arguments.revised_test)))
            if arguments.revised_test
            else _as(revised, forms["original"])
        )
    return forms


def _held(dialogues: list[Dialogue], arguments: argparse.Namespace) -> Split:
    train, test = hold_out_personas(dialogues, arguments.held_out, arguments.seed)
    if not train or not test:
        raise InvalidData(
            [f"--data: {len(dialogues)} dialogues cannot be split by persona; give --test"]
        )
    return Split(tuple(train), tuple(test))


def _as(dialogues: list[Dialogue], like: Split) -> Split:
    """Split the dialogues with revised personas as the originals were split."""
    known = {each.id: each for each in dialogues}
    missing = [each.id for each in (*like.train, *like.test) if each.id not in known]
    if missing:
        raise InvalidData(
            [f"--revised: has no dialogue {name}, which --data has" for name in missing[:20]]
        )
    return Split(
        tuple(known[each.id] for each in like.train), tuple(known[each.id] for each in like.test)
    )


def add_arguments(parser: argparse.ArgumentParser, data_help: str) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="*", metavar="NAME", help=", ".join(benchmark_names()))
    parser.add_argument("--data", action="append", required=True, help=data_help)
    parser.add_argument("--test", action="append", default=[], help="as --data; else held out")
    parser.add_argument("--revised", action="append", default=[], help="--data, personas revised")
    parser.add_argument("--revised-test", action="append", default=[], help="--test, revised")
    parser.add_argument("--held-out", type=float, default=0.15, help="share, split by persona")
    parser.add_argument("--out", type=Path, required=True, help="directory of tables and weights")
    parser.add_argument("--size", default="toy", help="preset of the bots that have it")
    parser.add_argument("--set", action="append", default=[], metavar="BOT.OPTION=VALUE")
    parser.add_argument("--seed", type=whole(0), default=0)
    parser.add_argument("--limit", type=whole(0), default=0, help="most examples tested; 0: all")
    parser.add_argument("--candidates", type=whole(2), default=20)
    parser.add_argument(
        "--sides", choices=("self", "both"), default="both", help="whose messages are tested"
    )
