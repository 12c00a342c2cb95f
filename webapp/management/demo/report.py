"""The end of the demo: a real export, read by the real analysis, and the order that it found.

Apart because Django takes each module of the folder of commands for a command.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from django.conf import settings

from webapp import clock
from webapp.crowd.people import Quality
from webapp.crowd.power import found_order, planted_order
from webapp.management.demo.planted import SCALES
from webapp.models import Campaign
from webapp.services.data import exports

COLUMNS = {"estimate": "calibrated", "low": "low", "high": "high", "raw": "raw mean", "n": "n"}


@dataclass(frozen=True)
class Verdict:
    """The orders found, beside those planted."""

    found: Mapping[str, list[str]]
    planted: Mapping[str, list[str]]
    table: str
    export: Path

    @property
    def recovered(self) -> bool:
        return self.found == self.planted

    def __str__(self) -> str:
        lines = [self.table, ""]
        for question, planted in self.planted.items():
            same = self.found[question] == planted
            word = "came back" if same else f"was planted, found {' > '.join(self.found[question])}"
            lines.append(f"{question}: {' > '.join(planted)} {word}")
        return "\n".join([*lines, f"export: {self.export}"])


def judge(campaign: Campaign, planted: Mapping[str, Quality]) -> Verdict:
    """Export a campaign, have it analyzed by command, and compare the orders."""
    path = exports.write(campaign=campaign, folder=settings.DATA_DIR / "exports", now=clock.now())
    answer = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-m", "analysis", str(path), "--json"],
        cwd=settings.BASE_DIR,
        check=True,
        capture_output=True,
        text=True,
    )
    results = pd.DataFrame(json.loads(answer.stdout))
    return Verdict(
        {question: found_order(results, question) for question in SCALES},
        {question: planted_order(planted, question) for question in SCALES},
        _headline(results),
        path,
    )


def _headline(results: pd.DataFrame) -> str:
    """Return the calibrated scores beside the raw means, best first."""
    scores = results[results["metric"] == "calibrated_score"]
    scores = scores.sort_values(["question", "estimate"], ascending=[True, False])
    table = scores[["question", "system", *COLUMNS]].rename(columns=COLUMNS)
    return str(table.to_string(index=False, float_format=lambda value: f"{value:.2f}"))
