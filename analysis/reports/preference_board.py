"""Preference board: systems in order of ability, which are told apart, and what the votes hide.

Bradley & Terry's (1952) abilities with errors clustered by rater and by context; neighbors compared
all at once by the largest t (Westfall & Young 1993), intervals of ranks (Mogstad et al. 2024); then
probes of order, style, circles, clusters, rigging and rules. Columns of the ratings whose names
begin with `style_`, and the words of a conversation's messages, are the covariates of style.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons import board_probes as probes
from analysis.comparisons.board import Board, board
from analysis.comparisons.bradley_terry import undefined
from analysis.comparisons.preferences import Compared, compared, too_few
from analysis.metrics.bradley_terry import ordered
from analysis.report import Chart, Report, Section, dots
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import Floats
from analysis.tables.schema import MessageTable, RatingTable

SIMULATED_AS = ("board neighbors",)

APART = 0.05
STYLE = "style_"
POWER_OF_RIGGING = (
    "Rigging that is spread is harder to see: 300 votes for one system among 100,000 on 59 systems "
    "are found on all of 30 boards where three accounts gave them, on 58 of 60 where ten did, on "
    "19 of 30 where twenty did, with 15 votes each, and on 12 of 30 where thirty did."
)
NONE = "No question in this table asks people to rank or choose among systems shown together."


def preference_board(
    ratings: RatingTable, messages: MessageTable | None = None, *, seed: int = 0
) -> Report:
    """Return the report of every question of level "rank"."""
    found: list[Section] = []
    leads: list[str] = []
    for question in questions(ratings, "rank"):
        pairs = compared(question)
        if pairs is not None:
            sections = list(_sections(question, pairs, messages, seed))
            found += sections
            leads += [f"{each.title}." for each in sections]
    return Report(
        name="preference_board",
        title="Board of preferences",
        findings=tuple(leads) or (NONE,),
        sections=tuple(found),
        cautions=cautions(ratings),
    )


def _sections(
    question: QuestionRatings, pairs: Compared, messages: MessageTable | None, seed: int
) -> Iterator[Section]:
    name = question.question[:1].upper() + question.question[1:]
    why = undefined(pairs.counts())
    if why is not None:
        frame = pd.DataFrame({"system": pairs.systems, "reason": why})
        title = f"{name}: there is no board, {why}"
        yield Section(title, frame, key=f"board-{question.question}")
        return
    made = board(pairs, order=ordered(question), seed=seed)
    if made.errors.few:
        yield _withheld(name, question, made)
    else:
        yield from _separated(name, question, made)
    yield _probed(name, question, made, messages)


def _withheld(name: str, question: QuestionRatings, made: Board) -> Section:
    names = np.array(made.found.systems)[made.order]
    frame = pd.DataFrame({"system": names, "log-ability": made.fitted.mean[made.order]})
    why = too_few(made.found.rater, made.found.context)
    title = f"{name}: no two systems can be told apart"
    return Section(title, frame, f"No interval: {why}.", key=f"board-{question.question}")


def _separated(name: str, question: QuestionRatings, made: Board) -> Iterator[Section]:
    ends = made.errors.intervals(made.fitted.mean)
    abilities = {
        "estimate": made.fitted.mean[made.order],
        "low": [ends[k].low for k in made.order],
        "high": [ends[k].high for k in made.order],
    }
    ranks = made.ranks()
    frame = ranks[["system"]].assign(**abilities)
    of_rank = {"low": "rank low", "high": "rank high"}
    table = frame.rename(columns={"estimate": "log-ability"}).join(
        ranks.drop(columns="system").rename(columns=of_rank)
    )
    width = float((ranks["high"] - ranks["low"] + 1).median())
    yield Section(
        f"{name}: the rank of a system is known to within {width:g} of {len(ranks)} places "
        "(median)",
        table,
        "Bradley and Terry, a tie half a win, mean 0; 95 % intervals are clustered by rater and by "
        "context. The interval of a rank leaves out a place for each system clearly above or "
        "below, for this system alone, or at once for all.",
        key=f"board-{question.question}",
        chart=Chart(
            kind="intervals",
            rows=dots(frame, "log-ability"),
            axis="log-ability, with 95 % interval",
            line=0.0,
        ),
    )
    neighbors = made.neighbors()
    apart = int((neighbors["p"] < APART).sum())
    yield Section(
        f"{name}: {apart} of {len(neighbors)} neighbors on the board are told apart",
        neighbors,
        "Gap of abilities of each system and the next; p holds for all neighbors at once (largest "
        "t), clustered by rater and by context.",
        key=f"neighbors-{question.question}",
    )


def _probed(
    name: str, question: QuestionRatings, made: Board, messages: MessageTable | None
) -> Section:
    rows = list(_probes(question, made, messages))
    fired = [each.name for each in rows if each.fires]
    title = f"{name}: {len(fired)} of {len(rows)} probes fire"
    frame = pd.DataFrame(
        {
            "probe": [each.name for each in rows],
            "figure": [each.figure for each in rows],
            "p": [each.p for each in rows],
            "fires": ["yes" if each.fires else "no" for each in rows],
            "finding": [each.why for each in rows],
        }
    )
    return Section(
        f"{title}: {', '.join(fired)}" if fired else title,
        frame,
        f"A probe with a test fires at p < {probes.ALPHA}, which is not adjusted for their number; "
        f"errors are clustered by rater and by context. {POWER_OF_RIGGING}",
        key=f"probes-{question.question}",
    )


def _probes(
    question: QuestionRatings, made: Board, messages: MessageTable | None
) -> Iterator[probes.Probe]:
    raters = np.unique(question.rows["rater"].astype(str).to_numpy()[made.found.rows[0]])
    rigging, voted = probes.rigged(made, raters)
    yield probes.first_shown(made)
    yield from probes.styles(made, _styles(question, made.found, messages))
    yield probes.circles(made)
    yield rigging
    for name, codes in (("rater", made.found.rater), ("context", made.found.context)):
        if codes.max() > 0:
            yield probes.clusters(made, name, codes, voted)
    yield from probes.compared_enough(made)
    if not made.errors.few:
        yield from probes.other_rules(made, made.neighbors())


def _styles(
    question: QuestionRatings, found: Compared, messages: MessageTable | None
) -> dict[str, Floats]:
    """Return how much more each covariate is in the first shown; of unknown values, 0."""
    rows = question.rows
    known = {
        str(name)[len(STYLE) :]: pd.to_numeric(rows[name], errors="coerce")
        for name in rows.columns
        if str(name).startswith(STYLE)
    }
    if messages is not None and "conversation" in rows.columns:
        known["words"] = rows["conversation"].astype(str).map(_words(messages))
    first, second = found.rows
    values = {name: column.to_numpy(dtype=float) for name, column in known.items()}
    return {name: np.nan_to_num(each[first] - each[second]) for name, each in values.items()}


def _words(messages: MessageTable) -> pd.Series:
    """Return the mean words of a message that the system wrote, by conversation."""
    own = messages[messages["side"] == "bot"]
    counted = [len(text.split()) for text in own["text"].astype(str)]
    words = pd.Series(counted, index=own.index, dtype=float)
    return words.groupby(own["conversation"].astype(str)).mean()
