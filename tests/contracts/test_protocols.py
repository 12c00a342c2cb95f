"""What every file of `evaluation/protocols/` must do."""

from __future__ import annotations

import importlib
import re

import pytest

from evaluation import InvalidAnswers, InvalidSetting, Protocol, Question, Rate, Shown, Words
from evaluation.registry import UnknownProtocol, get_protocol, protocol_names
from evaluation.setting_types import Text
from evaluation.words import texts

protocols = pytest.mark.parametrize(
    "protocol", [get_protocol(n) for n in protocol_names()], ids=protocol_names()
)


def shown_for(rate: Rate, *candidates: str) -> Shown:
    """What could have been drawn for a rater of these candidates."""
    drawn = [question.name for question in rate.each if question.personas_beside() is not None]
    candidates = candidates if rate.show == "one" else (*candidates, "other")
    wanted = next((question.intended[0] for question in rate.questions if question.intended), "")
    return Shown(
        candidates,
        dict.fromkeys(drawn, ("p1", "p2")),
        intended=dict.fromkeys(candidates, wanted),
    )


def answer(question: Question, rate: Rate, shown: Shown) -> str:
    """Return a good answer, the one that opens other questions where it does."""
    gates = [q.only_if for q in rate.each if q.only_if and q.only_if.question == question.name]
    return str(gates[0].values[0]) if gates else question.sample_answers(shown)[-1]


def all_answers(rate: Rate, shown: Shown) -> dict[str, str]:
    """Return good answers; of replies that are compared, each has another."""
    answers = {
        f"{about}.{q.name}": answer(q, rate, shown) for about, q in rate.form_questions(shown)
    }
    for question in rate.each:
        if question.compares:
            each = zip(shown.candidates, question.sample_answers(shown), strict=True)
            answers |= {f"{candidate}.{question.name}": raw for candidate, raw in each}
    return answers


@protocols
def test_is_named_for_its_file_and_says_where_it_comes_from(protocol: Protocol) -> None:
    module = importlib.import_module(f"evaluation.protocols.{protocol.name}")
    assert module.PROTOCOL is protocol
    assert module.__doc__
    assert protocol.title
    assert protocol.source
    assert protocol.instructions
    assert protocol.chat or protocol.after or protocol.write


@protocols
def test_good_answers_round_trip(protocol: Protocol) -> None:
    for rate in protocol.rates:
        shown = shown_for(rate, "a", "b")
        good = all_answers(rate, shown)
        values = rate.parse(good, shown)
        assert set(values) == {(c, q.name) for c in shown.candidates for q in rate.questions}
        of_each = {(c, q) for c in shown.candidates for q in rate.each}
        again = {f"{c}.{q.name}": str(values[c, q.name]) for c, q in of_each}
        assert rate.parse(good | again, shown) == values


@protocols
def test_blank_foreign_and_out_of_scale_answers_are_refused(protocol: Protocol) -> None:
    for rate in protocol.rates:
        shown = shown_for(rate, "a")
        good = all_answers(rate, shown)
        for about, question in rate.form_questions(shown):
            for bad in question.bad_answers(shown):
                with pytest.raises(InvalidAnswers) as refused:
                    rate.parse(good | {f"{about}.{question.name}": bad}, shown)
                assert f"{about}.{question.name}" in refused.value.problems


@protocols
def test_answers_to_questions_that_are_not_asked_are_refused(protocol: Protocol) -> None:
    for rate in protocol.rates:
        shown = shown_for(rate, "a")
        with pytest.raises(InvalidAnswers, match=r"z\.other"):
            rate.parse(all_answers(rate, shown) | {"z.other": "1"}, shown)


@protocols
def test_every_setting_has_a_provenance_and_can_be_set_to_itself(protocol: Protocol) -> None:
    names = {setting.name for setting in protocol.settings()}
    assert set(protocol.sources) <= names, "a source for a setting that is not there"
    for setting in protocol.settings():
        value = getattr(setting.value, "options", setting.value)
        assert setting.source.where
        if value != "":
            assert protocol.change({setting.name: value}) == protocol


@protocols
def test_every_setting_has_a_label_and_bounds_that_its_complaint_names(protocol: Protocol) -> None:
    labels = [setting.label for setting in protocol.settings()]
    assert len(set(labels)) == len(labels)
    for setting in protocol.settings():
        assert setting.label[0].isupper()
        bounds = [getattr(setting.type, name, None) for name in ("least", "most")]
        with pytest.raises(InvalidSetting) as refusal:
            protocol.change({setting.name: [10**9]})
        assert str(refusal.value).startswith(f"{setting.name}: ")
        if isinstance(setting.type, Text):
            with pytest.raises(InvalidSetting) as refusal:
                protocol.change({setting.name: "x" * (setting.type.most + 1)})
        assert all(f"{bound:g}" in str(refusal.value) for bound in bounds if bound is not None)


@protocols
def test_every_text_shown_has_a_provenance(protocol: Protocol) -> None:
    found = dict(texts(protocol))
    assert set(protocol.instructions) <= set(found.values())
    assert {question.text for rate in protocol.rates for question in rate.each} <= set(
        found.values()
    )
    plain = [field for field, text in found.items() if not isinstance(text, Words)]
    assert not plain, "write Words(...) with its source, or ours(...)"


@protocols
def test_what_pages_show_of_a_protocol_is_for_people(protocol: Protocol) -> None:
    module = importlib.import_module(f"evaluation.protocols.{protocol.name}")
    about = (module.__doc__ or "").strip()
    assert about.endswith(".")
    assert "\n" not in about, "one sentence on one line"
    assert "`" not in about
    assert not re.search(r"\b[A-Z]{2}-[A-Z]{0,2}\d", about), "codes are for developers"


@protocols
def test_settings_that_do_not_exist_or_cannot_be_are_refused(protocol: Protocol) -> None:
    with pytest.raises(InvalidSetting, match="not a setting"):
        protocol.change({"chat.color": 1})
    for setting in protocol.settings():
        with pytest.raises(InvalidSetting, match=setting.name):
            protocol.change({setting.name: [-1]})


def test_an_unknown_protocol_is_named() -> None:
    with pytest.raises(UnknownProtocol, match="nothing"):
        get_protocol("nothing")
