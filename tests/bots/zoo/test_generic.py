"""The generic bot."""

from __future__ import annotations

from bots import Utterance, get_dataset
from bots.zoo.generic import BOT

# The replies, in the order that MEENA prints for its nine sample contexts; the messages are ours.
PRINTED = [
    ("I just moved here.", "ok"),
    ("Do you like cats?", "I don't know"),
    ("What is your favorite color?", "I don't know"),
    ("Why would anybody do that? ", "I don't know"),
    ("I love tennis!", "ok"),
    ("Tell me a joke", "ok"),
    ("Is that so? I doubt it.", "ok"),
    ("My phone is broken.", "ok"),
    ("So how old are you?", "I don't know"),
]


def test_a_question_is_what_ends_with_a_question_mark() -> None:
    bot = BOT()
    said = [bot.respond((), (Utterance("partner", text),)).text for text, _ in PRINTED]
    assert said == [reply for _, reply in PRINTED]


def test_it_answers_the_partner_not_itself() -> None:
    history = (Utterance("partner", "I like tea."), Utterance("self", "Do you?"))
    assert BOT().respond((), history).text == "ok"
    assert BOT().respond((), ()).text == "ok"


def test_both_replies_occur_on_the_contexts_of_the_package() -> None:
    contexts = get_dataset("contexts").read("")
    replies = [reply.text for reply in BOT().respond_many([((), c.turns) for c in contexts])]
    assert set(replies) == {"ok", "I don't know"}
