"""The scores of the live page are those of the analysis, and say when there is too little."""

import pytest

from analysis import evaluate
from tests.factories import make_campaign
from tests.webapp.services import rated
from webapp.services.data import tables
from webapp.services.results import scores

pytestmark = pytest.mark.django_db


def test_scores_are_those_of_the_analysis() -> None:
    campaign = rated.personachat(each=10, systems={"good": 1.2, "poor": -1.0})
    found = {(row.question, row.system): row for row in scores.scores(campaign)}
    whole = evaluate(tables.ratings(campaign))
    rows = whole[(whole["metric"] == "likert") & (whole["question"] == "fluency")]
    for row in rows.to_dict("records"):
        score = found["fluency", row["system"]]
        assert (score.estimate, score.low, score.n) == (row["estimate"], row["low"], row["n"])
        assert score.enough
    assert ("persona detection", "good") in found


def test_few_ratings_are_not_enough_for_an_interval() -> None:
    campaign = rated.personachat(each=3, systems={"good": 1.2})
    assert {score.enough for score in scores.scores(campaign)} == {False}


def test_without_ratings_there_are_no_scores() -> None:
    assert scores.scores(make_campaign()) == []
