"""Deliberate faults, each caught by the ledger checker; without, the same run is clean (G23, G29).

`python -m tests.trust.seeded_bugs` prints the table.
"""

from __future__ import annotations

import pytest

from tests.trust.drills import DRILLS
from tests.trust.seeded_bugs import attempt

pytestmark = [pytest.mark.trust, pytest.mark.timeout(260)]


@pytest.mark.parametrize("name", DRILLS)
def test_the_bug_is_caught(name: str) -> None:
    tried = attempt(name, with_bug=True)
    assert tried.caught_by in tried.drill.caught_by, str(tried)


# Those of the first people without any condition of their own: the other runs show the same.
ALIKE = ("rating_off_by_one", "label_flipped")


@pytest.mark.parametrize("name", [name for name in DRILLS if name not in ALIKE])
def test_the_same_run_without_the_bug_is_clean(name: str) -> None:
    tried = attempt(name, with_bug=False)
    assert tried.right, str(tried)
