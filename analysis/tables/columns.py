"""Columns of the tables, their synonyms, and the values that some may have.

Apart, and without pandas, because `--help` and the template name them and should not wait for it.
"""

from __future__ import annotations

from typing import Literal, get_args

RATING_COLUMNS = (
    "answer",
    "campaign",
    "protocol",
    "question",
    "level",
    "item",
    "system",
    "rater",
    "value",
    "place",
)
REQUIRED = ("rater", "system", "question", "value")
SCALE_COLUMNS = ("scale_low", "scale_high")
# Which end of a question's scale is the good one; "none" where there is none, as for length.
BETTER_COLUMN = "better"
Better = Literal["high", "low", "none"]
BETTER: tuple[Better, ...] = get_args(Better)
HIGH: Better = "high"  # where nothing is said
# Read where they are there; each is of all rows of a question.
OPTIONAL_COLUMNS = (*SCALE_COLUMNS, BETTER_COLUMN)
# Synonyms: the words of other programs for a column, in any case, blanks as underscores.
OTHER_NAMES = {
    "rater": ("annotator", "worker", "worker_id", "rater_id", "annotator_id", "judge", "user",
              "coder", "participant", "evaluator"),
    "item": ("item_id", "task", "dialogue", "dialog", "dialogue_id", "example", "unit",
             "conversation", "conversation_id", "context_id", "prompt"),
    "value": ("rating", "score", "label", "answer_value", "response", "judgment", "judgement"),
    "system": ("model", "model_name", "system_name", "bot", "agent"),
    "question": ("criterion", "dimension", "metric", "aspect", "prompt"),
    "answer": ("id", "rating_id"),
    "place": ("position", "order"),
    "scale_low": ("scale_min", "min_value"),
    "scale_high": ("scale_max", "max_value"),
    "better": ("direction",),
    "given_at": ("timestamp", "created_at", "submitted_at"),
}  # fmt: skip
# A word for two columns: the question where nothing else is one, else what systems were given.
EITHER = "prompt"
# MEENA's reply that is called specific but not sensible: what is done with the label.
LABELS_COLUMN = "label_rule"
Labels = Literal["as-given", "zero", "refuse"]
LABELS: tuple[Labels, ...] = get_args(Labels)
REFUSE: Labels = "refuse"
UNCHANGED: Labels = "as-given"
ZERO: Labels = "zero"
# When an answer was given: a time, or a number that grows.
TIME_COLUMN = "given_at"
