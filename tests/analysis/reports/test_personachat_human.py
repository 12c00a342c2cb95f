"""One's own systems in the layout of the paper's table."""

from __future__ import annotations

from analysis.reports.personachat_human import personachat_human
from tests.analysis.examples import labels, ratings


def test_the_layout_of_table_4() -> None:
    rows: list[dict[str, object]] = []
    for system, scores in (("low", (1, 2, 3)), ("high", (4, 5, 5))):
        for k, score in enumerate(scores):
            about = {"system": system, "item": f"{system}{k}", "rater": f"{system}{k}"}
            for question in ("fluency", "engagingness", "consistency"):
                rows.append({**about, "question": question, "value": score})
            guess = {"question": "persona", "level": "nominal", "value": int(k > 0)}
            rows.append({**about, **guess})
    report = personachat_human(ratings(rows))
    own, printed = (section.frame for section in report.sections)
    assert own.to_dict("records")[0] == {
        "system": "high",
        "fluency": "4.67 (0.47)",
        "engagingness": "4.67 (0.47)",
        "consistency": "4.67 (0.47)",
        "persona detection": "0.67 (0.47)",
        "n": 3,
    }
    assert list(own["system"]) == ["high", "low"]
    assert list(printed.iloc[0]) == [
        "Human (self persona)",
        "4.31 (1.07)",
        "4.25 (1.06)",
        "4.36 (0.92)",
        "0.95 (0.22)",
        100,
    ]
    assert len(printed) == 9


def test_two_protocols_are_weighted_by_their_dialogues() -> None:
    rows: list[dict[str, object]] = [
        {"value": value, "protocol": protocol, "question": "fluency"}
        for protocol, values in (("bot", (1, 2, 3)), ("human", (5,)))
        for value in values
    ]
    own = personachat_human(ratings(rows)).sections[0].frame
    assert own["fluency"].iloc[0] == "2.75 (1.48)"
    assert own["engagingness"].iloc[0] == "-"


def test_other_tables_have_no_such_ratings() -> None:
    report = personachat_human(labels([("s", "i", "r", 1, 1)]))
    assert report.findings[0].startswith("This table has no ratings of fluency")
    assert len(report.sections) == 1
