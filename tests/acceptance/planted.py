"""Planted truth for writers: six things that may be asked about, each with the one right answer.

Apart because the checks of it use it too. A question is an opening, a thing and an ending. The
combinations that are tested are trained with no bot, and every thing is in as many of them: who
always says the same is right in one of six. The interval is that of Clopper and Pearson (1934).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from scipy.stats import binomtest

from bots import Dialogue, Ranker, Trainable, Utterance, make_bot
from bots.bot import BatchBot
from bots.text.tokens import key

ANSWERS = {
    "bread": "the bakery opens at six .",
    "cats": "mine sleep on the sofa .",
    "jazz": "my uncle plays the horn .",
    "rain": "i always carry an umbrella .",
    "tea": "two cups before breakfast .",
    "trains": "the last one leaves at nine .",
}
OPENINGS = ("tell me about", "and what about", "do you know of", "what of", "so ,")
ENDINGS = ("please .", "then ?", "today ?", "my friend ?", ", right ?")
CHANCE = 1 / len(ANSWERS)
TIMES = 3  # that each question is learned
SUBWORDS: Mapping[str, object] = {"epochs": 12, "patience": 12, "examples": 0}
WORDS: Mapping[str, object] = {
    **{"epochs": 20, "patience": 20, "examples": 0, "least_count": 1, "rate": 0.02},
    **{"hidden": 32, "dimension": 24, "batch": 16},
}


def questions(*, held_out: bool) -> list[Dialogue]:
    """Return the questions with their answers: a fifth is held out, five of each thing."""
    combined = product(enumerate(OPENINGS), enumerate(ENDINGS), enumerate(ANSWERS))
    return [
        Dialogue(
            f"{thing} {first} {last}",
            (
                Utterance("partner", f"{opening} {thing} {ending}"),
                Utterance("self", ANSWERS[thing]),
            ),
        )
        for (first, opening), (last, ending), (number, thing) in combined
        if ((first + last + number) % 5 == 0) is held_out
    ]


@dataclass(frozen=True)
class Score:
    """Right answers of those asked for, with the lower end of the 95 % interval of their share."""

    right: int
    asked: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return float(binomtest(self.right, self.asked).proportion_ci().low)

    @property
    def holds(self) -> bool:
        """Whether it is above chance."""
        return self.low > CHANCE

    def __str__(self) -> str:
        return f"{self.right} of {self.asked}, at least {self.low:.2f} (chance {CHANCE:.2f})"


def taught(name: str, **options: object) -> object:
    """Return a bot that has learned the questions that are not held out."""
    bot = make_bot(name, **options)
    assert isinstance(bot, Trainable)
    bot.train(questions(held_out=False) * TIMES, seed=1)
    return bot


def written(bot: BatchBot) -> Score:
    """Count the right replies; what a filter says in a bot's stead is not one."""
    asked = questions(held_out=True)
    replies = bot.respond_many([((), each.turns[:1]) for each in asked])
    return Score(
        sum(
            key(reply.text) == key(each.turns[1].text) and "canned" not in reply.events
            for each, reply in zip(asked, replies, strict=True)
        ),
        len(asked),
    )


def ranked(bot: Ranker) -> Score:
    """Count how often the right one of all answers is ranked first."""
    asked, offered = questions(held_out=True), tuple(ANSWERS.values())
    first = [_first(bot.rank((), each.turns[:1], offered)) for each in asked]
    right = [offered.index(each.turns[1].text) for each in asked]
    return Score(sum(a == b for a, b in zip(first, right, strict=True)), len(asked))


def _first(scores: Sequence[float]) -> int:
    """Return the index of the highest score; -1 where another one has it too."""
    best = max(scores)
    return scores.index(best) if list(scores).count(best) == 1 else -1
