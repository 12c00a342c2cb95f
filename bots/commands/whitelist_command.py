"""Whitelists, `python -m bots whitelist`: replies that a ranker may give, for people to review.

Apart because it is a command of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, get_args, runtime_checkable

from bots.commands.arguments import whole
from bots.dialogue import Dialogue, examples
from bots.guards import whitelists
from bots.guards.whitelists import WhitelistEntry
from bots.options import InvalidOption
from bots.registry import make_bot

if TYPE_CHECKING:
    import numpy as np


@runtime_checkable
class Encodes(Protocol):
    """A bot that has a vector for each reply."""

    def encode(self, replies: Sequence[str]) -> np.ndarray: ...


def add_arguments(parser: argparse.ArgumentParser, data_help: str) -> None:
    """Declare the command's arguments."""
    parser.add_argument("method", choices=get_args(whitelists.Method))
    parser.add_argument("--data", action="append", required=True, help=data_help)
    parser.add_argument("--size", type=int, default=1000, help="how many replies")
    parser.add_argument("--out", type=Path, required=True, help="a file, .csv or .jsonl")
    parser.add_argument("--seed", type=whole(0), default=0)
    parser.add_argument("--bot", default="dual_encoder", help="whose encodings are clustered")
    parser.add_argument("--weights", type=Path, help="that bot's; only clustering needs them")
    parser.add_argument("--sides", choices=("self", "both"), default="self")


def command(arguments: argparse.Namespace, read: Callable[[Sequence[str]], list[Dialogue]]) -> None:
    """Count the replies in the data, choose, and write the file.

    Raises InvalidOption if the bot has no encodings of replies.
    """
    if arguments.size < 1:
        raise InvalidOption(f"--size is {arguments.size}, but must be at least 1")
    replies = [each.reply for each in examples(read(arguments.data), arguments.sides)]
    entries = whitelists.count(replies)
    chosen = _chosen(arguments, entries)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    whitelists.write(chosen, arguments.out)
    covered = sum(entry.count for entry in chosen) / max(1, len(replies))
    dropped = sum(entry.decision == "drop" for entry in chosen)
    print(
        f"{arguments.method}: {len(chosen)} of {len(entries)} different replies, {dropped} of them "
        f"proposed to be dropped; said {covered:.1%} of the time; {arguments.out}"
    )


def _chosen(
    arguments: argparse.Namespace, entries: Sequence[WhitelistEntry]
) -> list[WhitelistEntry]:
    if arguments.method == "frequency":
        return whitelists.frequency(entries, arguments.size)
    if arguments.method == "random":
        return whitelists.at_random(entries, arguments.size, arguments.seed)
    if arguments.weights is None:
        raise InvalidOption("clustering needs encodings: give --weights DIR of a dual_encoder")
    bot = make_bot(arguments.bot, weights=str(arguments.weights))
    if not isinstance(bot, Encodes):
        raise InvalidOption(f"--bot is {arguments.bot!r}, but must be one that encodes replies")
    return whitelists.clustering(entries, arguments.size, bot.encode, arguments.seed)
