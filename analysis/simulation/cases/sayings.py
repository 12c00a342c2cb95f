"""Conversations with a persona, stock replies that come back, rare words and repeats.

Conversations differ in how often each occurs, so that messages of one depend on each other. Apart
because each kind of campaign is drawn in a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.simulation.campaigns import Design
from analysis.simulation.cases.dialogues import WORDS
from analysis.tables.schema import MessageTable

PERSONAS = (
    ("i like green tea.", "i have two old dogs."),
    ("my mother is a nurse.", "i often walk by the sea."),
    ("i play the guitar.", "summer is my favorite season."),
)
RARE = ("ptarmigan", "quincunx", "bodkin", "zither", "gloaming", "wimple")
# Stock replies, of which the first come most often.
STOCK = tuple(f"{first} {second}" for second in WORDS for first in ("yes the", "oh my", "see that"))
TURNS = 5


def repeated_texts(design: Design, chance: Generator) -> MessageTable:
    """Draw what systems said, `conversations` of each, of a few messages each."""
    often = 1 / np.arange(1, len(STOCK) + 1)
    often /= often.sum()
    rows = []
    for number in range(design.systems * design.conversations):
        system = design.names[number // design.conversations]
        persona = PERSONAS[int(chance.integers(len(PERSONAS)))]
        texts = _texts(persona, often, chance)
        rows += [(str(number), seq, system, "\n".join(persona), text) for seq, text in texts]
    frame = pd.DataFrame(rows, columns=["conversation", "seq", "system", "persona", "text"])
    message = np.arange(len(frame)).astype(str)
    return MessageTable(frame.assign(message=message, side="b", sent_at=""))


def _texts(
    persona: Sequence[str], often: np.ndarray, chance: Generator
) -> Iterator[tuple[int, str]]:
    stock, rare, own = chance.beta(2, 4), chance.beta(1, 20), chance.beta(1, 6)
    known = " ".join(persona).replace(".", "").split()
    for seq in range(int(chance.integers(TURNS - 2, TURNS + 3))):
        if chance.random() < stock:
            yield seq, STOCK[int(chance.choice(len(STOCK), p=often))]
            continue
        kinds = chance.choice(3, 3 + chance.poisson(5), p=[rare, own * (1 - rare),
                                                          (1 - own) * (1 - rare)])  # fmt: skip
        lists = (RARE, known, WORDS)
        yield seq, " ".join(lists[k][int(chance.integers(len(lists[k])))] for k in kinds)
