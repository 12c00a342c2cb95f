"""Transcripts and predictions: messages of conversations, some of them spam, and scored replies."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.simulation.campaigns import Design
from analysis.tables.schema import MessageTable, PredictionTable

WORDS = (
    *"well today we went along to see the old garden near our house and my sister found".split(),  # noqa: SIM905
    *"some very small blue birds there so i asked her what they eat when it gets cold".split(),  # noqa: SIM905
)
SPAM = 0.2
TURNS = 6
CANDIDATES = 20
BETTER = 1.5
REPLACED = 0.5


def conversations(design: Design, chance: Generator) -> MessageTable:
    """Draw conversations of a person and a system; some people send single words only."""
    rows = []
    for number in range(design.systems * design.conversations):
        system = design.names[number // design.conversations]
        spam = chance.random() < SPAM
        length = chance.lognormal(2.0, 0.3)
        for turn in range(2 * int(chance.integers(TURNS - 2, TURNS + 3))):
            own = turn % 2 == 1
            text = "ok" if spam and not own else _sentence(length, chance)
            rows.append((number, turn, system if own else "human", text))
    frame = pd.DataFrame(rows, columns=["conversation", "seq", "system", "text"])
    frame["conversation"] = frame["conversation"].astype(str)
    side = np.where(frame["system"] == "human", "a", "b")
    message = np.arange(len(frame)).astype(str)
    return MessageTable(frame.assign(message=message, side=side, persona="", sent_at=""))


def _sentence(length: float, chance: Generator) -> str:
    words_of = chance.choice(WORDS, 2 + chance.poisson(length))
    return " ".join(words_of) + str(chance.choice([".", ".", "?"]))


def _in_other_words(sentence: str, chance: Generator) -> str:
    """Draw a sentence with some words of another's replaced."""
    words = sentence.split()
    others = chance.random(len(words)) < REPLACED
    return " ".join(
        str(chance.choice(WORDS)) if other else word
        for word, other in zip(words, others, strict=True)
    )


def scored(design: Design, chance: Generator) -> PredictionTable:
    """Draw scores of a gold reply among others, and log probabilities of its tokens."""
    count = design.systems * design.conversations
    rows = []
    for number in range(count):
        scores = chance.normal(0, 1, CANDIDATES)
        scores[0] += BETTER + chance.normal(0, 1)
        losses = chance.gamma(2.0, 1.5 * chance.lognormal(0, 0.3), 3 + chance.poisson(8))
        gold = _sentence(8, chance)
        response = _in_other_words(gold, chance)
        row = {
            "prediction": str(number),
            "example": str(number),
            "gold": gold,
            "response": response,
            "candidates": [gold, *(f"other {k}" for k in range(1, CANDIDATES))],
            "scores": scores.tolist(),
            "log_probs": json.dumps((-losses).tolist()),
        }
        rows.append(row)
    frame = pd.DataFrame(rows).assign(system="a system", dataset="drawn", context="")
    return PredictionTable(frame)
