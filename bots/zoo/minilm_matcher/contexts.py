"""Contexts as the matcher sees them: the texts of a conversation, and where each stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bots.dialogue import Dialogue, Sides, Speaker, Utterance
from bots.encoders.minilm import States, Tokens, stack, tokens
from bots.zoo.minilm_matcher.matching import MatcherTexts, Turns
from bots.zoo.minilm_matcher.style import measures

MESSAGES = 8  # of each side, the last ones
LINES = 8  # of a persona
LONGEST = 32  # tokens of a text
AT_ONCE = 64


@dataclass(frozen=True)
class Rows:
    """The rows of one context's texts, and how many messages there were."""

    persona: tuple[int, ...]
    messages: tuple[tuple[bool, int], ...]  # whether by the side that replies

    def moved(self, by: int) -> Rows:
        """Return the same context with its rows moved by an offset."""
        messages = tuple((mine, row + by) for mine, row in self.messages)
        return Rows(tuple(row + by for row in self.persona), messages)

    def of(self, *, own: bool) -> list[int]:
        """Return the rows of one side's messages."""
        return [row for mine, row in self.messages if mine is own]


def turns(contexts: Sequence[Rows], nowhere: int) -> Turns:
    """Return contexts as tables of rows; `nowhere` is the row of absent texts."""

    def table(rows: Iterable[Sequence[int]], width: int) -> Tensor:
        cut = [list(each[-width:]) for each in rows]
        return torch.tensor([[*each, *[nowhere] * (width - len(each))] for each in cut])

    rows_of = [[row for _, row in each.messages] for each in contexts]
    partner = [[r for r in each.of(own=False) if r != each.messages[-1][1]] for each in contexts]
    return Turns(
        last=table([rows[-1:] for rows in rows_of], 1),
        before=table([rows[-2:-1] for rows in rows_of], 1),
        earlier=table([rows[-3:-2] for rows in rows_of], 1),
        own=table([each.of(own=True) for each in contexts], MESSAGES),
        partner=table(partner, MESSAGES),
        persona=table([each.persona[:LINES] for each in contexts], LINES),
        length=torch.tensor([len(rows) for rows in rows_of]),
    )


@dataclass(frozen=True)
class MatcherDialogue:
    """A dialogue to learn from: its texts, a context per reply, and the reply's row."""

    texts: tuple[str, ...]
    contexts: tuple[Rows, ...]
    replies: tuple[int, ...]


def matcher_dialogue(dialogue: Dialogue, sides: Sides) -> MatcherDialogue:
    """Return a dialogue as contexts and replies: each message of the sides that follows another."""
    personas = {"self": dialogue.persona, "partner": dialogue.partner_persona}
    texts = [*dialogue.persona, *dialogue.partner_persona]
    first = {"self": 0, "partner": len(dialogue.persona)}
    lines = {side: tuple(range(first[side], first[side] + len(p))) for side, p in personas.items()}
    start = len(texts)
    contexts, replies = [], []
    for index, turn in enumerate(dialogue.turns):
        if index > 0 and (sides == "both" or turn.speaker == "self"):
            contexts.append(
                Rows(lines[turn.speaker], _earlier(dialogue, index, turn.speaker, start))
            )
            replies.append(start + index)
    return MatcherDialogue(
        (*texts, *(t.text for t in dialogue.turns)), tuple(contexts), tuple(replies)
    )


def _earlier(
    dialogue: Dialogue, index: int, speaker: Speaker, start: int
) -> tuple[tuple[bool, int], ...]:
    earlier = enumerate(dialogue.turns[:index], start=start)
    return tuple((turn.speaker == speaker, row) for row, turn in earlier)


def context_rows(
    persona: Sequence[str], history: Sequence[Utterance]
) -> tuple[tuple[str, ...], Rows]:
    """Return the texts of a context to be answered, and their rows."""
    recent = history[-2 * MESSAGES :]
    messages = tuple((t.speaker == "self", len(persona) + p) for p, t in enumerate(recent))
    return (*persona, *(turn.text for turn in recent)), Rows(tuple(range(len(persona))), messages)


class Library:
    """Texts encoded once, in half precision, to be put together again and again."""

    def __init__(
        self, encode: Callable[[Sequence[Tokens]], States], longest: int = LONGEST
    ) -> None:
        self._encode = encode
        self._longest = longest
        self._known: dict[str, States] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Encode new texts, those of like length together."""
        new = {text: tokens(text, self._longest) for text in texts if text not in self._known}
        order = sorted(new, key=lambda text: len(new[text]))
        for start in range(0, len(order), AT_ONCE):
            chunk = order[start : start + AT_ONCE]
            with torch.inference_mode():
                self.keep(chunk, self._encode([new[text] for text in chunk]))

    def keep(self, texts: Sequence[str], states: States) -> None:
        """Keep the encoded states of texts."""
        lengths = (states.numbers != 0).sum(dim=1).tolist()
        for index, (text, length) in enumerate(zip(texts, lengths, strict=True)):
            part = slice(index, index + 1), slice(0, length)
            hidden, numbers = states.hidden[part].half(), states.numbers[part].clone()
            self._known[text] = States(hidden, numbers)

    def states(self, texts: Sequence[str]) -> States:
        """Return texts that are known, padded to the longest."""
        found = stack([self._known[text] for text in texts])
        return States(found.hidden.float(), found.numbers)


def matcher_texts(texts: Sequence[str], states: States) -> MatcherTexts:
    """Return texts whose states are encoded."""
    return MatcherTexts.of(states, measures(texts).to(states.hidden.device))
