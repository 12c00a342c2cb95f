"""Porter stems of English words (1980, Program 14, 130-137).

For METEOR's second stage and, in place of lemmas, for THRED's echo index. Our own, because
snowballstemmer's Porter stems words of two letters ("is" to "i") and undoubles fewer endings
("trekking"), which changes METEOR, and takes longer; nltk, the oracle of the tests, is for
development only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

Condition = Callable[[str], bool]
Rules = Sequence[tuple[str, str]]

STEP_2: Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
STEP_3: Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
STEP_4 = [
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "ion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
]


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < 3:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, STEP_2)
    word = _replaced(word, STEP_3)
    return _tidied(_cut(word))


def _consonants(word: str) -> list[bool]:
    found: list[bool] = []
    for index, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and index > 0 and found[index - 1])
        found.append(not vowel)
    return found


def _measure(word: str) -> int:
    """Return how often consonants follow vowels: m in [C](VC)^m[V]."""
    kinds = _consonants(word)
    return sum(here and not before for before, here in pairwise(kinds))


def _has_vowel(word: str) -> bool:
    return not all(_consonants(word))


def _is_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _is_short(word: str) -> bool:
    """Tell whether it ends consonant, vowel, consonant, the last not w, x or y."""
    return _consonants(word)[-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    for ending, kept in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + kept
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if word.endswith(ending):
            return _restored(base) if _has_vowel(base) else word
    return word


def _restored(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _is_double(base) and base[-1] not in "lsz":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _is_short(base) else base


def _replaced(word: str, rules: Rules) -> str:
    for ending, new in sorted(rules, key=lambda rule: -len(rule[0])):
        if word.endswith(ending):
            base = word.removesuffix(ending)
            return base + new if _measure(base) > 0 else word
    return word


def _cut(word: str) -> str:
    for ending in sorted(STEP_4, key=len, reverse=True):
        if word.endswith(ending):
            base = word.removesuffix(ending)
            fits = _measure(base) > 1 and (ending != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _is_short(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
