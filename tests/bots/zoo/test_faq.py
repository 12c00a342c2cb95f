"""The FAQ classifier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots import Utterance
from bots.line_files import InvalidData
from bots.zoo.faq import BOT, DEFERRED
from bots.zoo.faq.faq_examples import COMPANY, GENERAL


def asked(text: str) -> tuple[Utterance, ...]:
    return (Utterance("partner", text),)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("How much does it cost for an hour?", "price"),
        ("I forgot the password of my account", "account"),
        ("Can I get a refund of my money?", "refund"),
        ("the tire is flat, the bike is broken", "broken"),
        ("Good morning!", "greeting"),
        ("Can I speak to a real person?", "person"),
    ],
)
def test_it_answers_what_it_knows(text: str, intent: str) -> None:
    reply = BOT().respond((), asked(text))
    assert reply.text == {**COMPANY, **GENERAL}[intent][0]
    assert reply.score is not None
    assert reply.score >= 0.5
    confidence = round(reply.score, 4)
    assert reply.details == {"intent": intent, "confidence": confidence, "deferred": False}


@pytest.mark.parametrize("text", ["Zorblax quuxly vanting", "My sister lives in Peru.", "", "???"])
def test_below_the_threshold_it_defers(text: str) -> None:
    reply = BOT().respond((), asked(text))
    assert reply.details["deferred"] is True
    assert reply.text == DEFERRED


def test_the_threshold_decides() -> None:
    question = "Is a helmet for my child expensive?"
    intent, confidence = BOT().classify(question)
    assert intent in COMPANY
    above, below = BOT(threshold=confidence + 0.01), BOT(threshold=confidence - 0.01)
    assert above.respond((), asked(question)).text == DEFERRED
    assert below.respond((), asked(question)).text == COMPANY[intent][0]


def test_a_faq_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "faq.jsonl"
    records = [
        {"intent": "fee", "answer": "Ten.", "questions": ["what is the fee?", "fee please"]},
        {
            "intent": "room",
            "answer": "Upstairs.",
            "questions": ["which room?", "where is the room?"],
        },
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert BOT(questions=str(path)).respond((), asked("the fee please")).text == "Ten."
    path.write_text(json.dumps(records[0]) + "\n" + '{"intent": "greeting"}\n')
    with pytest.raises(InvalidData, match="line 2: answer is None"):
        BOT(questions=str(path)).respond((), asked("fee"))
    path.write_text((json.dumps(records[0]) + "\n") * 2)
    with pytest.raises(InvalidData, match="'fee' is there more than once"):
        BOT(questions=str(path)).respond((), asked("fee"))


def test_glove_is_the_papers_word_vectors() -> None:
    bot = BOT(encoder="glove")
    assert bot.classify("what does a bicycle cost?")[0] == "price"


def test_questions_labeled_at_the_desk_are_in_the_next_training_set(tmp_path: Path) -> None:
    question = "My saddle wobbles terribly"
    before = BOT().respond((), asked(question))
    assert (before.details["intent"], before.details["deferred"]) != ("broken", False)
    path = tmp_path / "labeled.jsonl"
    path.write_text(json.dumps({"text": question, "label": "broken"}) + "\n")
    after = BOT(labeled=str(path)).respond((), asked(question))
    assert (after.details["intent"], after.details["deferred"]) == ("broken", False)
    assert after.text == COMPANY["broken"][0]


def test_every_labeled_line_of_no_intent_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labeled.jsonl"
    lines = [{"text": "a", "label": "brokn"}, {"text": "b", "label": "broken"}, {"text": "c"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InvalidData) as found:
        BOT(labeled=str(path)).classify("hello")
    first, second = found.value.problems
    assert "line 1: label is 'brokn', but must be one of account, broken" in first
    assert "line 3: label is None, but must be text" in second
