"""What the crowd says keeps the strictest rules, except where it is careless on purpose."""

from __future__ import annotations

from itertools import islice

from bots.datasets import demo
from evaluation.registry import get_protocol
from webapp.crowd import lines
from webapp.crowd.people import Person


def test_talk_passes_the_checks_and_tells_of_the_character() -> None:
    chat = get_protocol("personachat_bot").chat
    assert chat is not None
    for number, persona in enumerate(demo.personas("test")):
        person = Person(name=str(number), seed=1)
        said = list(islice(lines.messages(person, persona.original), 12))
        assert [chat.complaint(line, persona.original) for line in said] == [None] * 12
        assert set(said) & set(persona.revised)


def test_careless_talk_is_refused() -> None:
    chat = get_protocol("personachat_bot").chat
    assert chat is not None
    persona = demo.personas("test")[0].original
    assert chat.complaint(lines.careless(persona, "I like tea."), persona)
    assert chat.complaint(lines.careless((), "I like tea."), ())
