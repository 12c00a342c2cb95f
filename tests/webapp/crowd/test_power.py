"""The rating model and the real analysis bring a planted order back where there is one."""

from __future__ import annotations

from webapp.crowd.people import Mix
from webapp.crowd.power import planted_order, power, ratings
from webapp.management.demo import planted


def test_the_demos_order_comes_back() -> None:
    """The figure for 2,000 runs is printed by `manage.py demo --power 2000`."""
    found = power(
        planted.RANKED, planted.SCALES, each=planted.EACH, runs=12, seed=0, mix=planted.MIX
    )
    assert found.failed == ()


def test_qualities_that_hardly_differ_are_not_told_apart() -> None:
    close = {name: {"fluency": 3.0 + number / 100} for number, name in enumerate("abcd")}
    found = power(close, ["fluency"], each=5, runs=10, seed=0, mix=Mix())
    assert found.share < 0.5


def test_every_person_rates_one_partner_on_every_question() -> None:
    stays = Mix(dropout=0.0)
    table = ratings(planted.RANKED, planted.SCALES, each=6, seed=1, mix=stays)
    assert len(table) == 6 * 4 * 3
    assert (table.groupby("rater")["system"].nunique() == 1).all()
    leaves = Mix(spam=0.0, dropout=0.5)
    assert len(ratings(planted.RANKED, planted.SCALES, each=6, seed=1, mix=leaves)) < len(table)
    assert planted_order(planted.RANKED, "fluency")[0] == "profile-memory"
