"""Votes asked for (ME-P1): no item is decided before the last one, wherever its score is read.

Rules V8.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import read
from analysis.__main__ import main
from analysis.metrics.ssa import ssa
from tests.factories import NOW
from tests.webapp.services.people import join
from tests.webapp.services.rating.test_items import built, judge
from webapp.models import Campaign, Item, Rating
from webapp.services.data import exports, tables
from webapp.services.participation import enrolment
from webapp.services.results import page, scores

pytestmark = pytest.mark.django_db
ITEMS = 4  # replies of two systems to two contexts


def came(campaign: Campaign, raters: int) -> None:
    """Let people come and judge every item: sensible, not specific."""
    for _ in range(raters):
        person = enrolment.start(person=join(campaign), now=NOW)
        for _ in range(ITEMS):
            judge(person)


def told(found: pd.DataFrame) -> dict[str, set[Any]]:
    """Return what the two systems' rows of SSA say."""
    rows = found[found["metric"] == "ssa"]
    return {name: set(rows[name]) for name in ("evaluation", "votes", "n", "open_items")}


def everywhere(campaign: Campaign, folder: Path) -> Iterator[dict[str, set[Any]]]:
    """Yield what is told of SSA by the page's tables, the page, and both tables of an export."""
    yield told(ssa(tables.ratings(campaign)))
    yield told(pd.DataFrame(page.numbers(of=campaign)))
    path = exports.write_to(campaign=campaign, path=folder / "export.zip")
    exported = read(path).ratings
    assert exported is not None
    yield told(ssa(exported))


@pytest.mark.parametrize("raters", [1, 3, 4])
def test_until_the_fifth_vote_every_item_is_open_everywhere(raters: int, tmp_path: Path) -> None:
    campaign = built(2, batch=ITEMS)
    came(campaign, raters)
    for found in everywhere(campaign, tmp_path):
        assert found == {"evaluation": {"static"}, "votes": {5}, "n": {0}, "open_items": {2}}
    part = next(part for part in page.page(of=campaign).parts if part.key == "ssa")
    assert part.title == f"No reply is decided yet: too few votes, or ties (open: {ITEMS})"
    assert scores.scores(campaign) == []


def test_the_fifth_vote_decides_everywhere(tmp_path: Path) -> None:
    campaign = built(2, batch=ITEMS)
    came(campaign, 5)
    for found in everywhere(campaign, tmp_path):
        assert found == {"evaluation": {"static"}, "votes": {5}, "n": {2}, "open_items": {0}}
    part = next(part for part in page.page(of=campaign).parts if part.key == "ssa")
    assert part.title == "alpha has the highest SSA: 0.50"
    assert {score.estimate for score in scores.scores(campaign)} == {0.0, 0.5, 1.0}


@pytest.mark.parametrize("raters", [1, 3, 5])
def test_the_command_tells_the_same_of_an_export(
    raters: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = built(2, batch=ITEMS)
    came(campaign, raters)
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    assert main([str(path), "--report", "meena_ssa"]) == 0
    printed = capsys.readouterr().out
    waiting = f"No item is decided yet: too few votes, or ties (open: {ITEMS})."
    assert (waiting in printed) == (raters < 5)
    assert ("alpha has the highest SSA of 2: 50.0 %." in printed) == (raters == 5)
    assert "static" in printed
    assert main([str(path), "--json"]) == 0
    rows = pd.DataFrame(json.loads(capsys.readouterr().out))
    assert told(rows) == told(pd.DataFrame(page.numbers(of=campaign)))


def test_each_item_has_its_own_number_of_votes() -> None:
    """What is asked for of an item is its own, not the table's most, nor what it has so far."""
    campaign = built(2, batch=ITEMS)
    few = Item.objects.earliest("pk")
    Item.objects.filter(pk=few.pk).update(target=3)
    came(campaign, 3)
    rows = tables.ratings(campaign)
    asked = dict(zip(rows["item"], rows["votes"], strict=True))
    assert asked == {each.key: 3 if each.pk == few.pk else 5 for each in Item.objects.all()}
    found = ssa(rows)
    assert found.loc[found["metric"] == "ssa", "n"].sum() == 1


def test_a_vote_that_is_set_aside_opens_its_item_again() -> None:
    """Four votes that count decide no more after the fifth was excluded than before it came."""
    campaign = built(2, batch=ITEMS)
    came(campaign, 5)
    last = Rating.objects.latest("pk").assignment.participation
    last.excluded = "spam"
    last.save()
    found = ssa(tables.ratings(campaign))
    assert set(found["n"]) == {0}
    assert set(found["open_items"]) == {2}
