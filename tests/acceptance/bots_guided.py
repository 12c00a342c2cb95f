"""Rows of writing bots that are guided: re-ranked, by keywords, by sentiment, to give reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

from analysis import read
from analysis.metrics.distinct import distinct
from bots import Dialogue, Utterance, make_bot
from bots.bot import BatchBot
from bots.datasets import jsonl
from bots.zoo.event_causality import EventCausality
from bots.zoo.explanation.why_questions import statement
from bots.zoo.mmi import MaximumMutualInformation
from bots.zoo.sentimental import Sentimental
from bots.zoo.sentimental.sentiment import sentiment
from tests.acceptance import planted
from tests.acceptance.planted import ENDINGS, OPENINGS, Told
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.zoo.test_event_causality import CAUSED, LIKELY, SAID
from tests.bots.zoo.test_mmi import TURNS, told, worn
from tests.bots.zoo.test_sentimental import FOOD

THINGS = ("soup", "bread", "cake")


def b_mmi(shell: Shell) -> Shown:
    right = 0
    for share in (0.0, 0.5, 1.0):
        proposed = worn(share=share).propose(TURNS[:2])
        for (_, history), found in zip(TURNS[:2], proposed, strict=True):
            scores = [
                (1 - share) * each.score("sum_logp") + share * told(history[-1].text, each.text)
                for each in found
            ]
            right += all(a >= b - 1e-9 for a, b in pairwise(scores))
    plain, other = (
        [each.text for found in worn(share=share).propose(TURNS[:2]) for each in found]
        for share in (0.0, 0.9)
    )
    moved = sum(one != two for one, two in zip(plain, other, strict=True))
    result = f"{right} of 6 lists in the order of the formula; {moved} of {len(plain)} places "
    return shell.shown(
        right == 6 and moved > 0, result + "change from lambda 0 to .9", MaximumMutualInformation
    )


@slow
def b_ppmi(shell: Shell) -> Shown:
    found = {}
    for name in ("ppmi", "seq2seq"):
        file = shell.path(f"said-{name}.jsonl")
        where = ("--weights", shell.weights(name))
        shell.bots("answer", name, *where, "--data", "demo:test", "--limit", "100", "--out", file)
        table = read(file).predictions
        assert table is not None
        rows = distinct(table).set_index("metric")["estimate"]
        found[name] = float(rows["distinct_2"])
    result = f"distinct-2: PPMI {found['ppmi']:.3f}, Seq2Seq {found['seq2seq']:.3f}"
    return shell.shown(found["ppmi"] > found["seq2seq"], result, distinct)


@slow
def b_chikai(shell: Shell) -> Shown:
    """The messages tested are none that were learned: a fifth of the ways to ask is held out."""
    jsonl.write(_of_food(held_out=False), shell.folder / "food.jsonl")
    settings = ("epochs=12", "patience=12", "held_out=0.0", "least_count=1", "batch=12",
                "dropout=0.0", "examples=0")  # fmt: skip
    set_all = [part for each in settings for part in ("--set", each)]
    out, data = shell.path("sentimental"), f"jsonl:{shell.path('food.jsonl')}"
    shell.bots("train", "sentimental", *set_all, "--data", data, "--seed", "1", "--out", out)
    right, deaf, said = switched(out)
    changed = sum(a != b for a, b in zip(*said.values(), strict=True))
    result = f"{right} replies to held-out messages have the sentiment asked for: "
    result += f"'{said['positive'][0]}', '{said['negative'][0]}'; {changed} of "
    result += f"{len(said['positive'])} change with the switch; a switch that does nothing {deaf}"
    holds = right.holds and not deaf.holds and changed > 0
    return shell.shown(holds, result, Sentimental)


def switched(weights: str) -> tuple[Told, Told, dict[str, list[str]]]:
    """Return how many replies have the sentiment asked for, with the switch and without it.

    Each message is a conversation of its own: in one, a bot says nothing twice.
    """
    asked = dict.fromkeys(each.turns[0] for each in _of_food(held_out=True))
    said = {}
    for wanted in ("positive", "negative"):
        bot = make_bot("sentimental", weights=weights, sentiment=wanted, method="greedy")
        assert isinstance(bot, Sentimental)
        replies = bot.respond_many([((), (turn,)) for turn in asked])
        said[wanted] = ["" if "canned" in each.events else each.text for each in replies]
    pairs = [(wanted, text) for wanted, texts in said.items() for text in texts]
    right = sum(sentiment(text) == wanted for wanted, text in pairs)
    deaf = sum(sentiment(text) == wanted for wanted in said for text in said["positive"])
    return Told(right, len(pairs)), Told(deaf, len(pairs)), said


def _of_food(*, held_out: bool) -> list[Dialogue]:
    """Return questions about food, each with a glad and a sad answer."""
    ways = list(product(enumerate(OPENINGS), enumerate(ENDINGS), enumerate(FOOD)))
    return [
        Dialogue(
            f"{place}-{first}-{last}-{k}",
            (
                Utterance("partner", f"{opening} the {THINGS[place]} {ending}"),
                Utterance("self", said),
            ),
        )
        for (first, opening), (last, ending), (place, (_, *replies)) in ways
        if ((first + last + place) % 5 == 0) is held_out
        for k, said in enumerate(replies)
    ]


def b_event(shell: Shell) -> Shown:
    bot = EventCausality(rank_by="sum_logp")
    known, unknown = bot.score(SAID, CAUSED), bot.score(SAID, LIKELY)
    bits = {each.text: each.score("sum_logp") / math.log(2) for each in (CAUSED, LIKELY)}
    lift = bot.lift(SAID, CAUSED.text)
    near = EventCausality(matching="embedding").lift(
        ((), (Utterance("partner", "I broke my legs."),)), "Then we go hospitals."
    )
    same = abs(unknown - bits[LIKELY.text]) < 1e-6
    result = (
        f"unknown pair {unknown:.3f} = log2 p {bits[LIKELY.text]:.3f}; a pair of lift {lift:g}: "
    )
    result += f"{bits[CAUSED.text]:.2f} becomes {known:.2f}; embedding variant lifts {near:.2f}"
    return shell.shown(same and known > bits[CAUSED.text], result, EventCausality.score)


REASONS = {
    "bakery": "there was no flour left",
    "bridge": "the river rose above it",
    "concert": "the singer lost her voice",
    "garden": "the frost killed every plant",
    "market": "the farmers went on strike",
    "school": "the heating broke down",
}
CHANGES = (("close", "closed"), ("change", "changed"), ("stop", "stopped"), ("fail", "failed"),
           ("end", "ended"))  # fmt: skip
WHEN = ("yesterday", "last week", "in May", "on Monday", "at noon")


@slow
def b_l2e(shell: Shell) -> Shown:
    """Why-questions whose statement nobody learned; without their subject they tell nothing."""
    learned = [f"The {thing} {past} {when} because {REASONS[thing]}."
               for thing, (_, past), when in _changed(held_out=False)]  # fmt: skip
    data, out = shell.written("because.txt", "\n".join(learned) + "\n"), shell.path("explanation")
    settings = ("--set", "held_out=0.0", "--set", "least_count=1", "--set", "examples=0")
    shell.bots(
        *("train", "explanation", *settings, "--epochs", "25", "--seed", "1"),
        *("--data", f"because:{data}", "--out", out),
    )
    asked = [(f"Why did the {thing} {verb} {when}?", f"The {thing} {past} {when}.", thing)
             for thing, (verb, past), when in _changed(held_out=True)]  # fmt: skip
    right = sum(statement(question) == stated for question, stated, _ in asked)
    bot = make_bot("explanation", weights=out)
    assert isinstance(bot, BatchBot)
    questions = [question for question, _, _ in asked]
    mute = [f"Why did it{question.partition(thing)[2]}" for question, _, thing in asked]
    wanted = [REASONS[thing] for _, _, thing in asked]
    found, guessed = (
        planted.on_topic(list(zip(_said(bot, texts), wanted, strict=True)), REASONS)
        for texts in (questions, mute)
    )
    result = f"{right} of {len(asked)} held-out questions become their statement "
    result += f"('{asked[0][0]}', '{statement(asked[0][0])}'); reasons on topic {found}; asked "
    result += f"without the subject {guessed}"
    holds = right == len(asked) and found.holds and not guessed.holds
    return shell.shown(holds, result, statement)


def _said(bot: BatchBot, texts: Sequence[str]) -> list[str]:
    replies = bot.respond_many([((), (Utterance("partner", text),)) for text in texts])
    return ["" if "canned" in each.events else each.text for each in replies]


def _changed(*, held_out: bool) -> list[tuple[str, tuple[str, str], str]]:
    """Return what happened, and when: a fifth is held out, five times each thing."""
    ways = product(enumerate(REASONS), enumerate(CHANGES), enumerate(WHEN))
    return [
        (thing, verbs, when)
        for (first, thing), (second, verbs), (third, when) in ways
        if ((first + second + third) % 5 == 0) is held_out
    ]
