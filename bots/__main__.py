"""Command line of the bots: python -m bots list | train | predict | answer | benchmark | chat ...

Exit status: 0 when done, 2 when something that was given is wrong (all of it is named).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bots.bot import Bot, Ranker, Trainable
from bots.commands import (
    answers,
    benchmark,
    catalog,
    entry,
    message_table,
    overlap,
    whitelist_command,
)
from bots.commands.arguments import whole
from bots.commands.predictions import Task, TooFewReplies, batched, hits, predict
from bots.dialogue import Dialogue, TooLittleData, Utterance
from bots.guards.remote import ServerFailed
from bots.learning.unfinished import InvalidCheckpoint, kept
from bots.line_files import InvalidData, write_records
from bots.options import InvalidOption, parse_option
from bots.registry import (
    UnknownName,
    bot_names,
    bot_options,
    dataset_names,
    get_dataset,
    make_bot,
    preset,
)
from bots.weights import InvalidWeights, data_digest, digest_of, note_corpus

REFUSED = (
    InvalidCheckpoint,
    InvalidData,
    InvalidOption,
    InvalidWeights,
    ServerFailed,
    TooFewReplies,
    TooLittleData,
    UnknownName,
)


class CannotDo(ValueError):
    """A request for an ability that the bot lacks."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    request = _parser().parse_args(arguments)
    try:
        return int(request.run(request) or 0)
    except (*REFUSED, CannotDo) as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except BrokenPipeError:  # nobody reads any more, which is no fault
        raise
    except OSError as problem:
        where = f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem)
        print(where, file=sys.stderr)
        return 2


def _train(request: argparse.Namespace) -> None:
    bot = _bot(request)
    if not isinstance(bot, Trainable):
        raise CannotDo(f"{request.bot} is not trained; use it as it is")
    if bool(request.corpus) != bool(request.license):
        raise CannotDo("--corpus and --license belong together: give both, or neither")
    dialogues = _read(request.data)
    request.out.mkdir(parents=True, exist_ok=True)  # what cannot be written is known before
    unfinished = request.out / "unfinished"
    if unfinished.is_dir():
        print(f"{request.bot}: goes on from {unfinished}", file=sys.stderr)
    run = digest_of([request.bot, _options(request), request.seed, data_digest(dialogues)])
    with kept(unfinished, run):
        bot.train(dialogues, seed=request.seed)
    bot.save(request.out)
    if request.corpus:
        note_corpus(request.out, request.corpus, request.license)
    shutil.rmtree(unfinished, ignore_errors=True)
    print(f"{request.bot}: learned from {len(dialogues)} dialogues; weights in {request.out}")


def _predict(request: argparse.Namespace) -> None:
    bot = _bot(request)
    if not isinstance(bot, Ranker):
        raise CannotDo(f"{request.bot} does not rank candidates")
    name, dialogues = ",".join(request.data), _read(request.data)
    task = Task(name, request.candidates, request.seed, request.persona, request.sides)
    rows = (
        list(batched(bot, request.bot, dialogues, name, seed=request.seed, batches=request.batches))
        if request.batches
        else list(predict(bot, request.bot, dialogues, task))
    )
    if not rows:
        raise InvalidData([f"{task.dataset}: no message of the side to be predicted"])
    request.out.parent.mkdir(parents=True, exist_ok=True)
    write_records(rows, request.out)
    among = len(rows[0]["candidates"])
    print(f"{request.bot}: hits@1/{among} {hits(rows):.3f} (n {len(rows)}); {request.out}")


def _answer(request: argparse.Namespace) -> None:
    bot = _bot(request)
    if not isinstance(bot, Bot):
        raise CannotDo(f"{request.bot} does not answer")
    answers.command(request, bot, _read)


def _chat(request: argparse.Namespace) -> None:
    bot = _bot(request)
    if not isinstance(bot, Bot):
        raise CannotDo(f"{request.bot} does not answer")
    history: list[Utterance] = []
    for line in sys.stdin:
        history.append(Utterance("partner", line.strip()))
        reply = bot.respond(request.persona, history)
        history.append(Utterance("self", reply.text))
        print(reply.text, flush=True)


def _bot(request: argparse.Namespace) -> object:
    return make_bot(request.bot, **_options(request))


