"""Word lists that stand in for classifiers: offense, emotion, assent, greeting, goodbye.

Each can be replaced. Where a paper has a classifier of its own (Ruuh, NLP4ConvAI 2019) a list of
words is only a default, and what it counts is named so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import resources

from analysis.text.tokens import words

Judge = Callable[[str], bool]
Namer = Callable[[str], str | None]


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.split("|"))


ASSENT = _listed(
    """
yes yeah yep yup ya yah ok okay k kk sure right true exactly agreed alright fine hmm hm mhm haan
definitely absolutely totally indeed
"""
)
NO = _listed("no nope nah never none nothing not neither")
EMOTIONS: Mapping[str, frozenset[str]] = {
    "anger": _listed(
        """
angry anger annoyed annoying furious mad rage hate hated hates irritated irritating pissed outraged
disgusted disgusting fuming
"""
    ),
    "sadness": _listed(
        """
sad sadly unhappy upset cry crying cried depressed depressing lonely alone miss heartbroken
miserable hopeless grief sorrow hurt hurts tears
"""
    ),
    "happiness": _listed(
        """
happy happily glad joy joyful excited exciting delighted great wonderful awesome love loved fun yay
thrilled cheerful smile smiling lol haha hahaha
"""
    ),
}

# Phrases at the beginning of a greeting, and at either end of a goodbye.
GREETINGS = _phrases(
    "hi | hello | hey | hiya | howdy | greetings | good morning | good afternoon | good evening | "
    "nice to meet you"
)
GOODBYES = _phrases(
    "bye | bye bye | goodbye | good bye | see you | see ya | see you later | see you soon | "
    "farewell | good night | take care | talk to you later | ttyl | have a nice day | "
    "have a good day | have a great day | nice talking to you"
)


def is_greeting(text: str) -> bool:
    """Return whether a text begins with a greeting."""
    found = tuple(words(text))
    return any(found[: len(phrase)] == phrase for phrase in GREETINGS)


def is_goodbye(text: str) -> bool:
    """Return whether a text begins or ends with a goodbye."""
    found = tuple(words(text))
    return any(
        phrase in (found[: len(phrase)], found[max(len(found) - len(phrase), 0) :])
        for phrase in GOODBYES
    )


def is_offensive(text: str) -> bool:
    """Return whether a text has a word or phrase of better-profanity's list."""
    found = words(text)
    single, longer = _offensive()
    if any(word in single for word in found):
        return True
    joined = f" {' '.join(found)} "
    return any(f" {phrase} " in joined for word in set(found) for phrase in longer.get(word, ()))


def emotion(text: str) -> str | None:
    """Return the emotion that most words of a text name, or None; a tie goes to the first named."""
    found = words(text)
    counts = {name: sum(word in known for word in found) for name, known in EMOTIONS.items()}
    most = max(counts.values())
    if most == 0:
        return None
    return next(
        name
        for word in found
        for name, known in EMOTIONS.items()
        if word in known and counts[name] == most
    )


def is_assent(text: str) -> bool:
    """Return whether a text is nothing but words of assent."""
    found = words(text)
    return bool(found) and all(word in ASSENT for word in found)


@lru_cache(maxsize=1)
def _offensive() -> tuple[frozenset[str], Mapping[str, Sequence[str]]]:
    """Return the words, and the phrases by their first word."""
    path = resources.files("better_profanity") / "profanity_wordlist.txt"
    listed = [" ".join(words(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    longer: dict[str, list[str]] = {}
    for line in listed:
        if " " in line:
            longer.setdefault(line.split()[0], []).append(line)
    return frozenset(line for line in listed if line and " " not in line), longer
