"""Repetition of one message in another: the measures of the cross-turn repetition rule.

Source: Adiwardana et al. 2020 (MEENA), section 5: candidates that share long common sub-sequences
with another of the bot's turns are removed. The paper gives no lengths; the thresholds are ours.
Words are compared: marks between them, case and the shape of an apostrophe make no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bots.text.tokens import words


@dataclass(frozen=True)
class RepetitionRule:
    """When two messages are too much alike: a common run of `run` words, or `share` of the
    shorter one in order, if that has `least` words or more."""

    run: int = 5
    share: float = 0.75
    least: int = 4

    def broken(self, one: str, other: str) -> bool:
        """Return whether two messages are too much alike."""
        return self.alike(words(one), words(other))

    def alike(self, left: Sequence[str], right: Sequence[str]) -> bool:
        """Return whether two lists of words are too much alike."""
        shorter = min(len(left), len(right))
        if (Counter(left) & Counter(right)).total() < min(self.run, self.share * shorter):
            return False  # too few words in common, in whatever order
        if longest_run(left, right) >= self.run:
            return True
        return shorter >= self.least and likeness(left, right) >= self.share

    def flagged(self, turns: Sequence[str]) -> list[bool]:
        """Return for each of a speaker's turns whether it repeats an earlier one."""
        return [any(self.broken(turn, old) for old in turns[:n]) for n, turn in enumerate(turns)]


def longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest run of tokens, without gaps, that both have."""
    longest, above = 0, [0] * (len(other) + 1)
    for token in one:
        row = [0]
        for index, each in enumerate(other):
            row.append(above[index] + 1 if each == token else 0)
        longest, above = max(longest, *row), row
    return longest


def longest_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest sequence of tokens that both have in order, with gaps."""
    above = [0] * (len(other) + 1)
    for token in one:
        row = [0]
        for index, each in enumerate(other):
            row.append(above[index] + 1 if each == token else max(above[index + 1], row[-1]))
        above = row
    return above[-1]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of the shorter that the longer has in the same order; 0 if one is empty."""
    shorter = min(len(one), len(other))
    return longest_subsequence(one, other) / shorter if shorter else 0.0


def most_alike(text: str, others: Sequence[str]) -> float:
    """Return the highest likeness of a text with any of the others."""
    tokens = words(text)
    return max((likeness(tokens, words(other)) for other in others), default=0.0)