def _options(request: argparse.Namespace) -> dict[str, object]:
    """Return the preset's options, overridden by those set one by one."""
    known = bot_options(request.bot)
    options: dict[str, object] = preset(request.bot, request.preset)
    for setting in request.set:
        name, equals, raw = setting.partition("=")
        if not equals:
            raise InvalidOption(f"--set {setting}: must be option=value")
        options[name] = parse_option(request.bot, known, name, raw)
    if getattr(request, "epochs", None) is not None:
        options["epochs"] = request.epochs
    if getattr(request, "weights", None) is not None:
        options["weights"] = str(request.weights)
    elif request.command != "train" and any(x.name == "weights" and x.needed for x in known):
        raise InvalidOption(f"{request.bot} has to be trained: give --weights DIR")
    return options


def _read(sources: Iterable[str]) -> list[Dialogue]:
    """Read all data, or name everything that is wrong with any of it."""
    dialogues: list[Dialogue] = []
    problems: list[str] = []
    for source in sources:
        kind, colon, where = source.partition(":")
        try:
            if not colon:
                raise InvalidData([f"--data {source}: must be KIND:PATH, KIND one of {_kinds()}"])
            dialogues += get_dataset(kind).read(where)
        except InvalidData as error:
            problems += error.problems
        except UnknownName as error:
            problems.append(f"--data {source}: {error}")
    if problems:
        raise InvalidData(problems)
    return dialogues


def _kinds() -> str:
    return ", ".join(dataset_names())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bots", description="Train, test and try bots.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_train(commands)
    guess = _command(commands, "predict", "rank the true reply among others", _predict)
    _data(guess)
    guess.add_argument("--weights", type=Path)
    guess.add_argument("--out", type=Path, required=True, help="a JSON Lines file")
    guess.add_argument("--candidates", type=whole(2), default=20)
    guess.add_argument("--seed", type=whole(0), default=0)
    guess.add_argument("--persona", choices=("none", "self", "their", "both"), default="self")
    guess.add_argument("--sides", choices=("self", "both"), default="self")
    guess.add_argument(
        "--batches",
        type=whole(0),
        default=0,
        help="1-of-100: so many random batches of 100 replies",
    )
    replies = _command(commands, "answer", "answer every message, for metrics of text", _answer)
    _data(replies)
    answers.add_arguments(replies)
    commands.add_parser("list", help="say what bots there are").set_defaults(
        run=lambda request: print("\n".join(catalog.lines()))
    )
    tables = commands.add_parser("benchmark", help="run the papers' analyses")
    tables.set_defaults(run=lambda request: benchmark.command(request, _read))
    benchmark.add_arguments(tables, f"KIND:PATH, may be repeated; KIND is one of {_kinds()}")
    lists = commands.add_parser("whitelist", help="choose the replies a ranker may give")
    lists.set_defaults(run=lambda request: whitelist_command.command(request, _read))
    whitelist_command.add_arguments(lists, f"KIND:PATH, may be repeated; KIND is one of {_kinds()}")
    message_table.add_arguments(commands.add_parser("messages", help=message_table.HELP), _read)
    overlap.add_arguments(commands.add_parser("overlap", help=overlap.HELP), _read)
    entry.add_arguments(commands.add_parser("enter", help=entry.HELP), _read)
    _add_chat(commands)
    return parser


def _add_train(commands: object) -> None:
    train = _command(commands, "train", "learn from dialogues", _train)
    _data(train)
    train.add_argument("--out", type=Path, required=True, help="directory for the weights")
    train.add_argument("--seed", type=whole(0), default=0)
    train.add_argument("--epochs", type=whole(1), help="short for --set epochs=N")
    train.add_argument("--corpus", default="", metavar="NAME", help="of the data, for the record")
    train.add_argument("--license", default="", metavar="NAME", help="of the corpus: CC-BY-4.0")


def _add_chat(commands: object) -> None:
    chat = _command(commands, "chat", "answer the lines of standard input", _chat)
    chat.add_argument("--weights", type=Path)
    chat.add_argument("--persona", nargs="*", default=[], help="the bot's sentences")


def _command(commands: object, name: str, text: str, run: object) -> argparse.ArgumentParser:
    assert isinstance(commands, argparse._SubParsersAction)  # noqa: S101
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text)
    parser.set_defaults(run=run)
    parser.add_argument("bot", metavar="BOT", help="one of " + ", ".join(bot_names()))
    parser.add_argument("--preset", default="toy", help="a named set of options, as `paper`")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    return parser


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        action="append",
        required=True,
        metavar="KIND:PATH",
        help=f"may be repeated; KIND is one of {_kinds()}; demo: takes a split, chitchat: nothing",
    )


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
