"""Whether a person took part in a conversation in earnest: reasons to doubt it, and a score.

ConvAI2's "wild" track (Dinan et al. 2019) was discounted because senseless, offensive
and off-instruction dialogues could not be told apart. The paper leaves that open; the rules here
are ours, computed from the text alone, never from the score that a person gave. A flag sets nothing
aside: results are reported with and without what is flagged.

A measure beyond its limit is a reason. A conversation is flagged where its reasons weigh 1 or more
together; the score, for a ROC curve, adds half of the way that each other measure has come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.lexicons import ASSENT, NO, is_offensive
from analysis.tables import MessageTable, RatingTable
from analysis.text import key, nonstop, words
from analysis.transcripts import HUMAN, placed

UNKNOWN = float("nan")
WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
COLUMNS = ("conversation", "system", "side", "score", "flagged", "reasons")


class Chat(NamedTuple):
    """One person's conversation: whether each message is theirs, and its text."""

    turns: Sequence[tuple[bool, str]]
    is_scored: bool | None = None

    @property
    def own(self) -> list[str]:
        return [text for mine, text in self.turns if mine]


@dataclass(frozen=True)
class Rule:
    """A measure, the limit beyond which it is a reason, and where it starts to count."""

    measure: Callable[[Chat], float]
    limit: float
    start: float
    weight: float = 1.0

    def crossed(self, value: float) -> bool:
        """Whether the value is beyond the limit, seen from where it starts to count."""
        return value > self.limit if self.start < self.limit else value < self.limit

    def approach(self, value: float) -> float:
        """Return how far the value has come from the start to the limit, 0 to 1."""
        if value != value:
            return 0.0
        return float(np.clip((value - self.start) / (self.limit - self.start), 0.0, 1.0))


