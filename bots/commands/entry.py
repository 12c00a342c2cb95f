"""An entry of a competition, run on hidden data by itself: offline, and telling nothing of it.

Apart because nothing else may run code whose output nobody may see.

Source: ConvAI2 (Dinan et al. 2019), whose organizers ran the entrants' code on data that the
teams never saw. What was said goes into a file for the organizers; of an error only its kind goes
out, and only one that Python itself has: a class named by the entry could hold a message. An entry
is first set up by a process that is given no hidden data: all of an error there may be told.
"""

from __future__ import annotations

import argparse
import builtins
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bots.bot import Bot, LanguageModel, Ranker, way_of
from bots.commands.answers import answer
from bots.commands.predictions import Task, predict
from bots.datasets import demo
from bots.dialogue import Dialogue, examples
from bots.generation.perplexity import PerplexityItem, dictionary, log_probs
from bots.guards.offline import Offline, go_offline
from bots.guards.own_model import OwnModel
from bots.line_files import InvalidData, write_records
from bots.registry import make_bot

HELP = "run an entry of a competition, offline"
FAILED = 3  # exit status
PERPLEXITY, HITS, F1 = "ppl", "hits@1", "F1"
ABILITIES = {PERPLEXITY: LanguageModel, HITS: Ranker, F1: Bot}
UNABLE = "CannotDo"  # of a bot that lacks what a metric needs


def add_arguments(
    parser: argparse.ArgumentParser, read: Callable[[Sequence[str]], list[Dialogue]]
) -> None:
    """Add the argument of `python -m bots enter`."""
    parser.set_defaults(run=lambda request: run(request.file, read))
    parser.add_argument("file", type=Path, metavar="FILE", help="what is asked for, as JSON")


def run(file: Path, read: Callable[[Sequence[str]], list[Dialogue]]) -> int:
    """Run the entry that a JSON file asks for; return 0, or 3 where it failed.

    The file has bot, options, metrics, data, dictionary, candidates, seed and out; one without
    data is only set up, and an error's text is written to out. Raises InvalidData if the hidden
    data cannot be read, which is no fault of the entry.
    """
    request = _request(file)
    if "data" not in request:
        return _set_up(request)
    dialogues, known = read(request["data"]), dictionary(read(request["dictionary"]), 1)
    go_offline()
    report = os.dup(sys.stdout.fileno())
    for stream in (sys.stdout, sys.stderr):  # what the entry prints may be what it was asked
        stream.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    try:
        bot = make_bot(request["bot"], **request["options"])
        rows = list(_rows(bot, request, dialogues, known))
    except BaseException as problem:
        os.write(report, _kind(problem).encode())
        return FAILED
    write_records(rows, Path(request["out"]))
    return 0


def _request(file: Path) -> dict[str, Any]:
    try:
        request = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise InvalidData([f"{file}: is no JSON ({problem})"]) from None
    wanted = {"bot", "options", "metrics", "out"}
    if "data" in request:
        wanted |= {"team", "data", "dictionary", "candidates", "seed"}
    if missing := sorted(wanted - set(request)):
        raise InvalidData([f"{file}: lacks {', '.join(missing)}"])
    return dict(request)


def _set_up(request: Mapping[str, Any]) -> int:
    """Make the bot; find the function that it calls, or run a bot of ours on our own small talk."""
    go_offline()
    try:
        bot = make_bot(request["bot"], **request["options"])
        if isinstance(bot, OwnModel):
            way_of(bot)  # imports the function
        else:
            trial, known = demo.read("valid")[:2], frozenset[str]()
            list(_rows(bot, {**request, "team": "", "candidates": 2, "seed": 0}, trial, known))
    except _Unable:  # known from the entry alone: a failure of its run
        return 0
    except BaseException as problem:
        text = f"{type(problem).__name__}: {problem}"
        Path(request["out"]).write_text(text, "utf-8", "replace")
        return FAILED
    return 0


def _rows(
    bot: object, request: Mapping[str, Any], dialogues: Sequence[Dialogue], known: frozenset[str]
) -> Iterator[dict[str, Any]]:
    """Yield a row per message and metric: only what the entry is scored by."""
    name, metrics = request["team"], request["metrics"]
    for metric in metrics:
        if not isinstance(bot, ABILITIES[metric]):
            raise _Unable
    task = Task("hidden test", request["candidates"], request["seed"])
    if HITS in metrics and isinstance(bot, Ranker):
        rows = predict(bot, name, dialogues, task)
        yield from (_named(row, HITS) | {"response": None} for row in rows)
    if F1 in metrics and isinstance(bot, Bot):
        yield from (_named(row, F1) for row in answer(bot, name, dialogues, task))
    if PERPLEXITY in metrics and isinstance(bot, LanguageModel):
        for index, example in enumerate(examples(dialogues, task.sides)):
            item = PerplexityItem(example.persona, example.history, example.reply)
            row = {"prediction": f"{name}:{index}", "example": example.id, "gold": example.reply}
            likely = {"log_probs": list(log_probs(bot, item, known))}
            context = {"context": [turn.text for turn in example.history]}
            empty = dict.fromkeys(("response", "candidates", "scores"))
            about = {"system": name, "dataset": task.dataset}
            yield _named(row, PERPLEXITY) | about | context | likely | empty


def _named(row: dict[str, Any], metric: str) -> dict[str, Any]:
    return row | {key: f"{metric}:{row[key]}" for key in ("prediction", "example")}


class _Unable(Exception):
    """The bot has not what a metric needs."""


def _kind(problem: BaseException) -> str:
    """Return the kind of an error: one of Python's own, and none that an entry named."""
    if isinstance(problem, _Unable):
        return UNABLE
    if isinstance(problem, Offline):
        return Offline.__name__
    own = set(map(id, vars(builtins).values()))
    return next(kind.__name__ for kind in type(problem).__mro__ if id(kind) in own)
