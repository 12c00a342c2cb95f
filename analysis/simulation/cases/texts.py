"""Intervals of transcripts, logs and predictions, with what is drawn for each.

Apart because the other intervals are of ratings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.simulation.campaigns import Design
from analysis.simulation.cases import dialogues, logs, replies, sayings
from analysis.simulation.trials import Estimator
from analysis.simulation.truths import Expected, Large

OWN_PERSON = "conversations of their own person"
SINGLE = "single examples"
# Of each system, so that all together are enough.
MANY = 5000
OF_CONVERSATIONS = (
    "message_length",
    "questions_asked",
    "flagged_conversations",
    "human_length",
)
OF_TEXTS = ("repeats", "rare_words", "persona_description")
OF_SCORES = ("hits", "perplexity", "bleu", "recall")
OF_REPLIES = ("nasl", "rouge", "word_f1", "token_accuracy", "repetition_rate", "distinct")


def texts(design: Design) -> Iterator[Estimator]:
    """Yield what is told of texts."""
    for name in OF_CONVERSATIONS:
        many = 2000 if name == "flagged_conversations" else MANY
        yield Estimator(name, OWN_PERSON, dialogues.conversations, design,
                        Large(dialogues.conversations, name, many, alike=True))  # fmt: skip
    for name in OF_TEXTS:
        yield Estimator(name, "conversations that repeat themselves", sayings.repeated_texts,
                        design, Large(sayings.repeated_texts, name, MANY, alike=True))  # fmt: skip
    name = "unique_responses"
    yield Estimator(name, "logs of this length", sayings.repeated_texts, design,
                    Expected(sayings.repeated_texts, name, alike=True))  # fmt: skip
    alone = replace(design, systems=1)
    yield Estimator("engagement", "users who come back or not", logs.log, alone,
                    Large(logs.log, "engagement", 20_000))  # fmt: skip
    yield from _of_predictions(alone)


def _of_predictions(design: Design) -> Iterator[Estimator]:
    for name in OF_SCORES:
        yield Estimator(name, SINGLE, dialogues.scored, replace(design, systems=4),
                        Large(dialogues.scored, name, MANY))  # fmt: skip
    for name in OF_REPLIES:
        yield Estimator(name, SINGLE, replies.graded, design,
                        Large(replies.graded, name, 4 * MANY))  # fmt: skip
    yield Estimator("coverage", "a whitelist", replies.whitelisted, design,
                    Large(replies.whitelisted, "coverage", 4 * MANY))  # fmt: skip
    for draw, scenario in ((replies.alone, SINGLE), (replies.batches, "batches")):
        yield Estimator("one_of_100", scenario, draw, design,
                        Large(draw, "one_of_100", MANY))  # fmt: skip
