"""Questions in a text, told by their mark or by a question word.

Question words are English (ConvAI2, Dinan et al. 2019, section 3.2.3); marks are those of Latin,
full-width, Arabic and Ethiopic type.
"""

from __future__ import annotations

import re

BEGINS = re.compile(r"\W*(?:who|what|when|where|why|how)\b", re.IGNORECASE)
MARKS = "?？؟፧"
_SENTENCE = re.compile(rf"[^.!{MARKS}。！\n]+[.!{MARKS}。！]*")


def begins(text: str) -> bool:
    """Return whether a text begins with a question word."""
    return BEGINS.match(text) is not None


def has_mark(text: str) -> bool:
    """Return whether a text has a question mark."""
    return any(mark in text for mark in MARKS)


def is_question(text: str) -> bool:
    """Return whether a text has a question mark or begins with a question word."""
    return has_mark(text) or begins(text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text with their marks; one that is marks only is none."""
    return [part.strip() for part in _SENTENCE.findall(text) if any(map(str.isalnum, part))]


def questions(text: str) -> list[str]:
    """Return the sentences of a text that ask."""
    return [sentence for sentence in sentences(text) if is_question(sentence)]


def has_statement(text: str) -> bool:
    """Return whether a text has a sentence that does not ask."""
    return any(not is_question(sentence) for sentence in sentences(text))
