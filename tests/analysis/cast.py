"""A made-up series of three characters: monologues, judged utterances, votes of known direction."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis import MessageTable, RatingTable
from tests.analysis.examples import ratings
from tests.analysis.talks import of_rows

HABITS = {
    "pirate": ["the sea", "my ship", "gold coins", "a storm", "the parrot", "rum barrels"],
    "doctor": ["my patients", "the hospital", "clean hands", "a fever", "the nurse", "blood tests"],
    "baker": ["fresh bread", "the oven", "my dough", "sweet rolls", "the flour", "apple cakes"],
}
WAYS = {
    "pirate": ["arr , i love {} matey", "we sail for {} at dawn", "arr , give me {} now"],
    "doctor": ["please tell me about {} today", "i must check {} again", "rest , {} can wait"],
    "baker": ["i get up at four for {} every day", "come and taste {} , dear", "i made {} for you"],
}  # fmt: skip
DESCRIBED = {
    "pirate": "I sail the sea on my ship.\nI love gold coins.",
    "doctor": "I work at the hospital.\nI see patients all day.",
    "baker": "I bake fresh bread.\nMy oven is old.",
}


def line(character: str, rng: np.random.Generator) -> str:
    """Return something that a character would say."""
    return str(rng.choice(WAYS[character])).format(rng.choice(HABITS[character]))


def play(seed: int = 0, *, each: int = 40, judged: int = 30) -> tuple[RatingTable, MessageTable]:
    """Return votes and messages: people call likely what a character's own author said, mostly."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    answers: list[dict[str, object]] = []
    for character in HABITS:
        about = {"persona": character, "persona_text": DESCRIBED[character], "system": "human"}
        for k in range(each):
            text = line(character, rng)
            rows.append({**about, "message": f"{character}{k}", "text": text})
        for k in range(judged):
            name = f"{character}-judged{k}"
            rows.append({**about, "message": name, "text": line(character, rng)})
            for other in HABITS:
                chance = 0.85 if other == character else 0.1
                for rater, yes in enumerate(rng.random(5) < chance):
                    vote = {"item": name, "character": other, "rater": f"{other}{rater}"}
                    answers.append({**vote, "value": int(yes), "system": f"as {other}"})
    return ratings(answers, question="likely", level="nominal"), of_rows(rows)


def votes_of(table: RatingTable) -> pd.DataFrame:
    """Return the likely votes per character and item, counted plainly."""
    return table.groupby(["character", "item"])["value"].sum().reset_index()
