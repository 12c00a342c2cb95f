"""The methods text: what the plan says, what was computed, and nothing that neither says."""

from __future__ import annotations

from analysis import evaluate
from analysis.methods import SENTENCES, estimators, methods
from analysis.registry import metric_names
from tests.analysis.examples import simulated
from tests.analysis.planned import study


def _text() -> str:
    table = simulated()
    return "\n".join(methods(table, evaluate(table), study()))


def test_the_plan_is_told_with_its_source_and_departures() -> None:
    text = _text()
    assert "“Humor after a chat” (this study, section 2), departing from it in one setting" in text
    assert "most messages: 8 in place of none" in text
    assert "SHA-256 abc123" in text
    assert (
        "at least 4 or 6 messages of both sides, drawn for each conversation, and at most 8" in text
    )
    assert "paid 2.00 GBP for about 8 minutes (15.00 GBP an hour)" in text


def test_questions_have_their_wording_and_scale() -> None:
    text = _text()
    assert "funny: “How funny?” (1 to 3; 1 = not at all, 3 = very)." in text
    assert "again: “Once more?” (yes or no, asked only if funny)." in text


def test_what_was_computed_is_told_and_nothing_else() -> None:
    text = _text()
    assert SENTENCES["likert"] in text
    assert "No metric applies" in methods(simulated(), evaluate(simulated()).head(0))[-2]
    assert SENTENCES["ssa"] not in text
    assert set(SENTENCES) <= set(metric_names())


def test_a_bare_table_says_that_no_plan_came_with_it() -> None:
    table = simulated()
    text = methods(table, evaluate(table))
    assert text[0] == "Design. Protocol: p. No plan came with this table of ratings."
    assert text[1] == "Sample. 60 raters gave 240 answers on 240 items of 4 systems."


def test_every_metric_that_was_used_is_described_by_its_own_words() -> None:
    table = simulated()
    section = estimators(evaluate(table))
    said = dict(zip(section.frame["metric"], section.frame["computed as"], strict=True))
    assert "Kulikov et al. 2018" in said["calibrated_score"]
    assert "ssa" not in said


def test_amendments_are_told() -> None:
    table = simulated()
    amended = study(amendments=["More people."])
    assert "amended once: More people." in methods(table, evaluate(table), amended)[0]
