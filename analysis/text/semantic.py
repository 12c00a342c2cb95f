"""Semantic distance of a reply from what it answers, penalized for dull phrases.

THRED (Dziri et al. 2019): `P (1 - cos(e(utterance), e(reply)))` with
`P = 1 + ln((2 + L') / (2 + L''))`; L' counts the reply's words without stop words and punctuation,
L'' those of its part that is not dull. Lower is more coherent. The paper removes 60 dull phrases
without printing them all; these 60 are ours.
"""

from __future__ import annotations

import math
import re

from analysis.stats.intervals import Floats
from analysis.text.tokens import Tokenizer, nonstop, words
from analysis.text.vectors import cosine

_PHRASES = """
i don't know | i do not know | i'm not sure | i am not sure | i have no idea | i don't think so |
i think so | i guess so | i hope so | i don't understand | i don't get it | what do you mean |
what are you talking about | that's a good point | good point | that's true | that's right |
you're right | you are right | i agree with you | i agree | that's a good idea | good idea |
that's great | that's good | that's nice | that's cool | that sounds good | sounds good |
sounds great | that's awesome | that's funny | that's interesting | how interesting | oh my god |
thank you very much | thank you | thanks a lot | you're welcome | no problem | no worries |
of course | i see what you mean | i see | i know right | me too | me neither | same here |
not really | not at all | maybe you're right | it depends | who knows | what's that | are you sure |
are you serious | i'm sorry | i like it | i love it | i want to
"""
DULL = tuple(" ".join(phrase.split()) for phrase in _PHRASES.split("|"))
_DULL = re.compile("|".join(rf"\b{re.escape(p)}\b" for p in sorted(DULL, key=len, reverse=True)))


def penalty(full: int, lively: int) -> float:
    """Return P from L' and L''."""
    return 1 + math.log((2 + full) / (2 + lively))


def penalty_of(reply: str, content: Tokenizer = nonstop) -> float:
    """Return P of a reply; the dull phrases are English whatever its words."""
    return penalty(len(content(reply)), len(content(without_dull(reply))))


def without_dull(reply: str) -> str:
    """Return the words of the reply without its dull phrases."""
    return " ".join(_DULL.sub(" ", " ".join(words(reply))).split())


def distance(utterance: Floats, reply: Floats, factor: float) -> float:
    """Return the penalized distance of two vectors."""
    return factor * (1 - cosine(utterance, reply))
