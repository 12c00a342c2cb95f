"""The board of a competition on its page: dashes, metrics left out, and the baseline below."""

from __future__ import annotations

import random
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from tests.webapp.services.studies import make_study
from tests.webapp.views.refused.test_convai2 import ENTERED, TABLE, entry, named, sent
from webapp import clock
from webapp.models import Entry, Study

pytestmark = pytest.mark.django_db
Scores = dict[str, dict[str, float]]  # of each team, by the metrics that it entered
BASELINE = "baseline"


def on_page(ann: Client, study: Study, scores: Scores, baseline: str) -> list[list[str]]:
    """Announce, enter each team by the forms, and return rank, team and scores on the page.

    What the hidden test gave is noted as `competition run` notes it.
    """
    today = clock.now().date()
    rules = {"action": "announce", "baseline": baseline, "advance": "2", "candidates": "20"}
    rules |= {"opens": str(today - timedelta(days=9)), "closes": str(today)}
    sent(ann, study, rules | {"choice": ", ".join(ENTERED)})
    for team, own in scores.items():
        sent(ann, study, entry(TABLE[0]) | {"team": team, "metrics": ", ".join(own)})
        Entry.objects.filter(team=team).update(scores=own, ran_at=clock.now())
    page = ann.get(reverse("competition", args=[study.pk])).content.decode()
    text = re.sub(r"\s+", " ", page)
    lines = [re.findall(r"<t[dh][^>]*>\s*(.*?)\s*</t[dh]>", line) for line in text.split("<tr>")]
    cells = [[re.sub(r"<[^>]+>", "", cell).strip() for cell in line] for line in lines]
    return [line[:5] for line in cells if len(line) > 4 and line[1] in scores]


def test_each_metric_that_table_3_has_not_is_a_dash_on_the_page(ann: Client) -> None:
    rows = [row for row in TABLE if row["rank"] is not None] + [TABLE[-1]]
    scores = {
        named(row): {name: row[name] for name in ENTERED if row[name] is not None} for row in rows
    }
    mixed = dict(random.Random(5).sample(list(scores.items()), len(scores)))
    found = on_page(ann, make_study(), mixed, named(TABLE[-1]))
    assert found == [
        [
            str(row["rank"] or "-"),
            named(row),
            *("-" if row[name] is None else f"{row[name]:.2f}" for name in ENTERED),
        ]
        for row in rows
    ]
    assert sum(line.count("-") for line in found[:-1]) == sum(
        row[name] is None for row in rows[:-1] for name in ENTERED
    )


@pytest.mark.parametrize(("score", "first"), [(4.5, "both"), (2.5, "one")])
def test_a_metric_left_out_counts_neither_as_the_worst_nor_as_the_best(
    ann: Client, score: float, first: str
) -> None:
    """Of five, equal in perplexity: `both` is second or fourth in F1, which `one` left out.

    As the worst, `one` would always stand behind, and as the best always in front.
    """
    scores = {"both": {"ppl": 1.0, "F1": score}, "one": {"ppl": 1.0}, BASELINE: {"F1": 99.0}}
    scores |= {name: {"ppl": 7.0 + n, "F1": 5.0 - n} for n, name in enumerate("xyz")}
    found = on_page(ann, make_study(), scores, BASELINE)
    leading = next(line[1] for line in found if line[1] in ("both", "one"))
    assert leading == first
    assert next(line for line in found if line[1] == "one")[2:] == ["1.00", "-", "-"]
    assert (found[-1][:2], len(found)) == (["-", BASELINE], 6)
