"""Sentiment of a sentence by a lexicon, and the domain of a dialogue by keywords.

Source: the paper of Chikai et al. (NLP4CONVAI 2019) labels a reply by the majority of the words of
its sentiment lexicon, a tie being neutral; its lexicon of 1,387 words and its domains (with gold
labels) are not published, so the lists here are our own and small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from bots.text.tokens import words

Sentiment = Literal["positive", "negative", "neutral"]
SENTIMENTS: tuple[Sentiment, ...] = ("positive", "negative", "neutral")

_POSITIVE = """
amazing awesome beautiful best better bright calm cheerful clean comfortable cool cozy delicious
delight easy enjoy enjoyed enjoying excellent excited exciting fantastic favorite fine fresh friend
friendly fun funny gentle glad good gorgeous grateful great happy healthy helpful hope hug kind
laugh like liked love loved lovely loves lucky nice peaceful perfect pleasant pleased prefer pretty
proud quiet relax relaxing safe smile sweet tasty thank thanks warm welcome win won wonderful
wow yay yummy
"""
_NEGATIVE = """
afraid alone angry annoying anxious awful bad bored boring broke broken cold cry cried dead
difficult dirty dislike dull exhausted fail failed fear gross hard hate hated hates horrible hurt
hurts ill
lonely lose losing lost mad mean mess messy miss missed nasty nervous noisy pain poor problem sad
scared scary shame sick slow sorry stress stressed stupid terrible tired trouble ugly unhappy upset
weak worried worry worse worst wrong
"""
POSITIVE = frozenset(_POSITIVE.split())
NEGATIVE = frozenset(_NEGATIVE.split())

_DOMAINS = {
    "food": """
    bake bread cake cheese coffee cook cooking dinner eat food kitchen meal pizza recipe restaurant
    soup tea vegetable breakfast lunch garden
    """,
    "animals": "animal bird cat cats dog dogs horse horses fish farm pet pets puppy kitten rabbit",
    "work": """
    boss bus company drive driver job nurse office school shift student study teach teacher truck
    university work working shop
    """,
    "leisure": """
    band beach bike book books camping chess concert dance film game games guitar hike hiking movie
    music paint piano play read run running sail sing song sport swim travel trip
    """,
}
DOMAINS = {name: frozenset(listed.split()) for name, listed in _DOMAINS.items()}
OTHER = "other"


def sentiment(text: str) -> Sentiment:
    """Return the sentiment of most words of a text on the two lists; a tie, or none, is neutral."""
    found = words(text)
    lead = sum(each in POSITIVE for each in found) - sum(each in NEGATIVE for each in found)
    return "positive" if lead > 0 else "negative" if lead < 0 else "neutral"


def domain(texts: Iterable[str]) -> str:
    """Return the domain of most words, the first of equals; "other" where none has one."""
    counted: Counter[str] = Counter()
    for text in texts:
        for word in words(text):
            counted.update(name for name, listed in DOMAINS.items() if word in listed)
    most = max(DOMAINS, key=lambda name: counted[name])
    return most if counted[most] else OTHER
