"""Messages of simulated people: lines of the bundled dialogues, and lines about their character.

Apart because they are texts, and no behavior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle

from bots.datasets import demo
from webapp.crowd.people import Person

LIMIT = 15  # words; the strictest protocol's
BORED = ("ok cool", "yeah I guess so")


@cache
def _dialogues() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(turn.text for turn in each.turns) for each in demo.read("all"))


@cache
def _paraphrases() -> dict[str, str]:
    pairs = (zip(each.original, each.revised, strict=True) for each in demo.personas())
    return {original: meaning for both in pairs for original, meaning in both}


def messages(person: Person, persona: Sequence[str], *about: object) -> Iterator[str]:
    """Yield messages for ever, in turn from a bundled dialogue and about the person's character.

    Each message is within the word limit and no copy of the character. People who do not care
    repeat themselves.
    """
    if person.spammer:
        yield from cycle(BORED)
    chance = person.chance("talk", *about)
    about_self = [_paraphrases()[line] for line in persona if line in _paraphrases()]
    chance.shuffle(about_self)
    while True:
        side = chance.randrange(2)
        for number, line in enumerate(chance.choice(_dialogues())[side::2]):
            if number % 3 == 1 and about_self:
                yield about_self.pop()
            yield line


def careless(persona: Sequence[str], line: str) -> str:
    """Return a message that breaks a rule: the character's own words, or too many words."""
    return persona[0] if persona else " ".join([line] * (LIMIT // len(line.split()) + 1))
