"""Contexts of a test beside the data that a bot learned from, `python -m bots overlap`.

A context stands in the data where its messages follow each other in one of the dialogues, whatever
their case, punctuation and white space. Source: MEENA (Adiwardana et al. 2020), section 2.2, whose
contexts are fixed and public, so that they can come into what a later bot learns from. How texts
are compared is our own. Apart because it is a command of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from bots.dialogue import Dialogue
from bots.line_files import InvalidData
from bots.text.tokens import key

HELP = "look for contexts in the data that a bot learned from"
Reader = Callable[[Iterable[str]], list[Dialogue]]


def add_arguments(parser: argparse.ArgumentParser, read: Reader) -> None:
    """Declare what the command takes and runs."""
    parser.set_defaults(run=lambda request: command(request, read))
    add = parser.add_argument
    add("--contexts", action="append", required=True, metavar="KIND:PATH", help="of the test")
    add("--data", action="append", required=True, metavar="KIND:PATH", help="learned from")


def command(request: argparse.Namespace, read: Reader) -> None:
    """Print each context that stands in the data, and where; then how many there are."""
    contexts, dialogues = read(request.contexts), read(request.data)
    if not contexts:
        raise InvalidData(["--contexts: there is no context"])
    if empty := [str(each.id) for each in contexts if not _has_words(each)]:
        raise InvalidData(
            [f"--contexts: {name} has no words, so it stands anywhere" for name in empty]
        )
    found = overlaps(contexts, dialogues)
    for name, where in found:
        print(f"{name}: in {where}")
    print(f"{len(found)} of {len(contexts)} contexts stand in {len(dialogues)} dialogues")


def overlaps(contexts: Sequence[Dialogue], dialogues: Iterable[Dialogue]) -> list[tuple[str, str]]:
    """Return the contexts that stand in dialogues, each with the first of these."""
    wanted = [tuple(key(turn.text) for turn in each.turns) for each in contexts]
    lengths, first = {len(each) for each in wanted}, dict[tuple[str, ...], str]()
    for dialogue in dialogues:
        keys = [key(turn.text) for turn in dialogue.turns]
        for length in lengths:
            for begin in range(len(keys) - length + 1):
                first.setdefault(tuple(keys[begin : begin + length]), str(dialogue.id))
    pairs = zip(contexts, wanted, strict=True)
    return [(str(each.id), first[texts]) for each, texts in pairs if texts in first]


def _has_words(dialogue: Dialogue) -> bool:
    return any(key(turn.text) for turn in dialogue.turns)
