"""What must not be said: a first safety filter, and no reply twice.

The same filter is used when real people's dialogues are read and at a bot's mouth. It is a list of
words (better-profanity's) and patterns for what word lists miss: sexual remarks, insults, threats,
ways to get in touch. It errs towards refusing: that costs nothing, another candidate is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from random import Random

from bots.bot import Reply
from bots.dialogue import Example, Utterance
from bots.patterns import EVERYDAY, PATTERNS
from bots.text import display, key, word_count

FALLBACKS = (
    "Tell me a bit more about that.",
    "What do you like to do in your free time?",
    "What was the best part of your week?",
    "Let's talk about something else. What do you enjoy reading or watching?",
    "What are you looking forward to?",
    "How did you come to like that?",
)

_LEET = str.maketrans("013457@$!|", "oieastasil")
_LOOKALIKES = str.maketrans("аеорсухіѕјԁɡοαει", "aeopcyxisjdgoaei")
_TOKENS = re.compile(r"[a-z0-9@$!|*]+(?:['-][a-z]+)*")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")
_SPACED = re.compile(r"\b(?:[a-z][\s._*-]){2,}[a-z]\b")
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def unsafe(text: str) -> str | None:
    """Return why a text must not be said, or None."""
    plain = _plain(text)
    for reason, pattern in PATTERNS.items():
        if pattern.search(plain):
            return reason
    return "profanity" if _profane(plain) else None


def safe(text: str) -> bool:
    """Tell whether a text may be said."""
    return unsafe(text) is None


def said_by(speaker: str, history: Iterable[Utterance]) -> set[str]:
    """Return the keys of all that a speaker has said."""
    return {key(turn.text) for turn in history if turn.speaker == speaker}


def fallback(history: Sequence[Utterance]) -> str:
    """Return something neutral to say, new in this conversation as long as there is any."""
    said = said_by("self", history)
    fresh = [text for text in FALLBACKS if key(text) not in said]
    return (fresh or FALLBACKS)[0 if fresh else len(history) % len(FALLBACKS)]


def say(
    text: str,
    history: Sequence[Utterance],
    score: float | None = None,
    details: Mapping[str, object] | None = None,
) -> Reply:
    """Return the reply, fit to be shown; or a neutral one where the text must not be said."""
    reason = unsafe(text) if text.strip() else "empty"
    if reason is None:
        return Reply(display(text), score, dict(details or {}))
    return Reply(
        fallback(history), None, {**(details or {}), "refused": [reason], "fallback": True}
    )


def choose(
    ranked: Iterable[tuple[str, float]], history: Sequence[Utterance], max_words: int
) -> Reply:
    """Return the first candidate that is safe, short enough and new; say why others were not."""
    said = said_by("self", history)
    refused: list[str] = []
    long: tuple[str, float] | None = None
    for text, score in ranked:
        reason = "said before" if key(text) in said else unsafe(text)
        if reason is None and word_count(text) <= max_words:
            return say(text, history, score, {"refused": refused} if refused else None)
        if reason is None:
            long, reason = long or (text, score), "too long"
        refused.append(reason)
    if long is not None:
        return say(long[0], history, long[1], {"refused": refused})
    return Reply(fallback(history), None, {"refused": refused, "fallback": True})


def speakable(
    examples: Iterable[Example], most: int, max_words: int, seed: int
) -> list[tuple[str, str]]:
    """Choose pairs of message and reply that a bot may serve.

    Each reply once, safe and short; those said by somebody with a persona first, the rest by lot.
    """
    lot = list(examples)
    Random(seed).shuffle(lot)  # noqa: S311
    chosen: dict[str, tuple[str, str]] = {}
    for example in sorted(lot, key=lambda each: not each.persona):
        if len(chosen) == most:
            break
        if key(example.reply) not in chosen and _speakable(example.reply, max_words):
            chosen[key(example.reply)] = (example.history[-1].text, example.reply)
    return list(chosen.values())


def _speakable(reply: str, max_words: int) -> bool:
    return 1 < word_count(reply) <= max_words and safe(reply)


def _plain(text: str) -> str:
    """Undo what hides a word: look-alike characters, marks, invisible characters."""
    text = unicodedata.normalize("NFKD", _HIDDEN.sub("", text)).casefold().replace("’", "'")
    if text.isascii():
        return text
    text = text.translate(_LOOKALIKES)
    return "".join(letter for letter in text if not unicodedata.combining(letter))


def _profane(plain: str) -> bool:
    if _SPACED.search(plain):
        plain += " " + _SPACED.sub(lambda found: re.sub(r"[^a-z]", "", found[0]), plain)
    if any(map(_listed, _TOKENS.findall(plain))):
        return True
    phrases = [phrase for phrase in _profanities()[1] if phrase in plain]
    return any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", plain) for phrase in phrases)


@lru_cache(maxsize=1 << 16)
def _listed(token: str) -> bool:
    """Tell whether a token is on the list, or looks like a word that is."""
    bare = token.strip("!|*-'")
    forms = {bare, _DRAWN_OUT.sub(r"\1", bare), bare.translate(_LEET), bare.split("'")[0]}
    return not forms.isdisjoint(_profanities()[0])


@cache
def _profanities() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words of the list, and what on it is more than one word."""
    listed = (files("better_profanity") / "profanity_wordlist.txt").read_text("utf-8")
    entries = {line.strip().lower() for line in listed.splitlines()} - EVERYDAY - {""}
    return frozenset(entries), tuple(sorted(entry for entry in entries if not entry.isalnum()))
