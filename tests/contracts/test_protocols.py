"""What every file of `evaluation/protocols/` must do."""

from __future__ import annotations

import importlib

import pytest

from evaluation import InvalidAnswers, InvalidSetting, Likert, PersonaChoice, Protocol, Rate, Shown
from evaluation.questions import Question
from evaluation.registry import UnknownProtocol, get_protocol, protocol_names

protocols = pytest.mark.parametrize(
    "protocol", [get_protocol(n) for n in protocol_names()], ids=protocol_names()
)
TWO = {"persona": ("p1", "p2")}


def good_answer(question: Question) -> str:
    if isinstance(question, Likert):
        return str(int(question.scale[1]))
    return "p2" if isinstance(question, PersonaChoice) else "1"


def all_answers(rate: Rate, shown: Shown) -> dict[str, str]:
    return {f"{c}.{q.name}": good_answer(q) for c in shown.candidates for q in rate.each}


@protocols
def test_is_named_for_its_file_and_says_where_it_comes_from(protocol: Protocol) -> None:
    module = importlib.import_module(f"evaluation.protocols.{protocol.name}")
    assert module.PROTOCOL is protocol
    assert module.__doc__
    assert protocol.title
    assert protocol.source
    assert protocol.instructions
    assert protocol.chat or protocol.after


@protocols
def test_good_answers_round_trip(protocol: Protocol) -> None:
    for rate in protocol.rates:
        shown = Shown(("a", "b"), TWO)
        values = rate.parse(all_answers(rate, shown), shown)
        assert set(values) == {(c, q.name) for c in "ab" for q in rate.each}
        again = {f"{c}.{q}": str(value) for (c, q), value in values.items()}
        assert rate.parse(again, shown) == values


@protocols
@pytest.mark.parametrize("bad", ["", "  ", "-1", "99", "1.5", "yes", "p3", "１", "nan"])
def test_blank_foreign_and_out_of_scale_answers_are_refused(protocol: Protocol, bad: str) -> None:
    for rate in protocol.rates:
        shown = Shown(("a",), TWO)
        good = all_answers(rate, shown)
        for name in good:
            with pytest.raises(InvalidAnswers) as refused:
                rate.parse(good | {name: bad}, shown)
            assert name in refused.value.problems


@protocols
def test_answers_to_questions_that_are_not_asked_are_refused(protocol: Protocol) -> None:
    for rate in protocol.rates:
        shown = Shown(("a",), TWO)
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
def test_settings_that_do_not_exist_or_cannot_be_are_refused(protocol: Protocol) -> None:
    with pytest.raises(InvalidSetting, match="not a setting"):
        protocol.change({"chat.color": 1})
    for setting in protocol.settings():
        with pytest.raises(InvalidSetting, match=setting.name):
            protocol.change({setting.name: [-1]})


def test_an_unknown_protocol_is_named() -> None:
    with pytest.raises(UnknownProtocol, match="nothing"):
        get_protocol("nothing")
