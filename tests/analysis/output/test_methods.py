"""The methods text: what the plan says, what was computed, and nothing that neither says."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from analysis import RatingTable, evaluate, rating_table
from analysis.output.methods import (
    SENTENCES,
    UNKNOWN_LOSSES,
    analysis_sentences,
    estimators,
    methods,
    scale,
)
from analysis.output.summary import composed
from analysis.registry import metric_names
from evaluation.registry import get_protocol, protocol_names
from tests.analysis.examples import labels, simulated
from tests.analysis.planned import PLAN, study
from tests.analysis.samples import tables

LATER_FIELDS = (
    "yes",
    "no",
    "intended",
    "examples",
    "images",
    "better",
)  # than plans without offers
FIRST_KINDS = ("Likert", "YesNo", "PersonaChoice")  # of the plans that had no offers


def _text(**changes: Any) -> str:
    table = simulated()
    results = evaluate(table)
    return "\n".join(
        methods(table, results, study(**changes), printed=composed(table, results).sections)
    )


def test_the_plan_is_told_with_its_source_and_departures() -> None:
    text = _text()
    assert "“Humor after a chat” (this study, section 2), departing from it in one setting" in text
    assert "most messages: 8 in place of none" in text
    assert "SHA-256 abc123" in text
    assert (
        "at least 4 or 6 messages of both sides, drawn for each conversation, and at most 8" in text
    )
    assert "paid 2.00 GBP for about 8 minutes (15.00 GBP per hour)" in text


def test_questions_have_their_wording_and_scale() -> None:
    text = _text()
    assert "funny: “How funny?” (1 to 3; 1 = not at all, 3 = very)." in text
    assert "again: “Once more?” (yes or no, asked only if funny)." in text


def test_a_kind_says_itself_what_can_be_answered() -> None:
    question = {"name": "warmth", "type": "Slider", "low": 0.0}
    assert scale(question | {"offer": "anywhere from cold to warm"}) == "anywhere from cold to warm"
    assert scale(question) == "as stored"


@pytest.mark.parametrize("name", protocol_names())
def test_a_plan_frozen_before_is_told_in_the_same_words(name: str) -> None:
    """Plans had the fields of a question only, not what its kind says; there were three kinds."""
    for step in get_protocol(name).rates:
        for question in step.each:
            fields = json.loads(json.dumps(dataclasses.asdict(question)))
            fields = {name: each for name, each in fields.items() if name not in LATER_FIELDS}
            kind = type(question).__name__
            offer = question.offer() if kind in FIRST_KINDS else "as stored"
            assert scale(fields | {"type": kind}) == offer


def test_what_was_computed_is_told_and_nothing_else() -> None:
    text = _text()
    assert "Scores of q are of a linear model with systems and random effects of raters" in text
    assert "Systems are compared on q by the same model" in text
    assert "bias was removed" not in text
    assert "No metric applies" in methods(simulated(), evaluate(simulated()).head(0))[-2]
    assert SENTENCES["ssa"][1] not in text
    assert set(SENTENCES) <= set(metric_names())


def _labels() -> RatingTable:
    rows = [(s, f"{s}{k}", f"r{r}", int(k > 2), 0) for s in "ab" for k in range(6) for r in "12"]
    return labels(rows)


@pytest.mark.parametrize("make", [simulated, _labels, lambda: rating_table(tables()["ratings"])])
def test_each_sentence_is_of_a_printed_table_and_goes_with_it(
    make: Callable[[], RatingTable],
) -> None:
    table = make()
    results = evaluate(table)
    printed = composed(table, results).sections
    said = list(analysis_sentences(results, printed))
    assert said
    text = " ".join(methods(table, results, printed=printed))
    for key, sentence in said:
        assert sentence in text
        kind = key.partition("-")[0]  # of several questions one table of the kind is enough
        left = [each for each in printed if each.key.partition("-")[0] != kind]
        assert len(left) < len(printed)
        assert sentence not in " ".join(methods(table, results, printed=left))
    assert "No metric applies" in " ".join(methods(table, results, printed=()))


def test_raters_dropped_by_standardizing_are_counted() -> None:
    table = simulated(raters=10)
    extra = table.iloc[:1].assign(rater="alone", item="other", answer="other")
    both = rating_table(pd.concat([table, extra], ignore_index=True))
    results = evaluate(both)
    text = " ".join(methods(both, results, printed=composed(both, results).sections))
    assert "of 10 raters who judged several systems were dropped" in text


def test_a_bare_table_says_that_no_plan_came_with_it() -> None:
    table = simulated()
    text = methods(table, evaluate(table))
    design = "Design. Protocol: p. No plan came with this table of ratings."
    assert text[0] == f"{design} {UNKNOWN_LOSSES}"
    told = rating_table(table.assign(lost=0.0))
    assert methods(told, evaluate(told))[0] == design
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


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (1, "2.00 GBP for about 8 minutes (15.00 GBP per hour). How"),
        (3, "2.00 GBP per conversation of about 8 minutes (15.00 GBP per hour), each of up to 3 "),
    ],
)
def test_the_pay_is_that_of_a_conversation_where_there_may_be_several(most: int, told: str) -> None:
    plan = copy.deepcopy(PLAN)
    plan["protocol"]["steps"][0]["conversations"] = most
    assert told in _text(plan=plan)


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        (
            "personachat_personas",
            "1155 personas of 5 sentences were planned, of which 100 were set aside for validation "
            "and 100 for test; each participant was asked for 1. Each text was read before",
        ),
        ("personachat_revisions", "Revisions of personas were planned, one of every original;"),
    ],
)
def test_where_people_write_no_system_is_said_to_be_compared(protocol: str, told: str) -> None:
    write = get_protocol(protocol).write
    assert write is not None
    steps = [{"step": "write", **dataclasses.asdict(write)}]
    plan = {**PLAN, "protocol": {**PLAN["protocol"], "steps": steps}}
    table = simulated()
    text = "\n".join(methods(table, evaluate(table).head(0), study(plan=plan)))
    assert f"Writing. {told}" in text
    assert "compared" not in text
    assert "Questions." not in text
    assert "gave consent before they began and were paid 2.00 GBP" in text


def test_volunteers_are_not_said_to_be_paid() -> None:
    text = _text(plan={**PLAN, "pay": {**PLAN["pay"], "amount": "0.00", "hourly": "0.00"}})
    assert "gave consent before they began and took part without pay, for about 8 minutes." in text
    assert "paid 0" not in text
