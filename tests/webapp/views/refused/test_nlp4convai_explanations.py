"""NL-P8 and NL-P9 on pages: ranks with ties, sliders off their ends, one data set and one arm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.stats.intervals import Floats
from tests.asking import imported
from tests.webapp.views.judging import (
    Asked,
    arrived,
    asked,
    judge,
    judge_without_pages,
    rate,
    report_of,
)
from webapp.models import Campaign, Rating

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(400)]
DIMENSIONS = ("goodness", "relatedness", "grammaticality", "helpfulness", "plausibility")
MODELS = tuple(f"model{k}" for k in range(9))
SETS = {"COPA": 7, "NC": 8, "WSCG": 9}  # data sets, and how many explanations a prompt of each has
PROMPTS = 10
ARMS = ("original", "generated")
RATERS, FORMS = 10, 10  # in each arm, and of each


def prompts(dataset: str, models: int, count: int = PROMPTS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{dataset}{n}",
            "messages": [f"Statement {n} of {dataset} holds because ?"],
            "dataset": dataset,
            "replies": {name: f"Reason {n}.{k}." for k, name in enumerate(MODELS[:models])},
        }
        for n in range(count)
    ]


def ranks(page: Any, first: int = 1) -> dict[str, str | None]:
    """Return a list of ranks without ties, as the page has the replies."""
    return {name: str(first + place) for place, name in enumerate(asked(page))}


@pytest.mark.parametrize("models", [7, 8, 9])
def test_a_list_of_seven_to_nine_is_ranked_and_no_rank_comes_twice(models: int) -> None:
    visit = arrived(imported("explanation_ranking", prompts("NC", models, 1)))
    page = visit.get()
    good = ranks(page)
    assert len(good) == models
    first, second = list(good)[:2]
    for bad in ("1", "0", str(models + 1), "", None):  # a tie, ranks that there are not, and none
        assert rate(visit, good | {first: "1", second: bad}).context["screen"].name == "rate"
    assert not Rating.objects.exists()
    assert rate(visit, good).context["screen"].name == "ended"
    stored = sorted(Rating.objects.values_list("value", flat=True))
    assert stored == list(range(1, models + 1))


def rank_of(one: Asked, models: int) -> str:
    """Return the rank of a model: it goes round by one from prompt to prompt, best first."""
    number = int(one.context.removeprefix(one.context.rstrip("0123456789")))
    model = int(one.system.removeprefix("model"))
    turn = 1 if number == 0 else 0  # one prompt of ten is ranked otherwise
    return str((model + turn) % models + 1)


def test_ranks_are_0_to_1_of_ten_prompts_of_one_set_and_a_model_that_lacks_is_a_dash(
    tmp_path: Path,
) -> None:
    rows = [row for name, models in SETS.items() for row in prompts(name, models)]
    campaign = imported("explanation_ranking", rows)
    for _ in SETS:
        judge(campaign, lambda one: rank_of(one, len(one.keys)))
    _check_one_set_each(campaign)
    wide, long = report_of(campaign, tmp_path, "explanation_models")[:2]
    assert long["estimate"].between(0, 1).all()
    for dataset, models in SETS.items():
        cells = dict(zip(wide["model"], wide[f"rank, {dataset}"], strict=True))
        for k, name in enumerate(MODELS):
            mean = (9 * k + (k + 1) % models) / PROMPTS / (models - 1)
            assert cells[name] == (f"{mean:.3f}" if k < models else "-"), (dataset, name)


def _check_one_set_each(campaign: Campaign) -> None:
    """See that each participant ranked ten prompts, all of one data set, another one each."""
    rows = Rating.objects.filter(candidate__item__campaign=campaign).values_list(
        "assignment__participation",
        "candidate__item__context__key",
        "candidate__item__context__group",
    )
    found = defaultdict[int, set[tuple[str, str]]](set)
    for person, prompt, dataset in rows:
        found[person].add((prompt, dataset))
    sets = [{dataset for _, dataset in pairs} for pairs in found.values()]
    assert [len(pairs) for pairs in found.values()] == [PROMPTS] * len(SETS)
    assert sorted(map(sorted, sets)) == [[name] for name in SETS]


# --- NL-P9 ----------------------------------------------------------------------------------------


def explanations(count: int = FORMS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{n}",
            "messages": [f"Statement {n} holds because ?"],
            "replies": {"original": f"Own reason {n}.", "generated": f"Made reason {n}."},
        }
        for n in range(count)
    ]


@pytest.mark.parametrize("bad", ["-0.01", "1.01", "", None, "good", "nan"])
def test_a_slider_has_an_answer_from_0_to_1(bad: str | None) -> None:
    visit = arrived(imported("explanation_rating", explanations(1)))
    names = list(asked(visit.get()))
    assert len(names) == len(DIMENSIONS)
    ends = dict(zip(names, ("0", "1", "0.5", "0.25", "0.75"), strict=True))
    assert rate(visit, {**ends, names[2]: bad}).context["screen"].name == "rate"
    assert not Rating.objects.exists()
    rate(visit, ends)
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 0.25, 0.5, 0.75, 1]


def planted(arm: int) -> Floats:
    """Return five ratings for each form of an arm: participants differ, forms differ more.

    Four dimensions correlate by exactly .8, the fifth with each of them by .25.
    """
    chance = np.random.default_rng(arm)
    people = chance.normal(size=(RATERS, 1, 5))
    forms = (people + 1.2 * chance.normal(size=(RATERS, FORMS, 5))).reshape(-1, 5)
    centered = forms - forms.mean(axis=0)
    whitened = np.linalg.solve(np.linalg.cholesky(centered.T @ centered / len(forms)), centered.T)
    wanted = np.full((5, 5), 0.8)
    wanted[4, :] = wanted[:, 4] = 0.25
    np.fill_diagonal(wanted, 1)
    found: Floats = (np.linalg.cholesky(wanted) @ whitened).T * 0.1 + (0.6, 0.45)[arm]
    return found.reshape(RATERS, FORMS, 5)


def rated(tmp_path: Path) -> tuple[Mapping[str, Floats], Any, Any]:
    """Let people rate as planted; return what they rated by arm, and the report's tables.

    They look at pages until each arm has been seen; then forms are sent alone.
    """
    campaign = imported("explanation_rating", explanations(), {"rate.votes": RATERS})
    values = {name: np.clip(planted(k), 0, 1).round(3) for k, name in enumerate(ARMS)}
    came = dict.fromkeys(ARMS, 0)
    for _ in range(RATERS * len(ARMS)):
        arms = set[str]()

        def answer(one: Asked, arms: set[str] = arms) -> str:
            arms.add(one.system)
            dimension = DIMENSIONS.index(one.question)
            return str(values[one.system][came[one.system], one.number, dimension])

        if all(came.values()):
            judge_without_pages(campaign, answer)
            told = []
        else:
            told = judge(campaign, answer).told
        (arm,) = arms  # nobody is asked about both
        came[arm] += 1
        other = {"original": "Made reason", "generated": "Own reason"}[arm]
        assert not [page for page in told if other in page or arm in page]
    assert came == dict.fromkeys(ARMS, RATERS)
    means, _, pairs = report_of(campaign, tmp_path, "explanation_ratings")[:3]
    return values, means, pairs


def test_planted_correlations_and_means_come_back_and_participants_are_resampled(
    tmp_path: Path,
) -> None:
    values, means, pairs = rated(tmp_path)
    assert len(pairs) == 10
    for row in pairs.to_dict("records"):
        truth = 0.25 if "plausibility" in (row["dimension"], row["other"]) else 0.8
        assert row["low"] < truth < row["high"], row
        assert row["estimate"] == pytest.approx(truth, abs=0.02), row
    for row in means.to_dict("records"):
        mine = values[row["system"]][:, :, DIMENSIONS.index(row["dimension"])]
        assert row["estimate"] == pytest.approx(mine.mean())
        assert (row["low"], row["high"]) == pytest.approx(_of_people(mine), abs=0.004)
        least, most = _of_people(mine, "forms")
        assert row["high"] - row["low"] > 1.3 * (most - least), "not of forms"


def _of_people(forms: Floats, drawn: str = "people") -> tuple[float, float]:
    """Return a bootstrap interval of the mean by hand, over people or over forms."""
    units = forms.mean(axis=1) if drawn == "people" else forms.ravel()
    chance = np.random.default_rng(1)
    again = chance.choice(units, size=(20_000, len(units))).mean(axis=1)
    low, high = np.percentile(again, [2.5, 97.5])
    return float(low), float(high)
