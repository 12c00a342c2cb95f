"""Words: tokenizers by the names the specification gives them, and text fit to be shown.

`split` and `normalize_answer` are the released ConvAI2 evaluation's; `nonstop` is what the persona
overlap rules count.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

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


@lru_cache(maxsize=1 << 16)  # replies are compared with many others
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
    """Return a key that texts share if they differ only in case, punctuation or white space."""
    return "".join(words(text))


def word_count(text: str) -> int:
    """Count words as the protocols do: separated by white space."""
    return len(text.split())


def display(text: str) -> str:
    """Detokenize and capitalize, as PERSONA-CHAT's evaluation did before people saw a message."""
    text = re.sub(r"\s+([.,?!;:])", r"\1", " ".join(text.split()))
    text = re.sub(r"\b(\w+) (n't|'(?:s|m|re|ve|ll|d)\b)", r"\1\2", text)
    text = re.sub(r"\bi\b(?!\.\w)", "I", text)
    return re.sub(r"(^|(?<!\.)[.?!] )([a-z])", lambda found: found[1] + found[2].upper(), text)
