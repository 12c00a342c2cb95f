"""Spam rules: reasons to doubt that a person took part in a conversation in earnest, and a score.

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

from analysis.conversations.transcripts import HUMAN, placed
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.lexicons import ASSENT, NO, is_offensive
from analysis.text.tokens import key, nonstop, words

UNKNOWN = float("nan")
WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
COLUMNS = ("conversation", "system", "side", "score", "flagged", "reasons")


class PersonConversation(NamedTuple):
    """One person's conversation: whether each message is theirs, and its text."""

    turns: Sequence[tuple[bool, str]]
    is_scored: bool | None = None

    @property
    def own(self) -> list[str]:
        return [text for mine, text in self.turns if mine]


@dataclass(frozen=True)
class SpamRule:
    """A measure, the limit beyond which it is a reason, and where it starts to count."""

    measure: Callable[[PersonConversation], float]
    limit: float
    start: float
    weight: float = 1.0

    def crossed(self, value: float) -> bool:
        """Return whether the value is beyond the limit, seen from where it starts to count."""
        return value > self.limit if self.start < self.limit else value < self.limit

    def approach(self, value: float) -> float:
        """Return how far the value has come from the start to the limit, 0 to 1."""
        if value != value:
            return 0.0
        return float(np.clip((value - self.start) / (self.limit - self.start), 0.0, 1.0))


