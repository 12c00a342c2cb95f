"""Real conversations of two people: the package chitchat-dataset (extra `chitchat`, MIT license).

Source: the Chit-Chat Challenge of Brigham Young University, 2018 (7,168 chats, many of them
openers that nobody answered). Read are chats of two people with four turns or more; a
chat is cut at the first turn that the safety filter refuses, since what follows may answer it. The
source may be a number: at most so many dialogues.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import islice
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.guards.filters import safe
from bots.line_files import InvalidData

LEAST = 4
INSTALL = 'chitchat: install the extra first: pip install "parley[chitchat]"'


def read(source: str) -> list[Dialogue]:
    """Read the installed package's conversations.

    Raises InvalidData if the package is absent or the number is wrong.
    """
    if source and not source.isdigit():
        raise InvalidData([f"chitchat:{source}: must be nothing, or at most how many dialogues"])
    try:
        text = (files("chitchat_dataset") / "dataset.json").read_text("utf-8")
    except ModuleNotFoundError as error:
        raise InvalidData([INSTALL]) from error
    chats = (chat for name, raw in json.loads(text).items() for chat in _dialogue(name, raw))
    return list(islice(chats, int(source) if source else None))


def _dialogue(name: str, raw: Mapping[str, Any]) -> Iterator[Dialogue]:
    senders = {piece["sender"] for turn in raw["messages"] for piece in turn}
    if len(senders) != 2 or len(raw["messages"]) < LEAST:
        return
    first = raw["messages"][0][0]["sender"]
    turns: list[Utterance] = []
    for pieces in raw["messages"]:
        text = " ".join(" ".join(piece["text"].split()) for piece in pieces).strip()
        if not text or not safe(text):
            break
        turns.append(Utterance("self" if pieces[0]["sender"] == first else "partner", text))
    if len(turns) >= LEAST:
        yield Dialogue(name, tuple(turns))
