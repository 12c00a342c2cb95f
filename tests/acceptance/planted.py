"""Planted truth for writers: six things that may be asked about, each with the one right answer.

Apart because the checks of it use it too. A question is an opening, a thing and an ending. The
combinations that are tested are trained with no bot, and every thing is in as many of them: who
always says the same is right in one of six. The interval is that of Clopper and Pearson (1934).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from scipy.stats import binomtest

from bots import Dialogue, Ranker, Trainable, Utterance, make_bot
from bots.bot import BatchBot
from bots.commands.test_set_replies import word_f1
from bots.text.tokens import key

ANSWERS = {
    "bread": "the bakery opens at six .",
    "cats": "mine sleep on the sofa .",
    "jazz": "my uncle plays the horn .",
    "rain": "i always carry an umbrella .",
    "tea": "two cups before breakfast .",
    "trains": "the last one leaves at nine .",
}
JAPANESE = {
    "パン": "店 は 六時 に 開き ます",
    "猫": "うち の は 椅子 で 寝て います",
    "音楽": "叔父 が 笛 を 吹き ます",
    "雨": "いつも 傘 を 持って います",
    "紅茶": "朝食 の 前 に 二杯 飲み ます",
    "電車": "最後 の は 九時 に 出ます",
}
OPENINGS = ("tell me about", "and what about", "do you know of", "what of", "so ,")
ENDINGS = ("please .", "then ?", "today ?", "my friend ?", ", right ?")
ASKED_JAPANESE = (
    ("ねえ", "では", "ところで", "ちょっと", "そう いえば"),
    ("は どう ですか", "の 話 を して", "を 知って いますか", "について は", "は 好き ですか"),
)
CHANCE = 1 / len(ANSWERS)
TIMES = 3  # that each question is learned
SUBWORDS: Mapping[str, object] = {"epochs": 12, "patience": 12, "examples": 0}
WORDS: Mapping[str, object] = {
    **{"epochs": 20, "patience": 20, "examples": 0, "least_count": 1, "rate": 0.02},
    **{"hidden": 32, "dimension": 24, "batch": 16},
}


def questions(*, held_out: bool, japanese: bool = False) -> list[Dialogue]:
    """Return the questions with their answers: a fifth is held out, five of each thing."""
    openings, endings = ASKED_JAPANESE if japanese else (OPENINGS, ENDINGS)
    answers = JAPANESE if japanese else ANSWERS
    combined = product(enumerate(openings), enumerate(endings), enumerate(answers))
    return [
        Dialogue(
            f"{thing} {first} {last}",
            (
                Utterance("partner", f"{opening} {thing} {ending}"),
                Utterance("self", answers[thing]),
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
    chance: ClassVar[float] = CHANCE

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return float(binomtest(self.right, self.asked).proportion_ci().low)

    @property
    def holds(self) -> bool:
        """Whether it is above chance."""
        return self.low > self.chance

    def __str__(self) -> str:
        return f"{self.right} of {self.asked}, at least {self.low:.2f} (chance {self.chance:.2f})"


class Told(Score):
    """Right choices of two: chance is a half."""

    chance = 1 / 2


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


def on_topic(replies: Sequence[tuple[str, str]], answers: Mapping[str, str] = ANSWERS) -> Score:
    """Count the replies that share more with the right answer than with any other.

    A pair is a reply and the answer wanted; what is shared is word F1. Weaker than `written`, for
    writers that say a keyword and no sentence.
    """
    offered = tuple(map(key, answers.values()))
    first = [_first([word_f1(said, text) for text in answers.values()]) for said, _ in replies]
    right = [offered.index(key(wanted)) for _, wanted in replies]
    return Score(sum(a == b for a, b in zip(first, right, strict=True)), len(replies))


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
