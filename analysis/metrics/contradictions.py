"""Share of a system's messages that contradict its persona or an earlier message of its own.

ConvAI2 (Dinan et al. 2019, section 5) prints two such contradictions and points to natural
language inference on dialogues (Welleck et al. 2019, ACL), without a formula. Ours: each sentence
of a message, but for questions, is put to the classifier after each sentence of the persona and of
the earlier messages of the same side; a message contradicts where one pair does. Intervals are over
conversations. Without a classifier there is no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from analysis.conversations.transcripts import OWN, mean_per, placed
from analysis.tables.personas import sentences as persona_sentences
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.inference import InferenceClassifier, Pair
from analysis.text.questions import has_mark, sentences

SIMULATED_AS = ("repeats",)  # a share of what is counted in conversations

NO_CLASSIFIER = "no classifier of inference was chosen (--nli FOLDER)"
Pairs = list[list[Pair]]  # of each message of a conversation


def contradictions(
    messages: MessageTable, *, nli: InferenceClassifier | None = None
) -> pd.DataFrame:
    """Return a row per system, with the classifier's name."""
    table = placed(messages)
    own = table[table["question"] == OWN]
    rows = (_row(str(name), of, nli) for name, of in own.groupby("about", sort=True))
    return tidy("contradictions", rows)


def _row(system: str, own: pd.DataFrame, nli: InferenceClassifier | None) -> dict[str, object]:
    about = {"protocol": "", "question": OWN, "system": system}
    if nli is None:
        return {**about, "n": len(own), "reason": NO_CLASSIFIER}
    of_sides = sorted(_pairs(of) for _, of in own.groupby(["conversation", "side"]))
    every = sorted({pair for one in of_sides for pairs in one for pair in pairs})
    wrong = {pair for pair, is_so in zip(every, nli.contradicts(every), strict=True) if is_so}
    sums = [(float(sum(not wrong.isdisjoint(pairs) for pairs in of)), len(of)) for of in of_sides]
    return {**about, **mean_per(sums, most=1.0), "classifier": nli.name}


def _pairs(own: pd.DataFrame) -> Pairs:
    """Return the pairs that each message of a side is asked about."""
    stands: list[str] = [
        line for lines in persona_sentences(own.iloc[:1]) for line in _stated(lines)
    ]
    found = []
    for text in own["text"]:
        new = list(_stated([text]))
        found.append([(before, after) for before in stands for after in new])
        stands += new
    return found


def _stated(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (one.strip() for one in sentences(text) if one.strip() and not has_mark(one))
