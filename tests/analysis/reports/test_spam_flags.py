"""The report of validity flags, and the one of paid against wild evaluation."""

from __future__ import annotations

import pandas as pd

from analysis import get_report, rating_table, rendered
from tests.analysis.examples import ratings
from tests.analysis.metrics.test_flagged_conversations import BAD, GOOD
from tests.analysis.talks import talks, volunteer_messages, volunteers

spam_flags = get_report("spam_flags")
convai2_wild = get_report("convai2_wild")
TABLE = talks([GOOD, BAD, BAD, GOOD])
SCORES = ratings(
    [
        {"campaign": "paid", "conversation": "c0", "rater": "r0", "value": 4},
        {"campaign": "wild", "conversation": "c1", "rater": "r1", "value": 5},
        {"campaign": "wild", "conversation": "c3", "rater": "r1", "value": 2},
    ]
)


def test_flags_by_system_reason_and_person() -> None:
    report = spam_flags(TABLE, SCORES)
    assert report.findings == ("2 of 4 conversations are flagged: 50.0%.",)
    by_system, reasons, people, rules = report.sections
    assert by_system.frame.loc[0, "share"] == 0.5
    assert dict(zip(reasons.frame["reason"], reasons.frame["conversations"], strict=True)) == {
        "few_exchanges": 2, "short_messages": 2, "no_score": 1,
    }  # fmt: skip
    assert list(people.frame["person"]) == ["r1", "r0"]
    assert list(people.frame["share"]) == [0.5, 0.0]
    assert "below 3" in set(rules.frame["limit"])


def test_nobody_talked() -> None:
    report = spam_flags(TABLE.iloc[:0])
    assert report.findings[0].startswith("No conversation")
    assert rendered(report)


def test_means_stand_with_and_without_what_is_flagged() -> None:
    report = convai2_wild(SCORES, TABLE)
    tracks, shifts, raters = (section.frame for section in report.sections[:3])
    assert tracks.to_dict("list") == {
        "track": ["paid", "wild", "(no score)"],
        "conversations": [1, 2, 1],
        "flagged": [0, 1, 1],
        "share": [0.0, 0.5, 1.0],
    }
    wild = shifts.set_index("track").loc["wild"]
    assert (wild["shift"], wild["n"], wild["n unflagged"]) == (-1.5, 2, 1)
    assert list(raters["raters"]) == [1, 0, 1, 0, 0]
    assert "1.50 (s, q, wild)" in report.findings[0]
    assert "1111" in rendered(report)


def test_scores_of_other_conversations_leave_only_the_print() -> None:
    report = convai2_wild(ratings([{"conversation": "x", "value": 3}]), TABLE)
    assert report.findings == ("No score is of a conversation in the log.",)


def test_real_volunteers() -> None:
    talks_of = volunteers()
    scores = talks_of["eval_score"].dropna()
    given = rating_table(
        pd.DataFrame(
            {
                "answer": [f"a{k}" for k in scores.index],
                "campaign": "wild",
                "protocol": "convai2",
                "question": "score",
                "level": "ordinal",
                "item": [f"d{k}" for k in scores.index],
                "conversation": [f"d{k}" for k in scores.index],
                "system": [talks_of["participant2_id"][k]["user_id"] for k in scores.index],
                "rater": [talks_of["participant1_id"][k]["user_id"] for k in scores.index],
                "value": scores.to_numpy(),
                "place": 0,
            }
        )
    )
    assert (len(given), given["rater"].nunique() <= 146) == (198, True)
    report = convai2_wild(given, volunteer_messages())
    shifts = report.sections[1].frame
    assert (shifts["shift"].dropna() > 0).mean() > 0.7  # who stays to talk gives more
