"""Calibration: metrics.md 7.4 and 7.5, Kulikov et al.'s scores, Ji et al.'s campaign, iEval."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis import rating_table
from analysis.comparisons.preferences import compared as pairs
from analysis.metrics.calibrated_score import calibrated_score
from analysis.metrics.win_rate import win_rate
from analysis.scores import calibration
from analysis.scores.calibration import Posterior
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.significance import holm
from tests.analysis.examples import cell, crowd_campaign_overall, kulikov, raw, shared, triples
from tests.analysis.golden.figures import Compared, printed

EXAMPLE = [(0, 0, 3), (0, 1, 2), (0, 2, 2), (1, 1, 1), (1, 2, 0), (0, 1, 3), (1, 2, 1)]
ASPECTS = ("Rating", "P", "A", "EU", "ER", "L", "R", "S")


def compared() -> Iterator[Compared]:
    """Yield the worked example, Holm's, and every expected figure of three data sets."""
    yield from worked()
    yield from _kulikov()
    yield from _campaign()
    yield from _ieval()


def _asked(table: pd.DataFrame) -> QuestionRatings:
    return next(questions(rating_table(table), "ordinal", "interval"))


def worked() -> Iterator[Compared]:
    given = triples(EXAMPLE, scale_low=0, scale_high=3)
    found = calibrated_score(given).set_index("system")
    for k, (mean, sd, average) in enumerate([(2.3336, 0.6508, 2.5), (0.9289, 0.7216, 0.6667)]):
        row = [cell(found, f"m{k}", column) for column in ("estimate", "sd", "raw")]
        yield Compared("metrics.md 7.4", f"posterior mean of {k}", mean, row[0], 5e-3)
        yield Compared("metrics.md 7.4", f"posterior SD of {k}", sd, row[1], 5e-3)
        yield printed("metrics.md 7.4", f"raw mean of {k}", average, row[2])
    posterior = calibration.posterior(_asked(given), seed=0)
    first = posterior.sums.systems.index("m0")
    ours = float(posterior.wins[first, 1 - first])
    yield Compared("metrics.md 7.4", "P(M_0 > M_1)", 0.9675, ours, 3e-3)
    adjusted = holm([0.001, 0.02, 0.03, 0.04])
    for k, (expected, found_p) in enumerate(zip((0.004, 0.06, 0.06, 0.06), adjusted, strict=True)):
        yield Compared("metrics.md 7.5", f"Holm, p of rank {k + 1}", expected, found_p, 1e-12)


def _kulikov() -> Iterator[Compared]:
    source = "Kulikov et al., 30 models"
    content = shared("calibration_golden", "kulikov_expected.json").read_text(encoding="utf-8")
    expected = json.loads(content)
    found = calibrated_score(rating_table(kulikov())).set_index("system")
    for model in expected["models"]:
        name = f"model{model['model']}"
        for key, column, may in (
            ("n", "n", 0),
            ("raw_mean", "raw", 5.1e-5),
            ("flat_prior_mean", "flat_mean", 1e-4),
            ("flat_prior_sd", "flat_sd", 1e-4),
            ("calibrated_mean", "estimate", 0.03),
            ("calibrated_sd", "sd", 0.015),
        ):
            yield Compared(source, f"{key}, {name}", model[key], cell(found, name, column), may)
    posterior = calibration.posterior(_asked(kulikov()), seed=0)
    yield from _chances(source, expected, posterior)


def _chances(source: str, expected: dict[str, Any], posterior: Posterior) -> Iterator[Compared]:
    place = {name: k for k, name in enumerate(posterior.sums.systems)}
    ours = float(posterior.wins[place["model14"], place["model6"]])
    yield Compared(source, "P(14 > 6)", expected["p_model14_over_model6"], ours, 0.015)
    best = posterior.sums.systems[int(posterior.mean.argmax())].removeprefix("model")
    yield Compared(source, "best model", expected["best_by_calibrated"], float(best), 0)
    # From the posterior as a normal distribution, which it is near to: no scale end is close.
    chance = np.random.default_rng(0)
    root = np.linalg.cholesky(posterior.flat.covariance)
    drawn = posterior.flat.mean + chance.standard_normal((40_000, len(place))) @ root.T
    ours = float((drawn.argmax(axis=1) == place["model2"]).mean())
    yield Compared(source, "P(2 is best)", expected["p_human_model2_best"], ours, 0.01)


