"""Word overlap of a prediction with its references: F1, ROUGE and METEOR.

Each function takes tokens and returns a number from 0 to 1; with several references, the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from analysis.text.stemming import stem
from analysis.text.tokens import Tokenizer, counted, normalize_answer

Tokens = Sequence[str]


def best(
    score: Callable[[Tokens, Tokens], float], response: Tokens, golds: Sequence[Tokens]
) -> float:
    """Return the best score over the references."""
    return max(score(response, gold) for gold in golds)


def harmonic(precision: float, recall: float) -> float:
    """Return F1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def normalized(text: str) -> list[str]:
    """Return the words of `normalize_answer`."""
    return normalize_answer(text).split()


def word_f1(response: str, golds: Sequence[str], words: Tokenizer = normalized) -> float:
    """Return ConvAI2's F1: multiset overlap of `normalize_answer` words, best over references."""
    return best(_multiset_f1, words(response), [words(gold) for gold in golds])


def rouge_n(response: Tokens, gold: Tokens, n: int = 2) -> float:
    """Return ROUGE-n F1 (Lin 2004, section 2)."""
    here, there = counted(response, n), counted(gold, n)
    common = (here & there).total()
    return harmonic(common / here.total(), common / there.total()) if common else 0.0


def rouge_l(response: Tokens, gold: Tokens) -> float:
    """Return ROUGE-L F1: of the longest common subsequence (Lin 2004, section 3)."""
    common = longest_common(response, gold)
    return harmonic(common / len(response), common / len(gold)) if response and gold else 0.0


def longest_common(one: Tokens, other: Tokens) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for token in one:
        before = 0
        for index, each in enumerate(other, start=1):
            above = row[index]
            row[index] = before + 1 if token == each else max(above, row[index - 1])
            before = above
    return row[-1]


def meteor(response: Tokens, gold: Tokens) -> float:
    """Return METEOR (Banerjee & Lavie 2005) by exact words and stems, without WordNet's synonyms.

    Fmean weighs recall nine times; the penalty is .5 (chunks / matches)^3. Words are aligned in
    two stages, exact then stem; within a stage the nearest free place after the last one is taken.
    """
    pairs = _aligned(response, gold)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(response), len(pairs) / len(gold)
    fmean = 10 * precision * recall / (recall + 9 * precision)
    chunks = 1 + sum(
        there != before_there + 1 or here != before_here + 1
        for (before_here, before_there), (here, there) in pairwise(pairs)
    )
    return fmean * (1 - 0.5 * (chunks / len(pairs)) ** 3)


def _aligned(response: Tokens, gold: Tokens) -> list[tuple[int, int]]:
    """Return which word of one is matched with which of the other, in order of the first."""
    pairs: dict[int, int] = {}
    for form in (str, stem):
        free = [index for index in range(len(gold)) if index not in pairs.values()]
        forms = {index: form(gold[index]) for index in free}
        for here, word in enumerate(response):
            if here in pairs:
                continue
            wanted = form(word)
            after = pairs.get(here - 1, -1) + 1
            fitting = [index for index, each in forms.items() if each == wanted]
            if fitting:
                index = min(fitting, key=lambda each: (each < after, each))
                pairs[here] = index
                del forms[index]
    return sorted(pairs.items())


def _multiset_f1(response: Tokens, gold: Tokens) -> float:
    return rouge_n(response, gold, n=1)
