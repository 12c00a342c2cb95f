"""Spam planted into conversations: the partner's side stays, the person's is written by a rule.

Each kind is a way to be paid or heard without taking part. `off_topic` takes its sentences from
other chats, so only its lack of connection gives it away: that raises the score, and never flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Turns = Sequence[tuple[bool, str]]
LETTERS = "asdfghjklqwertyuiop"
BYES = ("Bye", "bye", "Bye!", "bye bye", "ok bye")
SINGLE = ("ok", "yes", "lol", "hm", "cool", "no", "nice", "k", "what", "wow", "good", "sure")
RUDE = ("fuck you", "you are a stupid bitch", "shut the fuck up", "what a shitty bot this is")
PASTED = "I am very interested in this good and nice task thank you sir"


def plant(kind: str, turns: Turns, others: Sequence[str], seed: int) -> list[tuple[bool, str]]:
    """Return the conversation with the person's messages replaced by spam of that kind."""
    rng = Random(f"{kind}:{seed}")
    if kind == "leaves_early":
        return list(turns[: rng.choice([1, 2, 3])])
    if kind == "does_not_wait":
        return _burst(turns, others, rng)
    heard = ""
    planted = []
    for place, (mine, text) in enumerate(turns):
        planted.append((mine, WRITERS[kind](rng, place, heard, others) if mine else text))
        heard = heard if mine else text
    return planted


def _burst(turns: Turns, others: Sequence[str], rng: Random) -> list[tuple[bool, str]]:
    found: list[tuple[bool, str]] = []
    for mine, text in turns:
        found += [(True, rng.choice(others)) for _ in range(3)] if mine else [(False, text)]
    return found


def _mash(rng: Random) -> str:
    made = ("".join(rng.choices(LETTERS, k=rng.randint(4, 9))) for _ in range(rng.randint(1, 4)))
    return " ".join(made)


def _echo(rng: Random, heard: str) -> str:
    return heard or "hi there"


Writer = Callable[[Random, int, str, Sequence[str]], str]
WRITERS: dict[str, Writer] = {
    "says_bye": lambda rng, place, heard, others: rng.choice(BYES),
    "single_words": lambda rng, place, heard, others: rng.choice(SINGLE),
    "mashes_keys": lambda rng, place, heard, others: _mash(rng),
    "echoes": lambda rng, place, heard, others: _echo(rng, heard),
    "pastes": lambda rng, place, heard, others: PASTED if rng.random() < 0.8 else "hello dear sir",
    "abuses": lambda rng, place, heard, others: rng.choice([*RUDE, rng.choice(others)]),
    "off_topic": lambda rng, place, heard, others: rng.choice(others),
}
KINDS = (*WRITERS, "leaves_early", "does_not_wait")
