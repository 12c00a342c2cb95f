"""Tokenizers that metrics name, and n-grams.

`split` and `normalize_answer` are the released ConvAI2 evaluation's (Dinan et al. 2019). These
rules stand in `bots.text.tokens` too, because neither library may import the other; a test holds
both to the same result.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

Tokenizer = Callable[[str], list[str]]
Gram = tuple[str, ...]

_MARKS = re.compile(r"([.,;:!?])")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_STOP = """
a about above after again against all almost along already also although always am among an and
another any anybody anyone anything anywhere are aren't around as at away back be because been
before behind being below between both but by can can't cannot could couldn't did didn't do does
doesn't doing don't done down during each either else enough even ever every everybody everyone
everything everywhere except few for from further get gets getting got had hadn't has hasn't have
haven't having he he'd he'll he's her here hers herself him himself his how however i i'd i'll i'm
i've if in instead into is isn't it it's its itself just least less let let's lot lots many may
maybe me might mine more most much must my myself near neither never no nobody none nor not nothing
now nowhere of off often on once one only onto or other others our ours ourselves out over own per
perhaps quite rather really same shall she she'd she'll she's should shouldn't since so some
somebody someone something sometimes somewhere soon still such than that that's the their theirs
them themselves then there there's these they they'd they'll they're they've this those though
through to together too toward towards under until up upon us usually very was wasn't we we'd we'll
we're we've well were weren't what what's whatever when whenever where wherever whether which while
who who's whoever whole whom whose why will with within without won't would wouldn't yes yet you
you'd you'll you're you've your yours yourself yourselves
"""
STOP = frozenset(_STOP.split())


def split(text: str) -> list[str]:
    """Put spaces around `. , ; : ! ?` and split on white space."""
    return _MARKS.sub(r" \1 ", text).split()


def split_lower(text: str) -> list[str]:
    """Return `split` of the text in lower case: what metrics of generated text count."""
    return split(text.lower())


def normalize_answer(text: str) -> str:
    """Lower-case, turn punctuation into spaces, drop a, an, the, collapse spaces."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation; contractions stay whole."""
    return _WORDS.findall(text.lower().replace("’", "'"))


def nonstop(text: str, stop: frozenset[str] = STOP) -> list[str]:
    """Return the words that are not on the stop list."""
    return [word for word in words(text) if word not in stop]


def key(text: str) -> str:
    """Return what two texts share that differ only in case, punctuation or white space."""
    return "".join(words(text))


def ngrams(tokens: Sequence[str], n: int) -> list[Gram]:
    """Return every run of n tokens, in order."""
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]


def counted(tokens: Sequence[str], n: int) -> Counter[Gram]:
    """Return how often each run of n tokens occurs."""
    return Counter(ngrams(tokens, n))
