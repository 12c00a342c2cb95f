"""Contexts with their responses, as A Repository of Conversational Datasets has them.

Source: Henderson et al. 2019. A line is {"context", "response", "context/0", "context/1", ...}:
`context` is the last message, `context/i` the i-th most recent one before it; other fields are not
read. Contexts and responses of 9 to 128 characters are used; extra contexts are cut to 128 without
cutting a word, keeping their end. A tenth is for testing, chosen by a hash of what belongs
together, so that the same split comes out every time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bots.dialogue import Dialogue, Example, Utterance, examples
from bots.line_files import BadLine, read_records, text_of

SHORTEST, LONGEST = 9, 128
EXTRAS = 10
TEST_SHARE = 0.1
FIELD = re.compile(r"context/(\d+)")
Part = Literal["train", "test"]


@dataclass(frozen=True)
class AnsweredMessage:
    """A response, the message it answers, and the messages before, most recent first."""

    context: str
    response: str
    extras: tuple[str, ...] = ()

    @property
    def record(self) -> dict[str, str]:
        """The line of a file."""
        extras = {f"context/{index}": text for index, text in enumerate(self.extras)}
        return {**extras, "context": self.context, "response": self.response}


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; dialogues are named by position, the response is one's own."""
    found = read_answered(source)
    return [_dialogue(each, str(index)) for index, each in enumerate(found, start=1)]


def read_answered(source: str) -> list[AnsweredMessage]:
    """Read the file at this path as it is."""
    return read_records(Path(source), _answered)


def answered(dialogues: Iterable[Dialogue]) -> Iterator[AnsweredMessage]:
    """Yield every message that answers another and, like it, has a fit length."""
    for example in examples(dialogues):
        found = _of(example)
        if _fits(found.context) and _fits(found.response):
            yield found


def part(key: str, test_share: float = TEST_SHARE) -> Part:
    """Return the part of everything with this key (a thread, a film, a product)."""
    drawn = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64
    return "test" if drawn < test_share else "train"


def trimmed(text: str, most: int = LONGEST) -> str:
    """Return the end of a text, at most so many characters, without a part of a word."""
    text = text.strip()
    if len(text) <= most:
        return text
    _, space, end = text[-most - 1 :].partition(" ")
    return end.lstrip() if space else ""


def _fits(text: str) -> bool:
    return SHORTEST <= len(text) <= LONGEST


def _of(example: Example) -> AnsweredMessage:
    earlier = [turn.text for turn in example.history][::-1]
    extras = (trimmed(text) for text in earlier[1 : EXTRAS + 1])
    return AnsweredMessage(earlier[0], example.reply, tuple(text for text in extras if text))


def _dialogue(found: AnsweredMessage, name: str) -> Dialogue:
    texts = [*found.extras[::-1], found.context, found.response]
    turns = (
        Utterance("self" if (len(texts) - index) % 2 else "partner", text)
        for index, text in enumerate(texts)
    )
    return Dialogue(name, tuple(turns))


def _answered(record: Mapping[str, Any]) -> AnsweredMessage:
    indices = sorted(int(found[1]) for name in record if (found := FIELD.fullmatch(name)))
    if indices != list(range(len(indices))):
        named = ", ".join(f"context/{index}" for index in indices)
        raise BadLine(f"extra contexts are {named}, but must be numbered from 0 without a gap")
    extras = tuple(text_of(record, f"context/{index}") for index in indices)
    return AnsweredMessage(text_of(record, "context"), text_of(record, "response"), extras)
