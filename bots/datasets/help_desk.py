"""Synthetic help-desk chats of customers with agents, drawn by a seed.

They stand in for the proprietary data of ASAPP's dual encoder (2019; NLP4CONVAI): many agent
replies are used again and again there, so that a whitelist of frequent ones covers a good part.
Ours are phrases of our own put together: replies that any chat may have, replies of one issue, and
some that name the customer's case and occur once. The source is how many chats, or how many:seed
(default 200:0). The agent is one's own side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from bots.dialogue import Dialogue, Utterance
from bots.line_files import InvalidData

DEFAULT = "200:0"
MOST = 1_000_000


@dataclass(frozen=True)
class Issue:
    """Phrases of customers of one kind, and of the agents who help them."""

    things: tuple[str, ...]
    complaints: tuple[str, ...]
    asks: tuple[str, ...]
    answers: tuple[str, ...]
    fixes: tuple[str, ...]


ISSUES = (
    Issue(
        ("router", "modem", "wireless box", "cable box", "range extender"),
        (
            "My {thing} has had no connection since {day}.",
            "The {thing} keeps blinking {color} and nothing loads.",
            "I can't get online, the {thing} just restarts all the time.",
        ),
        (
            "Which lights are on at the front of it?",
            "Have you tried turning it off for a minute?",
            "Is the cable plugged in at both ends?",
        ),
        ("Only the {color} one.", "Yes, twice already.", "I think so, it looks tight."),
        (
            "Please hold the reset button for ten seconds.",
            "There is an outage in your area, it should be over by {day}.",
            "I have sent a fresh signal to your {thing}, case {number}.",
            "A technician can come on {day} between {hour} and {later}.",
        ),
    ),
    Issue(
        ("bill", "invoice", "statement", "monthly charge"),
        (
            "My {thing} is {amount} dollars higher than last month.",
            "There is a fee of {amount} dollars on my {thing} that I don't know.",
            "Why was I charged twice on {day}?",
        ),
        (
            "Can you tell me the account number?",
            "Could you confirm the name on the account?",
            "Which month are you looking at?",
        ),
        ("It's {number}.", "It is under my wife's name.", "The one from {day}."),
        (
            "I have taken the fee off your account.",
            "Your promotion ended, which is why the price went up.",
            "A credit of {amount} dollars will be on your next {thing}.",
            "You will get the money back within five business days.",
        ),
    ),
    Issue(
        ("phone", "tablet", "laptop", "headset", "smart watch"),
        (
            "The {thing} I ordered on {day} has not arrived.",
            "I got the wrong {thing}, I wanted the {color} one.",
            "The screen of my new {thing} is broken.",
        ),
        (
            "Can I have your order number?",
            "Would you like a replacement or a refund?",
            "Is the box still sealed?",
        ),
        ("Order {number}.", "A replacement, please.", "No, I opened it to look."),
        (
            "A new {color} {thing} is on its way, order {number}.",
            "I have sent you a return label by email.",
            "The courier will try again on {day}.",
            "Your refund of {amount} dollars is approved.",
        ),
    ),
    Issue(
        ("password", "user name", "PIN", "security question"),
        (
            "I forgot my {thing} and the link does not work.",
            "It says my {thing} is wrong, but I know it is right.",
            "How do I change my {thing}?",
        ),
        (
            "Can you still open your mailbox?",
            "Could you confirm the last four digits of your customer number?",
            "Are you on the website or in the app?",
        ),
        ("Yes, I do.", "They are {number}.", "In the app, since {day}."),
        (
            "I have sent you a link to choose a new one.",
            "Please clear the cache and try again.",
            "Your account was locked, it is open again now.",
            "Use the code {number} within the next hour.",
        ),
    ),
)
GREETINGS = (
    "Hi, thanks for reaching out, how can I help you today?",
    "Hello, you are chatting with our support team.",
    "Thank you for contacting us, my name is {name}.",
)
SORRY = (
    "I'm sorry to hear that.",
    "I'm sorry for the trouble, let me look into it.",
    "I understand, I will be glad to help you with this.",
    "Let me check that for you, one moment please.",
)
WAITING = ("Okay.", "Sure, I'll wait.", "Please hurry, I'm at work.", "Thanks.")
WORKED = ("Great, that did it!", "Thank you so much.", "Perfect, thanks.", "Okay, I'll try that.")
ELSE = ("Is there anything else I can help you with?", "Can I do anything else for you today?")
NO = ("No, that's all.", "That was it, thanks.", "No, have a good day.")
GOODBYE = (
    "Have a great day!",
    "Thank you for being a customer, goodbye!",
    "You're welcome, take care!",
)
FILLERS = {
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "last weekend"),
    "color": ("red", "green", "orange", "black", "silver", "white"),
    "name": ("Ana", "Ben", "Carla", "Dev", "Erin", "Farid", "Gus", "Hana"),
    "hour": ("8", "9", "10", "11"),
    "later": ("noon", "2", "4", "6"),
}


def read(source: str) -> list[Dialogue]:
    """Return this many chats, drawn by the seed. Raises InvalidData if the number is wrong."""
    many, _, seed = (source or DEFAULT).partition(":")
    if not (many.isdigit() and 0 < int(many) <= MOST and (seed or "0").isdigit()):
        raise InvalidData(
            [f"help_desk:{source}: must be how many chats (1 to {MOST}), or how many:seed"]
        )
    chance = Random(int(seed or 0))  # noqa: S311
    return [_chat(str(index), chance) for index in range(1, int(many) + 1)]


def _chat(name: str, chance: Random) -> Dialogue:
    issue = chance.choice(ISSUES)
    filled = {"thing": chance.choice(issue.things)}
    turns = (_utterance(line, filled, chance) for line in _lines(issue, chance))
    return Dialogue(name, tuple(turns))


def _lines(issue: Issue, chance: Random) -> Iterator[tuple[bool, str]]:
    """Yield whether the agent speaks, and a phrase to fill in."""
    yield True, _frequent(GREETINGS, chance)
    yield False, chance.choice(issue.complaints)
    yield True, _frequent(SORRY, chance)
    yield False, chance.choice(WAITING)
    for ask in chance.sample(range(len(issue.asks)), chance.randint(1, 2)):
        yield True, issue.asks[ask]
        yield False, issue.answers[ask]
    yield True, chance.choice(issue.fixes)
    yield False, chance.choice(WORKED)
    yield True, _frequent(ELSE, chance)
    yield False, chance.choice(NO)
    yield True, _frequent(GOODBYE, chance)


def _frequent(phrases: tuple[str, ...], chance: Random) -> str:
    """Draw a phrase, the first most often: the k-th with a weight of 1/k."""
    weights = [1 / index for index in range(1, len(phrases) + 1)]
    return chance.choices(phrases, weights)[0]


def _utterance(line: tuple[bool, str], filled: dict[str, str], chance: Random) -> Utterance:
    agent, phrase = line
    for slot, fillers in FILLERS.items():
        filled[slot] = chance.choice(fillers)
    filled["number"] = str(chance.randint(1000, 9999))
    filled["amount"] = str(chance.randint(3, 60))
    return Utterance("self" if agent else "partner", phrase.format(**filled))
