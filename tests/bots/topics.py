"""Dialogues in which a reply shares its topic, but no telling word, with what it answers.

Or with the line of the persona that it is about (`about_lives`).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bots import Dialogue, Utterance
from bots.bot import Ranker

TOPICS = 8


def about_topics(number: int, seed: int) -> list[Dialogue]:
    """Make questions of a topic's words, answered in other words of that topic."""
    chance = Random(seed)
    found = []
    for place in range(number):
        topic = place % TOPICS
        asked = " ".join(f"ask{topic}x{chance.randrange(5)}" for _ in range(4))
        given = " ".join(f"say{topic}x{chance.randrange(5)}" for _ in range(4))
        turns = (Utterance("partner", f"do you {asked}"), Utterance("self", f"yes {given}"))
        found.append(Dialogue(str(place), turns))
    return found


def about_lives(number: int, seed: int) -> list[Dialogue]:
    """Make personas of four topics; the partner asks about one, in words that are no reply's.

    A line tells what is so in words of its own, as a revised persona does.
    """
    chance = Random(seed)
    found = []
    for place in range(number):
        known = {topic: chance.randrange(5) for topic in chance.sample(range(TOPICS), 4)}
        lines = [f"i tell{t}x{each} note{t}x{chance.randrange(3)}" for t, each in known.items()]
        topic = chance.choice(list(known))
        asked = " ".join(f"ask{topic}x{chance.randrange(5)}" for _ in range(2))
        given = f"yes i say{topic}x{known[topic]} too"
        turns = (Utterance("partner", f"do you {asked} like"), Utterance("self", given))
        found.append(Dialogue(str(place), turns, tuple(lines)))
    return found


def auc(bot: Ranker, test: Sequence[Dialogue]) -> float:
    """Return the share of right replies that are above a wrong one, of another topic."""
    wins, compared = 0.0, 0
    for place, dialogue in enumerate(test):
        wrong = [each.turns[1].text for i, each in enumerate(test) if (i - place) % TOPICS]
        true, *others = bot.rank((), dialogue.turns[:1], [dialogue.turns[1].text, *wrong])
        wins += sum((true > other) + 0.5 * (true == other) for other in others)
        compared += len(others)
    return wins / compared