def exchanges(chat: Chat) -> float:
    """Return how often the person wrote after the partner, or the partner after the person."""
    mine = [own for own, _ in chat.turns]
    changes = sum(a != b for a, b in pairwise(mine))
    return float((changes + 1) // 2)


def mean_words(chat: Chat) -> float:
    """Return the mean words of the person's messages; two letters of a script without spaces."""
    said = [_length(text) for text in chat.own]
    return sum(said) / len(said) if said else UNKNOWN


def repeated(chat: Chat) -> float:
    """Return the share of the person's messages that repeat an earlier one of theirs."""
    said = [key(text) for text in chat.own]
    return 1 - len(set(said)) / len(said) if len(said) > 1 else UNKNOWN


def copied(chat: Chat) -> float:
    """Return the share of the person's messages that repeat one of the partner's."""
    heard: set[str] = set()
    copies = []
    for mine, text in chat.turns:
        if mine:
            copies.append(key(text) in heard)
        else:
            heard.add(key(text))
    return sum(copies) / len(copies) if len(copies) > 1 else UNKNOWN


def not_waiting(chat: Chat) -> float:
    """Return the share of the person's messages sent before the partner answered the last."""
    mine = [own for own, _ in chat.turns]
    following = sum(a and b for a, b in pairwise(mine))
    return following / sum(mine) if sum(mine) > 1 and not all(mine) else UNKNOWN


def ignored(chat: Chat) -> float:
    """Return the share of the partner's questions without a reaction.

    A reaction is a message of two words or more, or yes or no, that says something new.
    """
    said: set[str] = set()
    missed = []
    for (was_mine, before), (mine, text) in pairwise(chat.turns):
        if was_mine:
            said.add(key(before))
        elif mine and "?" in before:
            missed.append(not _reacts(text, said))
    return sum(missed) / len(missed) if len(missed) > 1 else UNKNOWN


def unknown_words(chat: Chat) -> float:
    """Return the share of the person's words in Latin letters that English does not have."""
    said = [word for text in chat.own for word in words(text) if word.isascii()]
    return sum(not _is_known(word) for word in said) / len(said) if len(said) > 2 else UNKNOWN


def offensive(chat: Chat) -> float:
    """Return the share of the person's messages with an offensive word."""
    return sum(map(is_offensive, chat.own)) / len(chat.own) if chat.own else UNKNOWN


def unconnected(chat: Chat) -> float:
    """Return the share of the person's messages without a word of the partner's last message.

    Stop words are left out. In a good chat most messages have none either, so this raises the score
    and is never a reason: it cannot be above its limit of 1.
    """
    before: set[str] = set()
    apart = []
    for mine, text in chat.turns:
        said = set(nonstop(text))
        if mine and said and before:
            apart.append(not said & before)
        elif not mine:
            before = said
    return sum(apart) / len(apart) if len(apart) > 3 else UNKNOWN


def unscored(chat: Chat) -> float:
    """Return 1 where the person gave no score, 0 where they gave one."""
    return UNKNOWN if chat.is_scored is None else float(not chat.is_scored)


# The limits of the first three are the specification's (CA-P2). The others and all weights are
# ours, set on spam planted in chats; tests/benchmarks/spam_roc measures what they find and mistake.
RULES: Mapping[str, Rule] = {
    "few_exchanges": Rule(exchanges, 3, 6),
    "short_messages": Rule(mean_words, 2, 4),
    "repeated_messages": Rule(repeated, 0.4, 0.1),
    "copied_messages": Rule(copied, 0.4, 0.1),
    "questions_ignored": Rule(ignored, 0.6, 0.2),
    "unknown_words": Rule(unknown_words, 0.5, 0.15),
    "not_waiting": Rule(not_waiting, 0.6, 0.1),
    "offensive_words": Rule(offensive, 0.4, 0.0),
    "unconnected": Rule(unconnected, 1.0, 0.4, weight=0.5),
    "no_score": Rule(unscored, 0.5, 0.0, weight=0.5),
}


class Verdict(NamedTuple):
    """What is odd about a chat: the reasons, and a score that is higher for what is odder."""

    score: float
    reasons: tuple[str, ...]
    flagged: bool


def judge(chat: Chat, rules: Mapping[str, Rule] = RULES) -> Verdict:
    """Return the reasons to doubt a chat, by name, in the order of the rules."""
    score, weight, reasons = 0.0, 0.0, []
    for name, rule in rules.items():
        value = rule.measure(chat)
        if rule.crossed(value):
            weight += rule.weight
            reasons.append(name)
        else:
            score += rule.weight * rule.approach(value) / 2
    return Verdict(score + weight, tuple(reasons), weight >= 1)


def assess(
    messages: MessageTable,
    ratings: RatingTable | None = None,
    *,
    rules: Mapping[str, Rule] = RULES,
) -> pd.DataFrame:
    """Return a row per conversation and person in it: score, flag and reasons.

    Without ratings, or where these name no conversation, the lack of a score is unknown.
    """
    scored = _scored(ratings)
    rows = []
    for (conversation, side), system, turns in _people(placed(messages)):
        is_scored = None if scored is None else conversation in scored
        found = judge(Chat(turns, is_scored), rules)
        rows.append((conversation, system, side, found.score, found.flagged, found.reasons))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"flagged": bool})


def _people(table: pd.DataFrame) -> Iterator[tuple[tuple[str, str], str, list[tuple[bool, str]]]]:
    """Yield each person's side; one who never wrote has the side "" if only a system did."""
    columns = (table[name].astype(str) for name in ("conversation", "side", "system", "text"))
    rows = zip(*columns, table["about"].astype(str), strict=True)
    for conversation, group in groupby(rows, key=itemgetter(0)):
        lines = list(group)
        people = sorted({side for _, side, system, _, _ in lines if system == HUMAN})
        if not people and len({system for _, _, system, _, _ in lines}) > 1:
            continue
        for side in people or [""]:
            turns = [(who == HUMAN and at == side, text) for _, at, who, text, _ in lines]
            yield (conversation, side), lines[0][-1], turns


def _scored(ratings: RatingTable | None) -> set[str] | None:
    if ratings is None or "conversation" not in ratings.columns:
        return None
    return set(ratings["conversation"].astype(str))


def _reacts(text: str, said: set[str]) -> bool:
    given = words(text)
    answers = _length(text) > 1 or any(word in ASSENT | NO for word in given)
    return answers and key(text) not in said


def _length(text: str) -> float:
    """Return the words of a text; of Chinese, Japanese and Korean, half of the letters."""
    joined = len(WITHOUT_SPACES.findall(text))
    return joined / 2 if joined else float(len(words(text)))


@lru_cache(maxsize=1 << 16)
def _is_known(word: str) -> bool:
    from wordfreq import zipf_frequency  # loads its list: only where messages are looked at

    return any(letter.isdigit() for letter in word) or bool(zipf_frequency(word, "en") > 0)
