"""Filter of messages of a forum's trees, as MEENA learned from them, and the pairs it leaves.

Source: MEENA (Adiwardana et al. 2020, section 3.1). A message is dropped for one of seven reasons,
and its whole subtree with it; copies of the message it answers are taken out first. Each message
that is left is a response, the up to seven before it are its context. The paper does not say how
much overlap with the parent is too much, nor how quotes are found: both are ours.
Apart because it knows no layout of files, and datasets stand alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bots.guards.filters import unsafe
from bots.text.tokens import key, split, words

URL = re.compile(r"https?://|www\.|\b[\w-]+\.(?:com|org|net|io|ly|gov|edu)\b", re.IGNORECASE)
ANCESTOR = "a message above it was dropped"
QUOTED_LEAST = 4


@dataclass(frozen=True)
class ForumMessage:
    """One message of a tree; `parent` is None at the root."""

    id: str
    parent: str | None
    author: str
    text: str
    flagged: bool = False


@dataclass(frozen=True)
class Rules:
    """The limits of the filter; `subwords` counts pieces of words, and may be a trained model's."""

    least_subwords: int = 2
    most_subwords: int = 128
    least_letters: float = 0.7
    most_repeats: int = 100
    overlap_n: int = 3
    most_overlap: float = 0.75
    context: int = 7
    subwords: Callable[[str], Sequence[str]] = split


@dataclass(frozen=True)
class Filtered:
    """The messages kept, cleaned, in order; and why each other one was dropped."""

    kept: Mapping[str, ForumMessage]
    dropped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ForumPair:
    """A response and the messages before it, first to last."""

    context: tuple[ForumMessage, ...]
    response: ForumMessage


def filtered(messages: Iterable[ForumMessage], rules: Rules | None = None) -> Filtered:
    """Apply the seven rules from the roots down."""
    rules = rules or Rules()
    by_id = {message.id: message for message in messages}
    times = Counter(key(message.text) for message in by_id.values())
    kept: dict[str, ForumMessage] = {}
    dropped: dict[str, str] = {}
    for message in _downwards(by_id):
        parent = None if message.parent is None else by_id[message.parent]
        cleaned = replace(message, text=unquoted(message.text, parent.text if parent else ""))
        if message.parent in dropped:
            dropped[message.id] = ANCESTOR
        elif reason := _reason(cleaned, parent, times[key(message.text)], rules):
            dropped[message.id] = reason
        else:
            kept[message.id] = cleaned
    return Filtered(kept, dropped)


def pairs(kept: Mapping[str, ForumMessage], most: int = 7) -> Iterator[ForumPair]:
    """Yield every message that answers another, with at most this many before it."""
    for message in kept.values():
        above = path_to(kept, message)[:-1]
        if above:
            yield ForumPair(tuple(above[-most:]), message)


def path_to(kept: Mapping[str, ForumMessage], message: ForumMessage) -> list[ForumMessage]:
    """Return the messages from the root to this one."""
    path = [message]
    while path[-1].parent is not None:
        path.append(kept[path[-1].parent])
    return path[::-1]


def unquoted(text: str, parent: str) -> str:
    """Return a message without quotes of its parent: quoted lines, or all of it."""
    lines = text.split("\n")
    left = [line for line in lines if not _quotes(line, parent)]
    whole = " ".join("\n".join(left).split())
    copy = " ".join(parent.split())
    if len(words(copy)) >= QUOTED_LEAST and copy in whole and whole != copy:
        whole = whole.replace(copy, " ")
    return " ".join(whole.split())


def _quotes(line: str, parent: str) -> bool:
    return line.lstrip().startswith((">", "|")) and key(line) in key(parent)


def _downwards(by_id: Mapping[str, ForumMessage]) -> Iterator[ForumMessage]:
    """Yield every message after its parent."""
    below: dict[str | None, list[ForumMessage]] = defaultdict(list)
    for message in by_id.values():
        below[message.parent].append(message)
    waiting = below[None][::-1]
    while waiting:
        message = waiting.pop()
        yield message
        waiting.extend(below[message.id][::-1])


def _reason(
    message: ForumMessage, parent: ForumMessage | None, times: int, rules: Rules
) -> str | None:
    """Return the first rule that a message breaks."""
    length = len(rules.subwords(message.text))
    if not rules.least_subwords <= length <= rules.most_subwords:
        return f"{length} subwords"
    if _letters(message.text) < rules.least_letters:
        return "too few letters"
    if URL.search(message.text):
        return "a URL"
    if "bot" in message.author.lower():
        return "the author's name contains bot"
    if times > rules.most_repeats:
        return f"said {times} times"
    if parent is not None and _overlap(message.text, parent.text, rules) > rules.most_overlap:
        return "too much like its parent"
    if message.flagged or unsafe(message.text):
        return "unsafe"
    return None


def _letters(text: str) -> float:
    """Return the share of letters among the characters that are not white space."""
    visible = [character for character in text if not character.isspace()]
    return sum(map(str.isalpha, visible)) / len(visible) if visible else 0.0


def _overlap(text: str, parent: str, rules: Rules) -> float:
    """Return the share of a message's n-grams that its parent has too."""
    n = rules.overlap_n
    own, above = _grams(text, n), set(_grams(parent, n))
    return sum(gram in above for gram in own) / len(own) if own else 0.0


def _grams(text: str, n: int) -> list[tuple[str, ...]]:
    found = words(text)
    return [tuple(found[start : start + n]) for start in range(len(found) - n + 1)]