def _campaign() -> Iterator[Compared]:
    source = "Ji et al. 2022, run 1"
    content = shared("crowd_campaign_run1", "expected.json").read_text(encoding="utf-8")
    expected = json.loads(content)
    table = crowd_campaign_overall()
    passing = table[table["rater"].isin(expected["passing_worker_ids"])]
    found = calibrated_score(rating_table(passing)).set_index("system")
    scores = expected["calibrated_flat_prior_on_1_plus_4_mean_over_100"]
    for name, (mean, sd) in scores.items():
        ours = cell(found, name, "flat_mean"), cell(found, name, "flat_sd")
        yield Compared(source, f"calibrated, {name}", mean, ours[0], 6e-5)
        yield Compared(source, f"its SD, {name}", sd, ours[1], 6e-5)


# --- iEval: 240 people, each of whom chats with all four bots ---------------------------------


def ieval() -> pd.DataFrame:
    """Return every answer: who, which bot, in which of the two chats, about what."""
    content = shared("ieval", "ieval_data.json").read_text(encoding="utf-8")
    rows: list[dict[str, object]] = [
        {
            "rater": f"r{person['part']}",
            "system": bot,
            "item": f"{person['part']} {valence} {bot}",
            "campaign": valence,
            "question": aspect,
            "value": answers[aspect],
        }
        for person in json.loads(content)
        for valence in ("positive", "negative")
        for bot, answers in person[valence].items()
        if isinstance(answers, dict)
        for aspect in ASPECTS
    ]
    return raw(rows, protocol="ieval")


def _ieval() -> Iterator[Compared]:
    source = "iEval"
    content = shared("ieval", "expected.json").read_text(encoding="utf-8")
    expected, table = json.loads(content), ieval()
    people, chats = table["rater"].nunique(), table["item"].nunique()
    yield Compared(source, "participants", expected["participants"], people, 0)
    yield Compared(source, "dialogues", expected["dialogues"], chats, 0)
    means = table.groupby(["campaign", "system", "question"])["value"].mean()
    for valence, bots in expected["means"].items():
        for bot, aspects in bots.items():
            for aspect, value in aspects.items():
                ours = float(means[valence, bot, aspect])
                yield Compared(source, f"mean {aspect} of {bot}, {valence}", value, ours, 5.1e-5)
    ranks = table[table["question"] == "Rating"].assign(scale_low=1, scale_high=3)
    found = calibrated_score(rating_table(ranks.assign(campaign="c"))).set_index("system")
    for bot, (mean, sd) in expected["calibrated_rating_flat_prior"].items():
        score, error = cell(found, bot, "flat_mean"), cell(found, bot, "flat_sd")
        yield Compared(source, f"calibrated rating of {bot}", mean, score, 6e-5)
        yield Compared(source, f"its SD, {bot}", sd, error, 6e-5)
    yield from _wins(source, expected["pairwise_wins_from_rating"], ranks)


def _wins(source: str, expected: dict[str, Any], ranks: pd.DataFrame) -> Iterator[Compared]:
    """A rating is an inverse rank: the highest is the best of the four shown."""
    given = ranks.drop(columns=["scale_low", "scale_high"]).assign(
        level="rank", value=4 - ranks["value"], item=ranks["campaign"], campaign="c"
    )
    asked = next(questions(rating_table(given), "rank"))
    found = pairs(asked)
    assert found is not None
    counts = found.counts()
    wins = counts.won + counts.lost.T
    place = {name: k for k, name in enumerate(found.systems)}
    for one, row in zip(expected["order"], expected["wins"], strict=True):
        for other, times in zip(expected["order"], row, strict=True):
            ours = float(wins[place[one], place[other]])
            yield Compared(source, f"wins of {one} over {other}", times, ours, 0)
    yield Compared(source, "ties", expected["ties"], float(counts.tied.sum()), 0)
    rates = win_rate(rating_table(given)).set_index("system")["won"]
    for one, row in zip(expected["order"], expected["wins"], strict=True):
        ours = float(rates[one])
        yield Compared(source, f"share of wins of {one}", sum(row) / 1440, ours, 1e-12)
