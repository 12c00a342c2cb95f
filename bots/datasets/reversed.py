"""Reversed dialogues of any other dataset: a message's reply comes before it.

A bot trained on it tells the message from the reply, as MMI needs (Li et al. 2016, section 3). The
path is KIND:PATH of another dataset, as in `--data reversed:demo:train`.
"""

from __future__ import annotations

from dataclasses import replace

from bots.dialogue import Dialogue
from bots.line_files import InvalidData
from bots.registry import UnknownName, get_dataset


def read(source: str) -> list[Dialogue]:
    """Read the other dataset, each dialogue from its end to its beginning.

    Raises InvalidData, naming everything wrong with the data.
    """
    kind, colon, where = source.partition(":")
    if not colon:
        raise InvalidData([f"{source}: must be KIND:PATH of the dataset to be read backwards"])
    try:
        dialogues = get_dataset(kind).read(where)
    except UnknownName as error:
        raise InvalidData([f"{source}: {error}"]) from error
    return [replace(each, turns=each.turns[::-1]) for each in dialogues]
