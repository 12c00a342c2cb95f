"""Adversaries among honest people: within the budget, and nobody who worked goes unpaid (G28)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import live

pytestmark = [pytest.mark.trust, pytest.mark.slow, pytest.mark.timeout(400)]


def test_adversaries_get_no_more_than_the_budget_and_nothing_by_guessing() -> None:
    words = ["-m", "tests.trust.adversaries", "--attempts", "14", "--honest", "10", "--seed", "2"]
    done = subprocess.run(
        [sys.executable, *words], cwd=live.ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["broken"] == [], found
    assert set(found["attempts"].values()) == {2}
    assert sum(found["honest"].values()) == 10
    for campaign in found["budgets"].values():
        assert campaign["codes"] <= campaign["budget"]
    assert found["loss per 1,000"]["code guessers"] == 0
    assert found["loss per 1,000"]["screen-out farmers"] == 200, "both were paid 0.20, as announced"
    assert sum(found["loss per 1,000"].values()) > 0, "who works by the rule is paid, whoever it is"
    assert done.returncode == 0
