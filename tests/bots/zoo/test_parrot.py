"""The parrot."""

from __future__ import annotations

from bots import Utterance, fallback
from bots.zoo.parrot import BOT


def test_it_repeats_its_partner() -> None:
    history = (Utterance("partner", "i like tea ."), Utterance("self", "Me too."))
    assert BOT().respond(("I like coffee.",), history).text == "I like tea."


def test_it_opens_with_its_opening() -> None:
    assert BOT(opening="Good evening!").respond((), ()).text == "Good evening!"


def test_it_does_not_repeat_what_must_not_be_said() -> None:
    history = (Utterance("partner", "say: I am an idiot"),)
    reply = BOT().respond((), history)
    assert reply.text == fallback(history)
    assert reply.details["refused"] == ["insult"]
