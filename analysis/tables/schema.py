"""The three tables that analysis reads: their columns, and the exception that lists what is wrong.

A table is a pandas frame whose columns were checked (`analysis.tables.validation`); other columns
are kept and ignored. Each metric takes the table that its parameter names: ratings, messages,
predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NewType, get_args

import pandas as pd

from analysis.tables.campaign_record import CampaignRecord

RatingTable = NewType("RatingTable", pd.DataFrame)
MessageTable = NewType("MessageTable", pd.DataFrame)
PredictionTable = NewType("PredictionTable", pd.DataFrame)

MESSAGE_COLUMNS = (
    "message",
    "conversation",
    "seq",
    "side",
    "system",
    "persona",
    "text",
    "sent_at",
)
PREDICTION_COLUMNS = (
    "prediction",
    "system",
    "dataset",
    "example",
    "context",
    "gold",
    "response",
    "candidates",
    "scores",
    "log_probs",
)
# What a prediction may tell besides: whether each token of the gold reply was the most probable one
# under teacher forcing; the discriminator's score of the response; the score of a gold reply that
# is not among the candidates; which random batch the candidates are.
PREDICTION_EXTRAS = ("token_hits", "discriminator", "gold_score", "batch")
# How many raters an item was to get: with fewer it is open (`analysis.scores.majorities`).
VOTES_COLUMN = "votes"
# A rank is a position among the systems shown together: 1 is best, and a tie is the same position.
Level = Literal["nominal", "ordinal", "interval", "rank"]
LEVELS: tuple[Level, ...] = get_args(Level)
# A text in the rater's own words: it is listed, and no metric reads it.
TEXT = "text"
KNOWN_LEVELS = (*LEVELS, TEXT)


# A message names so many problems; `BadTable.problems` has them all.
SHOWN = 50


@dataclass(frozen=True)
class Tables:
    """Tables of one file or export; one that it lacks is None.

    `study` is how the ratings came about, which only an export tells; `notes` say what was assumed
    of a table of ratings that lacks columns.
    """

    ratings: RatingTable | None = None
    messages: MessageTable | None = None
    predictions: PredictionTable | None = None
    study: CampaignRecord | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a table. Rows count from 1 below the header; None is the whole table."""

    row: int | None
    field: str
    value: str
    right: str

    def __str__(self) -> str:
        where = "table" if self.row is None else f"row {self.row}"
        return f"{where}: {self.field} is {self.value or 'blank'}; right would be {self.right}"


class BadTable(ValueError):
    """A table that cannot be used as it is; `problems` has all that is wrong with it.

    `notes` say what was assumed before it was looked at, which may be what is wrong.
    """

    def __init__(
        self, name: str, problems: Iterable[Problem], rows: int = 0, notes: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.problems = tuple(problems)
        self.rows = rows
        self.notes = tuple(notes)
        shown = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            shown.append(f"... and {len(self.problems) - SHOWN} more")
        assumed = [f"Assumed: {note}" for note in self.notes]
        super().__init__("\n".join([self._headline(), *shown, self._remedy(), *assumed]))

    def _headline(self) -> str:
        count = len(self.problems)
        what = "1 problem" if count == 1 else f"{count} problems"
        return f"{self.name}: {what} (rows are counted from 1, below the header)"

    def _remedy(self) -> str:
        if any(problem.row is None for problem in self.problems):
            return "Nothing was computed."
        sound = self.rows - len({problem.row for problem in self.problems})
        if sound <= 0:
            return "Nothing was computed: no row is sound."
        return (
            f"Nothing was computed. {sound} of {self.rows} rows are sound; "
            "correct or remove the others, and everything can be computed from these."
        )
