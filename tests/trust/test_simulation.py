"""The simulation finds nothing wrong, and finds each deliberate fault (G7, G23, G29).

`python -m tests.trust.simulation --steps 1000000` is for a night.
"""

from __future__ import annotations

import pytest

from tests.trust.simulated_bugs import BUGS, injected
from tests.trust.simulation import World

pytestmark = pytest.mark.django_db
SEED, ENOUGH = 1, 1_500


def test_the_model_and_the_system_agree() -> None:
    world = World(seed=7)
    world.run(120)
    assert world.counts["join"] > 5
    assert world.counts["send"] > 5


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3))
def test_the_model_and_the_system_agree_for_long(seed: int) -> None:
    world = World(seed)
    world.run(2_000)
    assert world.counts["rate"] > 20
    assert world.counts["killed"] > 20


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BUGS)
def test_each_deliberate_fault_is_found(name: str) -> None:
    with injected(name), pytest.raises(Exception) as found:  # noqa: PT011 (any that stops it)
        World(SEED).run(ENOUGH)
    assert found.type.__name__ in ("Wrong", "IntegrityError"), found.value
