"""The simulation finds nothing wrong, and finds each deliberate fault (G7, G23, G29).

`python -m tests.trust.simulation --steps 1000000` is for a night.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.trust.simulation import steps
from tests.trust.simulation.__main__ import MOST_REFUSED
from tests.trust.simulation.bugs import BUGS, injected
from webapp.services.participation import limits

pytestmark = pytest.mark.django_db
SEED, ENOUGH = 1, 3_000


def test_the_model_and_the_system_agree() -> None:
    counts = steps.run(7, 120)
    assert counts["join"] > 5
    assert counts["send"] > 5


def test_no_campaign_is_kept_out_by_the_joins_of_those_before_it() -> None:
    """Its people have their numbers: a limit per minute of this machine's clock would hold them."""
    for _ in range(limits.PER_MINUTE[limits.JOINS] + 1):
        for number in range(500):
            limits.allow(limits.JOINS, number)
    counts = steps.run(7, 120)
    assert counts["join"] > 5
    assert counts["refused"] < MOST_REFUSED * counts["steps"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3))
def test_the_model_and_the_system_agree_for_long(seed: int) -> None:
    counts = steps.run(seed, ENOUGH)
    assert counts["rate"] > 20
    assert counts["killed"] > 20


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BUGS)
def test_each_deliberate_fault_is_found(name: str) -> None:
    found = Counter[str]()
    with injected(name), pytest.raises(Exception) as stopped:  # noqa: PT011 (any that stops it)
        steps.run(SEED, ENOUGH, counts=found)
    assert stopped.type.__name__ in ("Wrong", "IntegrityError"), stopped.value
    print(f"{name}: after {found['steps']} steps")
