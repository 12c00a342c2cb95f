"""Statistics of a data set: a hand example, and the published chats of MEENA."""

from __future__ import annotations

from typing import Any

import pytest

from analysis import MessageTable, get_report
from analysis.text.tokenizers import CHARACTERS
from tests.analysis.samples import EMPTY
from tests.analysis.talks import meena, talks

dataset_statistics = get_report("dataset_statistics")

GIVEN = talks(
    [
        [("s", "Tea, tea and TEA!"), ("human", "I like tea.")],
        [("s", "And you?")],
        [("human", "Hi"), ("human", "hi")],
    ]
)


def test_a_hand_example_by_side() -> None:
    frame: Any = dataset_statistics(GIVEN).sections[0].frame.set_index("side")
    assert list(frame.index) == ["human", "human, side human", "s", "(all)"]
    assert frame.loc["s", ["dialogues", "messages", "words"]].tolist() == [2, 2, 6]
    assert frame.loc["s", "unique words"] == 3  # tea, and, you
    assert frame.loc["(all)", ["dialogues", "messages", "words"]].tolist() == [3, 5, 11]
    assert frame.loc["(all)", "unique words"] == 6
    assert frame.loc["s", "words per message"] == 3
    assert frame.loc["s", "characters per message"] == (17 + 8) / 2
    assert set(frame["tokenizer"]) == {"words"}


def test_splits_are_told_apart_and_added_up() -> None:
    split = GIVEN["conversation"].map({"c0": "train", "c1": "valid", "c2": "valid"})
    frame: Any = dataset_statistics(MessageTable(GIVEN.assign(split=split))).sections[0].frame
    whole = frame[frame["side"] == "(all)"].set_index("split")
    assert whole["messages"].to_dict() == {"train": 2, "valid": 3, "(all)": 5}
    assert whole["dialogues"].to_dict() == {"train": 1, "valid": 2, "(all)": 3}
    assert whole["unique words"].to_dict() == {"train": 4, "valid": 3, "(all)": 6}


def test_what_is_set_aside_is_not_counted() -> None:
    aside = MessageTable(GIVEN.assign(excluded=["", "spam", "", "", ""]))
    assert dataset_statistics(aside).findings[0].startswith("3 dialogues with 4 messages, 8 words")


@pytest.mark.parametrize(
    ("name", "chats", "turns"),
    [("human", 95, 1483), ("meena", 93, 1818), ("mitsuku", 100, 1857), ("xiaoice", 114, 2272)],
)
def test_the_published_chats_have_the_counts_of_their_files(
    name: str, chats: int, turns: int
) -> None:
    table = meena(name)
    frame: Any = dataset_statistics(table).sections[0].frame.set_index("side")
    assert frame.loc["(all)", ["dialogues", "messages"]].tolist() == [chats, turns]
    assert len(frame) == 3
    parted: Any = dataset_statistics(table, tokenizer=CHARACTERS).sections[0].frame.iloc[-1]
    assert parted["tokenizer"] == "characters"
    # Chinese has no spaces: by letters there are several times as many words.
    assert bool(parted["words"] > 2 * frame.loc["(all)", "words"]) == (name == "xiaoice")


def test_no_messages_have_a_sentence() -> None:
    assert dataset_statistics(EMPTY["messages"]).findings == ("There are no messages.",)
