"""The safety filter at reading and at the mouth; no reply twice."""

from __future__ import annotations

import pytest

from bots.bot import Reply
from bots.dialogue import Utterance, examples
from bots.guards.filters import (
    FALLBACKS,
    choose,
    fallback,
    nearest_to_try,
    safe,
    safe_reply,
    speakable,
    unsafe,
)
from tests.bots.examples import HELLO, demo

SAID = (Utterance("self", "I like tea."), Utterance("partner", "Why?"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("You are an idiot.", "insult"),
        ("you're so ugly", "insult"),
        ("Oh shut up", "insult"),
        ("are you wearing anything?", "sexual remark"),
        ("you sound sexy", "sexual remark"),
        ("send me pics of you", "sexual remark"),
        ("I will kill you", "threat"),
        ("Call me at 555-123-4567", "contact data"),
        ("write to jane.doe@example.org", "contact data"),
        ("it's on http://example.org/x", "contact data"),
        ("I live at 12 Baker Street", "contact data"),
        ("add me on snapchat", "contact data"),
        ("what the f u c k", "profanity"),
        ("sh1t happens", "profanity"),
        ("fuuuuuck", "profanity"),
        ("\u0455hit", "profanity"),  # a Cyrillic s
        ("sh\u200bit", "profanity"),
        ("f.u.c.k", "profanity"),
        ("That was BULL SHIT", "profanity"),
    ],
)
def test_refuses_and_says_why(text: str, reason: str) -> None:
    assert unsafe(text) == reason
    assert not safe(text)


@pytest.mark.parametrize(
    "text",
    [
        "My mother plays the organ in church.",
        "I live in Scunthorpe and assess glass classes.",
        "Nice to meet you too. What do you do?",
        "I killed my cactus by watering it.",
        "Everybody calls me Pop-Pop, and I have 12 grandchildren.",
        "Your mom was a nurse? Mine is 75 years old.",
        "I am gay, and my husband bakes.",
        "Take out the trash on Tuesday.",
        "I wake up at 5:30 and run 10 miles.",
    ],
)
def test_lets_everyday_talk_pass(text: str) -> None:
    assert unsafe(text) is None


def test_a_refused_reply_becomes_a_neutral_one_with_the_reason() -> None:
    reply = safe_reply("you idiot", HELLO)
    assert reply.text == FALLBACKS[0]
    assert reply.details == {"refused": ["insult"], "fallback": True}
    assert (reply.raw, reply.events) == ("you idiot", ("filtered", "canned"))


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_reply_has_failed_and_is_not_replaced(text: str) -> None:
    for reply in (safe_reply(text, HELLO), choose([(text, 1.0)], HELLO, max_words=5)):
        assert (reply.text, reply.events) == ("", ("empty",))
        assert reply.details["error"] == "the bot said nothing"


def test_a_fixed_line_keeps_what_it_stands_for() -> None:
    reply = choose([("", 2.0), ("you idiot", 1.0)], HELLO, max_words=5)
    assert (reply.raw, reply.events) == ("you idiot", ("filtered", "canned"))
    said_before = choose([("I like tea.", 1.0)], SAID, max_words=5)
    assert said_before.events == ("canned",)


def test_the_next_candidate_is_said_and_why_the_others_were_not_is_kept() -> None:
    ranked = [
        ("you idiot", 3.0),
        ("i like tea", 2.0),
        ("word " * 20, 1.5),
        ("because , well .", 1.0),
    ]
    reply = choose(ranked, SAID, max_words=15)
    refused = ["insult", "said before", "too long"]
    raw = "because , well ."
    assert reply == Reply("Because, well.", 1.0, {"refused": refused}, raw, events=("altered",))


def test_a_long_reply_is_said_where_there_is_no_short_one() -> None:
    reply = choose([("word " * 20, 1.0), ("I like tea!", 0.5)], SAID, max_words=15)
    assert reply.text.split() == ["Word", *["word"] * 19]


def test_neutral_replies_do_not_repeat_while_there_are_new_ones() -> None:
    history: tuple[Utterance, ...] = ()
    for _ in FALLBACKS:
        history += (Utterance("self", fallback(history)),)
    assert {turn.text for turn in history} == set(FALLBACKS)
    assert fallback(history) in FALLBACKS
    assert all(safe(text) for text in FALLBACKS)


def test_what_may_be_served_is_safe_short_new_and_the_same_for_the_same_seed() -> None:
    found = list(examples(demo("train")))
    pairs = speakable(found, 100, 8, seed=3)
    assert pairs == speakable(found, 100, 8, seed=3) != speakable(found, 100, 8, seed=4)
    assert len({reply.lower() for _, reply in pairs}) == len(pairs) == 100
    assert all(safe(reply) and len(reply.split()) <= 8 for _, reply in pairs)


HEARD = (Utterance("partner", "I walk my dog by the river."), Utterance("self", "I like jazz."))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i walk my dog, by the river!", "the partner's words"),
        ("I walk my dog by the river every day.", "the partner's words"),  # a run of six and more
        ("My dog by the river.", "the partner's words"),  # all of its five words, in order
        ("I like jazz", "said before"),
        ("I really like jazz.", None),  # three words of its own are too few to be a near copy
        ("I walk my cat by the lake.", None),  # five of seven
        ("The river.", None),
    ],
)
def test_a_chosen_reply_is_no_near_copy_of_either_side(text: str, reason: str | None) -> None:
    reply = choose([(text, 1.0), ("Nice!", 0.5)], HEARD, 15)
    assert reply.text == ("Nice!" if reason else text)
    assert reply.details == ({"refused": [reason]} if reason else {})


def test_a_model_that_writes_may_greet_back_and_not_repeat_itself() -> None:
    ranked = [("I like jazz.", 2.0), ("I walk my dog by the river.", 1.0)]
    assert choose(ranked, HEARD, 15, written=True).text == "I walk my dog by the river."


def test_as_many_candidates_are_tried_as_asked_for_beside_the_stale_ones() -> None:
    assert nearest_to_try(50, HEARD) == 52
    assert nearest_to_try(1, ()) == 1
