"""Reports in their papers' layouts, made of exports of campaigns that people went through."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis import Report
from tests.webapp.services.judged import exported, judge, replies_campaign, report_of

pytestmark = pytest.mark.django_db


def table(report: Report, title: str) -> pd.DataFrame:
    """Return the table of the section whose title begins so."""
    (frame,) = (
        each.frame
        for each in report.sections
        if each.title == title or each.title.startswith(f"{title} ")
    )
    return frame


# --- THRED: grades and side by side -----------------------------------------------------------

GRADES = {"thred": 3, "seq2seq": 1, "hred": 0}
PREFERRED = {  # of the contexts, in order, by two raters
    "seq2seq": [("thred", "thred"), ("seq2seq", "thred"), ("equally good", "equally bad")],
    "hred": [("thred", "thred"), ("thred", "thred"), ("equally bad", "equally bad")],
}


def test_thred_tables_come_from_an_export(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"k{n}",
            "messages": ["Hi.", f"Hello {n}."],
            "dataset": "Reddit",
            "replies": {name: f"I am {name} {n}." for name in GRADES},
        }
        for n in range(3)
    ]
    campaign = replies_campaign("graded_pairs", rows, votes=2, batch=6)
    assert campaign.items.count() == 6, "the first system beside each of the others"

    def answer(question: str, context: str, system: str, rater: int) -> str:
        if question == "grade":
            seen.append(system)
            return str(GRADES[system])
        (other,) = set(seen[-2:]) - {"thred"}
        return PREFERRED[other][int(context[1:])][rater]

    seen: list[str] = []
    judge(campaign, 2, answer)
    assert len(exported(campaign, tmp_path)) == 2 * 6 * 4
    report = report_of("thred_human", campaign, tmp_path)
    scale = table(report, "thred has").set_index("system")
    assert list(scale["dataset"].unique()) == ["Reddit"]
    assert scale["MER"].to_dict() == GRADES
    assert scale["ratings"].to_dict() == {"thred": 12, "seq2seq": 6, "hred": 6}
    pairs = table(report, "Side by side")
    own = pairs[pairs["system"] == "thred"].set_index("against")
    shares = own[["wins", "losses", "equally good", "equally bad"]].map(
        lambda cell: float(cell.split(" ")[0])
    )
    assert shares.loc["seq2seq"].tolist() == [50.0, 16.7, 16.7, 16.7]
    assert shares.loc["hred"].tolist() == [66.7, 0.0, 0.0, 33.3]
    assert shares.sum(axis=1).tolist() == pytest.approx([100, 100], abs=0.2)
