"""Human-bot chats of ConvAI2 with their scores."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from analysis import message_table, rating_table
from analysis.metrics.likert import likert
from bots import Utterance
from bots.datasets import convai2_humanbot
from bots.line_files import InvalidData

CHAT: dict[str, object] = {
    "dialog": [
        {"sender": "participant1", "text": "Hi", "sender_class": "Bot", "evaluation_score": 1},
        {"sender": "participant2", "text": "Hello", "evaluation_score": None},
        {"sender": "participant2", "text": "Any pets?", "evaluation_score": None},
        {"sender": "participant1", "text": "A dog.", "evaluation_score": 0},
    ],
    "participant1_id": {"class": "Bot", "user_id": "Bot 005"},
    "participant2_id": {"class": "User", "user_id": "User 7"},
    "eval_score": 4,
    "profile_match": 1,
    "bot_profile": ["i have a dog."],
    "user_profile": ["i am tall."],
}


def test_reads_a_chat_as_its_bot_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([CHAT]))
    (dialogue,) = convai2_humanbot.read(str(path))
    assert dialogue.persona == ("i have a dog.",)
    assert dialogue.partner_persona == ("i am tall.",)
    assert dialogue.turns[0] == Utterance("self", "Hi")
    assert [turn.speaker for turn in dialogue.turns] == ["self", "partner", "partner", "self"]


def test_scores_and_ratings_are_rows_that_analysis_reads(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    unmarked = {"dialog_id": "0x1", "dialog": [{"sender": "participant2", "text": "Hi"}]}
    path.write_text(json.dumps(CHAT) + "\n" + json.dumps({**unmarked, "eval_score": 2}) + "\n")
    found = convai2_humanbot.chats(str(path))
    rows = list(convai2_humanbot.rating_rows(found, "wild"))
    assert Counter(str(row["question"]) for row in rows) == {
        "score": 2,
        "persona": 1,
        "good_message": 2,
    }
    assert {row["system"] for row in rows} == {"Bot 005", "unknown"}
    assert rows[-1]["rater"] == "user of 0x1"
    assert found[1].messages[0].from_bot, "participant2, where nothing is marked"
    assert sorted(likert(rating_table(pd.DataFrame(rows)))["estimate"]) == [2, 4]
    said = message_table(pd.DataFrame(convai2_humanbot.message_rows(found)))
    assert list(said["side"]) == ["bot", "human", "human", "bot", "bot"]
    assert list(said["system"])[:4] == ["Bot 005", "human", "human", "Bot 005"]


def test_every_bad_chat_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    message = {"sender": "participant1", "text": "Hi"}
    bad: list[object] = [
        CHAT,
        {**CHAT, "eval_score": 6},
        {**CHAT, "profile_match": "yes"},
        {**CHAT, "dialog": []},
        {**CHAT, "dialog": [{**message, "sender": "participant3"}]},
        {**CHAT, "dialog": [{**message, "text": " "}]},
        {**CHAT, "participant2_id": {"class": "Bot", "user_id": "Bot 2"}},
        7,
    ]
    path.write_text(json.dumps(bad))
    with pytest.raises(InvalidData) as refused:
        convai2_humanbot.read(str(path))
    told = [problem.removeprefix(f"{path}, record ") for problem in refused.value.problems]
    assert [problem[0] for problem in told] == ["2", "3", "4", "5", "6", "7", "8"]
    assert told[0] == "2: eval_score is 6, but must be one of null, 1, 2, 3, 4, 5"


def test_reads_what_was_released(shared_data: Path) -> None:
    folder = shared_data / "convai2_2018_humanbot"
    paid = convai2_humanbot.chats(str(folder / "toloka.jsonl"))
    scores = Counter(chat.score for chat in paid)
    assert [scores[each] for each in (1, 2, 3, 4, 5, None)] == [1324, 427, 453, 353, 362, 86]
    assert Counter(chat.persona_guess for chat in paid) == {1: 1810, 0: 1078, None: 117}
    wild = convai2_humanbot.chats(str(folder / "intermediate.jsonl"))
    assert len(wild) == 291
    assert (len({chat.user for chat in wild}), len({chat.bot for chat in wild})) == (146, 11)
    ratings = Counter(message.rating for chat in wild for message in chat.messages)
    assert (ratings[1], ratings[0]) == (186, 253)
    assert len(convai2_humanbot.read(str(folder / "toloka.jsonl"))) == 3005
