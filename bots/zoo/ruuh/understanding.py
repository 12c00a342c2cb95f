"""Query understanding before anything is looked up: an offense, a mood or an intent, with answers.

Source: the Ruuh paper of NLP4CONVAI 2019, section 3: query understanding (offence, the emotions
happy, sad and angry, intents) answers with what editors wrote. The paper prints neither lists nor
answers; the patterns and every answer here are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bots.dialogue import Utterance
from bots.guards.filters import unsafe
from bots.text.tokens import key
from bots.zoo.ruuh.offenses import offends

OFFENCE = "offence"
_PATTERNS: Mapping[str, str] = {
    "greeting": r"^(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening))(?: there)?$",
    "farewell": r"^(?:bye|goodbye|see (?:you|ya)|good night|talk to you later)\b",
    "thanks": r"^(?:thanks|thank you|thx|cheers)\b",
    "love": r"\bi (?:love|adore) you\b|\bmarry me\b|\bbe my (?:girl|boy)friend\b",
    "praise": r"\byou(?:'re| are) (?:so |very |really )*(?:nice|kind|sweet|funny|smart|great)\b",
    "joke": r"\btell me (?:a|another) joke\b",
    "sad": r"\bi(?:'m| am| feel) (?:so |very |really |feeling )*"
    r"(?:sad|down|lonely|depressed|upset|unhappy|heartbroken)\b",
    "angry": r"\bi(?:'m| am| feel) (?:so |very |really |feeling )*(?:angry|furious|mad|annoyed)\b",
    "happy": r"\bi(?:'m| am| feel) (?:so |very |really |feeling )*"
    r"(?:happy|glad|excited|thrilled|delighted)\b",
}
INTENTS = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

EDITORIAL: Mapping[str, tuple[str, ...]] = {
    OFFENCE: (
        "I would rather not talk like that. What else is on your mind?",
        "Let's keep it friendly. How is your day going?",
        "That is not something I want to go on with. Tell me what you enjoy.",
    ),
    "greeting": ("Hello! How is your day going?", "Hi there! What are you up to?"),
    "farewell": ("Goodbye! It was nice to talk to you.", "Take care, see you soon!"),
    "thanks": ("You are welcome!", "Any time!"),
    "love": ("That is kind of you. What do you like doing best?", "You are making me blush!"),
    "praise": ("Thank you, so are you!", "That is nice to hear."),
    "joke": (
        "Why did the bicycle fall over? It was two tired.",
        "I had a joke about an elevator, but it works on so many levels.",
    ),
    "sad": ("I am sorry to hear that. Do you want to tell me about it?", "That sounds hard."),
    "angry": ("That does sound annoying. What happened?", "I see why that would make you cross."),
    "happy": ("That is good to hear! What happened?", "I am happy for you!"),
}


@dataclass(frozen=True)
class Understood:
    """The meaning of a message, and an editor's replies to it."""

    intent: str
    answer: str


def understand(message: str) -> str | None:
    """Return the meaning of a message, or None where editors do not answer it."""
    plain = " ".join(re.sub(r"[^\w' ]+", " ", message.lower().replace("’", "'")).split())
    if unsafe(message) or offends(plain):
        return OFFENCE
    found = (name for name, pattern in INTENTS.items() if pattern.search(plain))
    return next(found, None)


def editorial(history: Sequence[Utterance]) -> Understood | None:
    """Answer the last message as editors would: with a new reply, or not at all.

    An offense always gets an answer, if need be one given before.
    """
    intent = understand(history[-1].text) if history else None
    if intent is None:
        return None
    earlier = {key(turn.text) for turn in history}
    fresh = [text for text in EDITORIAL[intent] if key(text) not in earlier]
    if not fresh and intent != OFFENCE:
        return None
    return Understood(intent, (fresh or EDITORIAL[intent])[0])