def exchanges(chat: PersonConversation) -> float:
    """Return how often the person wrote after the partner, or the partner after the person."""
    mine = [own for own, _ in chat.turns]
    changes = sum(a != b for a, b in pairwise(mine))
    return float((changes + 1) // 2)


def mean_words(chat: PersonConversation) -> float:
    """Return the mean words of the person's messages; two letters of a script without spaces."""
    lengths = [_length(text) for text in chat.own]
    return sum(lengths) / len(lengths) if lengths else UNKNOWN


def repeated(chat: PersonConversation) -> float:
    """Return the share of the person's messages that repeat an earlier one of theirs."""
    keys = [key(text) for text in chat.own]
    return 1 - len(set(keys)) / len(keys) if len(keys) > 1 else UNKNOWN


def copied(chat: PersonConversation) -> float:
    """Return the share of the person's messages that repeat one of the partner's."""
    heard: set[str] = set()
    copies = []
    for mine, text in chat.turns:
        if mine:
            copies.append(key(text) in heard)
        else:
            heard.add(key(text))
    return sum(copies) / len(copies) if len(copies) > 1 else UNKNOWN


def not_waiting(chat: PersonConversation) -> float:
    """Return the share of the person's messages sent before the partner answered the last."""
    mine = [own for own, _ in chat.turns]
    following = sum(a and b for a, b in pairwise(mine))
    return following / sum(mine) if sum(mine) > 1 and not all(mine) else UNKNOWN


def ignored(chat: PersonConversation) -> float:
    """Return the share of the partner's questions without a reaction.

    A reaction is a message of two words or more, or yes or no, that says something new.
    """
    earlier: set[str] = set()
    missed = []
    for (was_mine, before), (mine, text) in pairwise(chat.turns):
        if was_mine:
            earlier.add(key(before))
        elif mine and "?" in before:
            missed.append(not _reacts(text, earlier))
    return sum(missed) / len(missed) if len(missed) > 1 else UNKNOWN


def unknown_words(chat: PersonConversation) -> float:
    """Return the share of the person's words in Latin letters that English does not have."""
    latin = [word for text in chat.own for word in words(text) if word.isascii()]
    return sum(not _is_known(word) for word in latin) / len(latin) if len(latin) > 2 else UNKNOWN


def offensive(chat: PersonConversation) -> float:
    """Return the share of the person's messages with an offensive word."""
    return sum(map(is_offensive, chat.own)) / len(chat.own) if chat.own else UNKNOWN


def unconnected(chat: PersonConversation) -> float:
    """Return the share of the person's messages without a word of the partner's last message.

    Stop words are left out. In a good chat most messages have none either, so this raises the score
    and is never a reason: it cannot be above its limit of 1.
    """
    before: set[str] = set()
    apart = []
    for mine, text in chat.turns:
        content = set(nonstop(text))
        if mine and content and before:
            apart.append(not content & before)
        elif not mine:
            before = content
    return sum(apart) / len(apart) if len(apart) > 3 else UNKNOWN


def unscored(chat: PersonConversation) -> float:
    """Return 1 where the person gave no score, 0 where they gave one."""
    return UNKNOWN if chat.is_scored is None else float(not chat.is_scored)


# The limits of the first three are the specification's (CA-P2). The others and all weights are
# ours, set on spam planted in chats; tests/benchmarks/spam_roc measures what they find and mistake.
RULES: Mapping[str, SpamRule] = {
    "few_exchanges": SpamRule(exchanges, 3, 6),
    "short_messages": SpamRule(mean_words, 2, 4),
    "repeated_messages": SpamRule(repeated, 0.4, 0.1),
    "copied_messages": SpamRule(copied, 0.4, 0.1),
    "questions_ignored": SpamRule(ignored, 0.6, 0.2),
    "unknown_words": SpamRule(unknown_words, 0.5, 0.15),
    "not_waiting": SpamRule(not_waiting, 0.6, 0.1),
    "offensive_words": SpamRule(offensive, 0.4, 0.0),
    "unconnected": SpamRule(unconnected, 1.0, 0.4, weight=0.5),
    "no_score": SpamRule(unscored, 0.5, 0.0, weight=0.5),
}


class SpamVerdict(NamedTuple):
    """Reasons to doubt a conversation, and a score that is higher for stranger ones."""

    score: float
    reasons: tuple[str, ...]
    flagged: bool


def judge(chat: PersonConversation, rules: Mapping[str, SpamRule] = RULES) -> SpamVerdict:
    """Return the reasons to doubt a chat, by name, in the order of the rules."""
    score, weight, reasons = 0.0, 0.0, []
    for name, rule in rules.items():
        value = rule.measure(chat)
        if rule.crossed(value):
            weight += rule.weight
            reasons.append(name)
        else:
            score += rule.weight * rule.approach(value) / 2
    return SpamVerdict(score + weight, tuple(reasons), weight >= 1)


def assess(
    messages: MessageTable,
    ratings: RatingTable | None = None,
    *,
    rules: Mapping[str, SpamRule] = RULES,
) -> pd.DataFrame:
    """Return a row per conversation and person in it: score, flag and reasons.

    Without ratings, or where these name no conversation, the lack of a score is unknown.
    """
    scored = _scored(ratings)
    rows = []
    for (conversation, side), system, turns in _people(placed(messages)):
        is_scored = None if scored is None else conversation in scored
        found = judge(PersonConversation(turns, is_scored), rules)
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
    if "message_seq" in ratings.columns:  # a label of one message is no score of the whole
        whole = ratings["message_seq"].fillna("").astype(str) == ""
        ratings = RatingTable(ratings[whole])
    return set(ratings["conversation"].astype(str))


def _reacts(text: str, earlier: set[str]) -> bool:
    reply = words(text)
    answers = _length(text) > 1 or any(word in ASSENT | NO for word in reply)
    return answers and key(text) not in earlier


def _length(text: str) -> float:
    """Return the words of a text; of Chinese, Japanese and Korean, half of the letters."""
    joined = len(WITHOUT_SPACES.findall(text))
    return joined / 2 if joined else float(len(words(text)))


@lru_cache(maxsize=1 << 16)
def _is_known(word: str) -> bool:
    from wordfreq import zipf_frequency  # loads its list: only where messages are looked at

    return any(letter.isdigit() for letter in word) or bool(zipf_frequency(word, "en") > 0)
