"""Validity flags: the paper's example, every reason by hand, planted spam found, people left be."""

from __future__ import annotations

import json

import pytest

from analysis.conversations.spam import (
    RULES,
    PersonConversation,
    SpamRule,
    assess,
    exchanges,
    judge,
)
from analysis.metrics.auc import area, curve
from tests.analysis.examples import ratings, shared
from tests.analysis.planted import KINDS, plant
from tests.analysis.talks import meena, talks, volunteer_messages

# ConvAI2 (Dinan et al. 2019, table 4) prints two dialogues; on the left the person says little but
# "Bye" again and again and gives 5 of 5, on the right they talk. The words here are ours.
LEFT = (
    ("bot", "Hello! How are you today?"),
    ("human", "Hi"),
    ("bot", "I like to ride my bike. What do you do for fun?"),
    ("human", "Bye"),
    ("bot", "Do you have any pets?"),
    ("human", "Bye"),
    ("bot", "I have two cats at home."),
    ("human", "Bye!"),
    ("bot", "What music do you listen to?"),
    ("human", "Bye"),
)
RIGHT = (
    ("bot", "Hello! How are you today?"),
    ("human", "I am fine, just came back from a run. And you?"),
    ("bot", "I am well. Do you run often?"),
    ("human", "Yes, nearly every morning before work."),
    ("bot", "What do you do for work?"),
    ("human", "I teach chemistry at a high school."),
    ("bot", "I have two cats at home."),
    ("human", "Oh nice, what are their names?"),
)


def test_the_papers_left_example_is_flagged_and_its_right_one_is_not() -> None:
    found = assess(talks([LEFT, RIGHT]))
    assert list(found["flagged"]) == [True, False]
    assert found["reasons"][0] == ("short_messages", "repeated_messages", "questions_ignored")
    assert found["reasons"][1] == ()
    assert found["score"][0] > 3 > 1 > found["score"][1]


HONEST = [(k % 2 == 1, f"We met {w} at a lake, did you like it?") for k, w in enumerate("abcdefgh")]


def _with(*said: str) -> PersonConversation:
    mine = iter(said)
    return PersonConversation([(own, next(mine) if own else text) for own, text in HONEST])


def test_honest_is_honest() -> None:
    found = judge(PersonConversation(HONEST))
    assert (found.reasons, found.flagged) == ((), False)
    # Four exchanges are on the way from six to too few.
    assert found.score == pytest.approx(0.5 * 2 / 3)


@pytest.mark.parametrize(
    ("reason", "chat"),
    [
        ("few_exchanges", PersonConversation(HONEST[:4])),
        ("short_messages", _with("water", "sun", "grass", "I swam")),
        ("repeated_messages", _with("I like it", "I like it", "i like it!", "We went home")),
        ("copied_messages", _with(*(text for own, text in HONEST if not own))),
        ("questions_ignored", _with("water", "so", "it was fun there", "sun")),
        ("unknown_words", _with("asdfg hjklq", "qwpoe rituy", "zxmcn vbghf", "I swam there")),
        (
            "not_waiting",
            PersonConversation([t for turn in HONEST for t in [turn] * (3 if turn[0] else 1)]),
        ),
        ("offensive_words", _with("fuck you", "I like it", "no shit at all", "We went home")),
        ("no_score", PersonConversation(HONEST, is_scored=False)),
    ],
)
def test_each_reason_by_itself(reason: str, chat: PersonConversation) -> None:
    found = judge(chat)
    assert reason in found.reasons
    assert found.flagged == (sum(RULES[name].weight for name in found.reasons) >= 1)


def test_what_does_not_connect_raises_the_score_and_is_no_reason() -> None:
    apart = judge(_with("nine blue hats", "the grass grows", "my nice old aunt", "red bricks burn"))
    near = judge(_with("I met them too", "that lake is deep", "we met there", "yes, a fine lake"))
    assert (apart.reasons, near.reasons) == ((), ())
    assert apart.score > near.score + 0.2


def test_no_score_alone_is_not_enough_for_a_flag() -> None:
    found = judge(PersonConversation(HONEST, is_scored=False))
    assert (found.reasons, found.flagged) == (("no_score",), False)


def test_another_set_of_rules_can_be_given() -> None:
    rules = {"few_exchanges": SpamRule(exchanges, 5, 6)}
    assert judge(PersonConversation(HONEST), rules).reasons == ("few_exchanges",)


def test_a_score_of_five_changes_nothing_but_its_lack_does() -> None:
    table = talks([RIGHT, RIGHT])
    given = ratings([{"value": 5, "conversation": "c0"}])
    assert list(assess(table, given)["reasons"]) == [(), ("no_score",)]
    assert list(assess(table)["reasons"]) == [(), ()]


def test_of_two_people_each_is_judged_and_of_two_bots_neither() -> None:
    pair = [("human", text) for _, text in RIGHT]
    table = talks([pair]).assign(side=["0", "1"] * 4)
    assert list(assess(table)["side"]) == ["0", "1"]
    assert assess(talks([[("a", "hi"), ("b", "hi")]])).empty


def test_who_never_wrote_is_flagged() -> None:
    (reasons,) = assess(talks([[("bot", "Hi!"), ("bot", "Anybody there?")]]))["reasons"]
    assert reasons == ("few_exchanges",)


def test_real_chats_without_a_word_of_the_person_are_all_flagged() -> None:
    table = volunteer_messages()
    found = assess(table).set_index("conversation")
    people = table[table["system"] == "human"].groupby("conversation").size()
    silent = found.index.difference(people.index)
    assert len(silent) == 30
    assert found.loc[silent, "flagged"].all()
    assert 0.5 < found["flagged"].mean() < 0.8


def _human_chats() -> list[list[tuple[bool, str]]]:
    path = shared("personachat_dev", "dialogues.jsonl")
    with path.open(encoding="utf-8") as lines:
        found = [json.loads(line)["turns"] for line in lines]
    return [[(turn["speaker"] == "self", turn["text"]) for turn in turns] for turns in found[:300]]


def test_planted_spam_ranks_above_people_who_talk() -> None:
    chats = _human_chats()
    others = [text for chat in chats for mine, text in chat if mine]
    honest = [judge(PersonConversation(chat)).score for chat in chats[150:]]
    assert sum(judge(PersonConversation(chat)).flagged for chat in chats[150:]) / 150 < 0.05
    for kind in KINDS:
        spam = [
            judge(PersonConversation(plant(kind, chat, others, k))).score
            for k, chat in enumerate(chats[:150])
        ]
        found = area(*curve(spam, honest))
        # What merely fails to connect is hard to tell from people who change the subject.
        assert found > (0.65 if kind == "off_topic" else 0.95), (kind, found)


@pytest.mark.parametrize(
    ("name", "people"), [("human", 190), ("meena", 93), ("mitsuku", 100), ("xiaoice", 114)]
)
def test_people_who_were_asked_to_chat_are_rarely_flagged(name: str, people: int) -> None:
    found = assess(meena(name))
    assert len(found) == people
    assert found["flagged"].mean() < 0.05
