"""One's own systems in the layout of the paper's table."""

from __future__ import annotations

import json

from analysis.reports.personachat_human import personachat_human
from tests.analysis.examples import ROOT, labels, ratings


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
    own, _, printed = (section.frame for section in report.sections)
    assert own.to_dict("records")[0] == {
        "group": "group not told",
        "system": "high",
        "profile": "",
        "fluency": "4.67 (0.47)",
        "engagingness": "4.67 (0.47)",
        "consistency": "4.67 (0.47)",
        "persona detection": "0.67 (0.47)",
        "n": 3,
    }
    assert list(own["system"]) == ["high", "low"]
    assert len(printed) == 9


def test_the_printed_table_comes_back_to_the_digit() -> None:
    path = ROOT / "analysis" / "reference" / "personachat_human.json"
    stored = json.loads(path.read_text("utf-8"))["rows"]
    printed = personachat_human(ratings([{"value": 3}])).sections[-1].frame
    for shown, row in zip(printed.to_dict("records"), stored, strict=True):
        assert (shown["system"], shown["profile"]) == (row["model"], row["profile"])
        assert shown["n"] == 100
        for column in ("fluency", "engagingness", "consistency", "persona detection"):
            mean, sd = shown[column].rstrip(")").split(" (")
            of = row[column.replace(" ", "_")]
            assert (float(mean), float(sd)) == (of["mean"], of["sd"])
    assert printed["group"].tolist() == [
        "human",
        *["generative"] * 2,
        *["ranking"] * 2,
        *["other data"] * 4,
    ]


def test_groups_stand_in_the_order_of_the_paper_and_the_most_engaging_first() -> None:
    bots = {"w": "seq2seq", "w2": "language_model", "r": "starspace", "outside_lm": "seq2seq"}
    scores = {"outside_lm": 5, "r": 2, "x": 4, "human": 1, "w": 3, "w2": 4}
    rows = [
        {
            "system": system,
            "value": value,
            "question": "engagingness",
            "settings": settings(bots, system),
        }
        for system, value in scores.items()
    ]
    report = personachat_human(ratings(rows))
    own = report.sections[0].frame
    assert own[["group", "system", "profile"]].to_numpy().tolist() == [
        ["human", "human", "self"],
        ["generative", "w2", "self"],
        ["generative", "w", "none"],
        ["ranking", "r", "none"],
        ["group not told", "x", ""],
        ["other data", "outside_lm", "none"],
    ]
    assert report.findings == ("outside_lm is the most engaging of 5: 5.00 (0.00).",)


def settings(bots: dict[str, str], system: str) -> str:
    bot = bots.get(system)
    return json.dumps({"bot": bot, "sees_persona": system == "w2"}) if bot else ""


def test_a_column_of_groups_goes_before_what_names_and_bots_say() -> None:
    rows = [
        {"system": system, "value": 3, "question": "fluency", "group": group}
        for system, group in (("outside_lm", "ranking"), ("a", "generative"), ("b", ""))
    ]
    own = personachat_human(ratings(rows)).sections[0].frame
    assert dict(zip(own["system"], own["group"], strict=True)) == {
        "a": "generative",
        "outside_lm": "ranking",
        "b": "group not told",
    }


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
