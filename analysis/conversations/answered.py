"""Questions whose answer the other side had already given, and turns that ask or answer.

ConvAI2 (Dinan et al. 2019, section 5) prints one: "what do you do for a living?" after "i work on
computers". The rules are ours, for English; any function of (question, messages of the other side
before it) can take their place. A question is taken as answered where

- it, in the same words, was put before by the same side and answered by a message (any language;
  not "and you?", which asks something else each time);
- it is about a topic of the list below, and the other side has stated that topic of itself;
- it asks "do you ...", "are you ..." or for "your favorite ...", and the other side has said "I
  ..." with all words of the question that are not stop words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from analysis.text.questions import questions
from analysis.text.stemming import stem
from analysis.text.tokens import key, nonstop, words

Answered = Callable[[str, Sequence[str]], bool]

_RELATIVE = "mom|mother|dad|father|brother|sister|son|daughter|kids?|child(?:ren)?"
_PETS = "dogs?|cats?|pets?|puppy|puppies|kittens?|birds?|fish|horses?|hamsters?|rabbits?"
# What a question about a topic looks like, and a statement of oneself that answers it.
_TOPICS = (
    (
        r"what (?:do|did) you do (?:for (?:a living|work|money|your job)|professionally)\b"
        r"|what (?:is|'s) your (?:job|profession|occupation|work)\b"
        r"|what (?:kind|sort|type) of (?:work|job)\b|where do you work\b|what do you work\b"
        r"|(?:do you (?:have a job|work)|are you employed)\b|^\W*what do you do\W*$",
        r"\bi (?:\w+ )?(?:work|worked) (?:at|as|in|on|for|with|from)\b"
        r"|\bi(?: am|'m| was) (?:\w+ ){0,3}(?:teacher|nurse|doctor|lawyer|engineer|student"
        r"|programmer|developer|artist|writer|chef|cook|mechanic|driver|musician|accountant"
        r"|electrician|plumber|farmer|waiter|waitress|librarian|veterinarian|vet|model|actor"
        r"|police officer|soldier|pilot|receptionist|cashier|manager|secretary|instructor"
        r"|firefighter|unemployed|retired|carpenter|dancer|photographer|therapist)\b"
        r"|\bmy (?:job|profession|occupation) is\b|\bi teach\b|\bi(?: am|'m) a \w+ for a living\b",
    ),
    (
        r"what(?: is|'s) your name\b|what should i call you\b|who are you\b",
        r"\bmy name(?: is|'s)\b|\b(?:call me|i(?: am|'m) called)\b",
    ),
    (
        r"how old are you\b|what(?: is|'s) your age\b",
        r"\bi(?: am|'m) \w+(?:[- ]\w+)? years? old\b|\bi(?: am|'m) (?:\d\d)\b|\bi just turned \d",
    ),
    (
        r"where (?:are you from|do you live|are you living|did you grow up|do you come from)\b",
        r"\bi(?: am|'m) from\b|\bi (?:\w+ )?(?:live|grew up|come) (?:in|on|from|near|with)\b",
    ),
    (
        r"(?:do you have|have you got|got|have) (?:any |a |some )?pets?\b",
        rf"\b(?:i (?:have|own|'ve got)|i've|my) (?:\w+ ){{0,3}}(?:{_PETS})\b"
        r"|\bi do ?n[o']t have (?:any )?pets\b|\bno pets\b",
    ),
    (
        r"(?:do you have|have you got|got) (?:any |a )?(?:kids|children|family|brothers|sisters"
        r"|siblings)\b",
        rf"\b(?:i have|i've|my) (?:\w+ ){{0,3}}(?:{_RELATIVE})\b"
        r"|\bi do ?n[o']t have (?:any )?kids\b",
    ),
    (
        r"are you (?:married|single|dating)\b"
        r"|do you have a (?:husband|wife|girlfriend|boyfriend)\b",
        r"\bmy (?:husband|wife|girlfriend|boyfriend|partner|fiance)\b|\bi(?: am|'m) (?:not )?"
        r"(?:married|single|divorced|engaged)\b",
    ),
    (
        r"what (?:do you (?:like to )?do (?:for fun|in your (?:free|spare) time)|are your hobbies"
        r"|is your hobby)\b|(?:do you have|have you got|got) any hobbies\b|what do you enjoy\b",
        r"\bi (?:\w+ )?(?:like|love|enjoy) to \w+|\bi (?:\w+ )?(?:like|love|enjoy) \w+ing\b"
        r"|\bmy (?:favorite )?hobb(?:y|ies)\b",
    ),
)
TOPICS = tuple((re.compile(one), re.compile(other)) for one, other in _TOPICS)
_SHARED = re.compile(r"^(?:(?:so|and|oh|but) )?(?:do|are|have|were) you\b|\byour favou?rite\b")
ELLIPTIC = frozenset("and what how about you u your yours so who why".split())  # noqa: SIM905
_OF_ONESELF = re.compile(r"\b(?:i|i'm|i've|my)\b")
_CLAUSE = re.compile(r"[.!?;\n]+")
_EMPTY = frozenset("favorite favourite kind sort type thing things lot today tonight".split())  # noqa: SIM905


def is_answered(question: str, before: Sequence[str]) -> bool:
    """Return whether messages of the other side answer a question before it is put."""
    plain = _plain(question)
    clauses = [_plain(part) for text in before for part in _statements(text)]
    for about, stated in TOPICS:
        if about.search(plain):
            return any(stated.search(clause) for clause in clauses)
    wanted = _content(question)
    if not _SHARED.search(plain) or not wanted:
        return False
    own = (clause for clause in clauses if _OF_ONESELF.search(clause))
    return any(wanted <= _content(clause) for clause in own)


def repeated(
    turns: Sequence[tuple[bool, str]], answered: Answered = is_answered
) -> list[tuple[int, int]]:
    """Return, per turn of one's own, its questions and how many were already answered.

    `turns` has (own, text) of a conversation, in order.
    """
    heard: list[str] = []
    put: dict[str, int] = {}  # question to the other side's messages when it was put
    found = []
    for own, text in turns:
        if not own:
            heard.append(text)
            continue
        asks = questions(text)
        again = [put.get(key(each), len(heard)) < len(heard) for each in asks]
        known = [twice or answered(each, heard) for twice, each in zip(again, asks, strict=True)]
        put |= {key(each): len(heard) for each in asks if not set(words(each)) <= ELLIPTIC}
        found.append((len(asks), sum(known)))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower().replace("’", "'")).strip()


def _statements(text: str) -> list[str]:
    asks = set(questions(text))
    return [part for part in _CLAUSE.split(_without(text, asks)) if part.strip()]


def _without(text: str, asks: set[str]) -> str:
    for each in asks:
        text = text.replace(each, "\n")
    return text


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in nonstop(text) if word not in _EMPTY)
