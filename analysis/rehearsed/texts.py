"""Every interval of transcripts, logs and predictions, with what is drawn for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.rehearsed import logs, replies, sayings, talks
from analysis.rehearsed.trials import Estimator
from analysis.rehearsed.truths import Expected, Large
from analysis.simulated import Design

TALKS = "conversations of their own person"
SINGLE = "single examples"
# Of each system, so that all together are enough.
MANY = 5000
OF_TALKS = ("message_length", "questions_asked", "flagged_conversations")
OF_SAYINGS = ("repeats", "rare_words", "persona_description")
OF_SCORES = ("hits", "perplexity", "bleu", "recall")
OF_REPLIES = ("nasl", "rouge", "word_f1", "token_accuracy", "repetition_rate", "distinct")


def texts(design: Design) -> Iterator[Estimator]:
    """Yield what is told of texts."""
    for name in OF_TALKS:
        many = 2000 if name == "flagged_conversations" else MANY
        yield Estimator(name, TALKS, talks.talks, design,
                        Large(talks.talks, name, many, alike=True))  # fmt: skip
    for name in OF_SAYINGS:
        yield Estimator(name, "conversations that repeat themselves", sayings.sayings, design,
                        Large(sayings.sayings, name, MANY, alike=True))  # fmt: skip
    name = "unique_responses"
    yield Estimator(name, "logs of this length", sayings.sayings, design,
                    Expected(sayings.sayings, name, alike=True))  # fmt: skip
    alone = replace(design, systems=1)
    yield Estimator("engagement", "users who come back or not", logs.log, alone,
                    Large(logs.log, "engagement", 20_000))  # fmt: skip
    yield from _of_predictions(alone)


def _of_predictions(design: Design) -> Iterator[Estimator]:
    for name in OF_SCORES:
        yield Estimator(name, SINGLE, talks.scored, replace(design, systems=4),
                        Large(talks.scored, name, MANY))  # fmt: skip
    for name in OF_REPLIES:
        yield Estimator(name, SINGLE, replies.graded, design,
                        Large(replies.graded, name, 4 * MANY))  # fmt: skip
    yield Estimator("coverage", "a whitelist", replies.whitelisted, design,
                    Large(replies.whitelisted, "coverage", 4 * MANY))  # fmt: skip
    for draw, said in ((replies.alone, SINGLE), (replies.batches, "batches")):
        yield Estimator("one_of_100", said, draw, design,
                        Large(draw, "one_of_100", MANY))  # fmt: skip
