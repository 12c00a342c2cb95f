"""Pairs of message and reply that a bot may learn: the rules of a product's index.

Source: the Ruuh paper of NLP4CONVAI 2019, section 4: pairs are dropped whose response has names,
e-mail addresses, phone numbers, URLs or hashtags; adult, political, ethnic or religious, or violent
content; or what a bot must not promise ("I will meet you ..."). Several replies to one message are
kept on purpose. It prints no lists: those here are short and our own.
"""

from __future__ import annotations

import re

from bots.guards.filters import unsafe
from bots.text.tokens import words

_NAMES = """
adam alex alice amanda amy andrea andrew anna anthony ashley barbara ben brian carol charles chris
christine daniel david deborah dennis donna edward elizabeth emily emma eric frank gary george
greg heather helen jack jacob james jane jason jeff jennifer jessica jim joe john jonathan joseph
julia karen kate kathy kelly ken kevin kim laura linda lisa margaret maria mary matthew megan
melissa michael michelle mike nancy nathan nicole pamela patricia patrick paul peter rachel rebecca
richard robert ron ruth ryan samantha sandra sarah scott sharon stephanie stephen steve steven
susan thomas tim tom tony tyler william
"""
NAMES = frozenset(_NAMES.split())
_RULES = {
    "a hashtag": r"(?:^|\s)#\w",
    "a name": r"\b(?:my name is|my name's|i am called|i'm called)\b",
    "politics": r"\b(?:politic\w*|elections?|president|democrats?|republicans?|senators?|congress|"
    r"parliament|trump|obama|vot(?:e|ed|ing) for)\b",
    "ethnicity or religion": r"\b(?:muslims?|jews?|jewish|christians?|hindus?|buddhists?|"
    r"catholics?|islam|church|mosque|temple|pray(?:er|ing)?|god|jesus|allah|race|ethnic\w*|immigrants?)\b",
    "violence": r"\b(?:kill(?:ed|ing)?|murder\w*|guns?|shoot(?:ing)?|stab\w*|bombs?|weapons?)\b",
    "a promise": r"\b(?:i will|i'll|i'm going to|i am going to|let us|let's|"
    r"we (?:can|could|should)) (?:\w+ )?"
    r"(?:meet|visit|call|marry|pick you|come (?:over|to you)|send you|give you|buy you)\b",
}
RULES = {reason: re.compile(pattern) for reason, pattern in _RULES.items()}


def unfit(reply: str) -> str | None:
    """Return the reason why a reply is unfit for an index, or None."""
    plain = reply.lower().replace("’", "'")
    found = (reason for reason, pattern in RULES.items() if pattern.search(plain))
    if reason := next(found, None) or unsafe(reply):
        return reason
    return "a name" if any(word.split("'")[0] in NAMES for word in words(reply)) else None
