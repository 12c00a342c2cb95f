"""The three persona reports on a made-up cast: correlations, filtering, speakers."""

from __future__ import annotations

import pytest

from analysis import get_report, rating_table, rendered
from analysis.conversations.persona_likeness import study
from tests.analysis.cast import play
from tests.analysis.examples import ratings

VOTES, MESSAGES = play()
NAMES = ("persona_metrics_nol", "persona_metrics_aupr")


def test_correlations_of_all_metrics_with_votes() -> None:
    report = get_report("persona_metrics_nol")(VOTES, MESSAGES)
    table, histogram, printed = (section.frame for section in report.sections)
    assert list(table["character"]) == ["baker", "doctor", "pirate"]
    assert set(table["utterances"]) == {90}
    for metric in ("PSProb", "PTSal"):
        assert all(float(cell.split()[0]) > 0.5 for cell in table[metric])
        assert all(cell.endswith("***") for cell in table[metric])
    assert all(float(cell.split()[0]) < -0.3 for cell in table["uPPL"])
    assert {"P-F1", "P-Cover"} <= set(table.columns)
    assert list(histogram.filter(like="NoL").sum(axis=1)) == [90, 90, 90]
    assert "Kirito" in set(printed["character"])


def test_metrics_learn_only_from_what_is_not_judged() -> None:
    found = study(VOTES, MESSAGES)
    assert found.reason is None
    without = MESSAGES[~MESSAGES["message"].str.contains("judged")]
    assert len(found.frame) == 270
    # A judged line that nobody says in a monologue has no nearest line of 100.
    said = set(without["text"])
    fresh = ~found.frame["text"].isin(said)
    assert (found.frame.loc[fresh, "MaxBLEU"] < 100).all()


def test_filtering_is_above_chance_and_has_curves() -> None:
    report = get_report("persona_metrics_aupr")(VOTES, MESSAGES)
    areas, curves, printed = (section.frame for section in report.sections)
    for metric in ("PSProb", "PTSal", "uPPL"):
        assert (areas[metric] > areas["chance"] + 0.1).all()
    assert areas["PSProb"].mean() > 0.9
    assert list(curves["recall"]) == [k / 10 for k in range(1, 11)]
    assert len(printed) == 10
    assert rendered(report) == rendered(get_report("persona_metrics_aupr")(VOTES, MESSAGES))


def test_speakers_and_perplexities() -> None:
    report = get_report("persona_metrics_speakers")(MESSAGES)
    told, matrix = report.sections[0].frame, report.sections[1].frame
    assert list(told["persona"]) == ["baker", "doctor", "pirate"]
    assert (told["recall"] > told["chance"]).all()
    assert report.findings[1] == "3 of 3 personas' lines surprise their own model least"
    assert list(matrix.columns) == ["model", "baker", "doctor", "pirate"]
    assert len(report.sections[3].frame) == 50


@pytest.mark.parametrize("name", NAMES)
def test_tables_without_such_votes_leave_the_print(name: str) -> None:
    report = get_report(name)(ratings([{"value": 3}]), MESSAGES)
    assert "no message was judged" in report.findings[0]
    assert report.sections[0].title.startswith("As printed: Miyazaki et al. 2021")


@pytest.mark.parametrize("name", NAMES)
def test_open_utterances_are_no_part_of_the_study(name: str) -> None:
    """Five votes of six asked for decide nothing; counts of five and of six are two measures."""
    report = get_report(name)
    waiting = rating_table(VOTES.assign(votes=6))
    assert "no message was judged" in report(waiting, MESSAGES).findings[0]
    first = VOTES["item"].eq("baker-judged0") & VOTES["character"].eq("baker")
    mixed = VOTES[~(first & VOTES["rater"].eq("baker4"))]
    asked = first.map({True: 4, False: 5}).loc[mixed.index]
    found = report(rating_table(mixed.assign(votes=asked)), MESSAGES)
    assert found.findings[0] == "NoL counts 4 and 5 votes of different utterances"


@pytest.mark.parametrize("name", NAMES)
def test_a_cast_without_monologues_says_so(name: str) -> None:
    judged = MESSAGES[MESSAGES["message"].str.contains("judged")]
    assert "no cast of two characters" in get_report(name)(VOTES, judged).findings[0]
