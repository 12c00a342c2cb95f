"""The chats that MEENA's authors released."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Utterance
from bots.datasets import meena_chats
from bots.line_files import InvalidData


def test_reads_systems_and_two_people(tmp_path: Path) -> None:
    path = tmp_path / "chats.txt"
    path.write_text(
        "Meena Conversation 1\nHuman: Hi!\nMeena: Hey: you!\n\n"
        "Human Conversation 2\nHuman 1: Hi\nHuman 2: Tea?\nHuman 1: Yes\n"
    )
    one, two = meena_chats.read(str(path))
    assert one.id == "Meena Conversation 1"
    assert one.turns == (Utterance("partner", "Hi!"), Utterance("self", "Hey: you!"))
    assert [turn.speaker for turn in two.turns] == ["partner", "self", "partner"]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(
        "Human: too early\nMeena Conversation 1\nHuman: Hi\nno speaker\nOther: Hi\nThird: Hi\n"
        "Meena Conversation 2\n"
    )
    with pytest.raises(InvalidData) as refused:
        meena_chats.read(str(path))
    told = [problem.removeprefix(str(path)) for problem in refused.value.problems]
    assert [problem.split(":")[0] for problem in told] == [", line 1", ", line 4", ", line 6", ""]
    assert told[-1] == ": Meena Conversation 2 has no turns"


@pytest.mark.parametrize(
    ("name", "chats", "turns", "own"),
    [
        ("human", 95, 1483, 721),
        ("meena", 93, 1818, 909),
        ("mitsuku", 100, 1857, 924),
        ("xiaoice", 114, 2272, 1128),
    ],
)
def test_reads_all_that_was_released(
    shared_data: Path, name: str, chats: int, turns: int, own: int
) -> None:
    found = meena_chats.read(str(shared_data / "meena_conversations" / f"{name}.txt"))
    assert len(found) == chats
    assert sum(len(chat.turns) for chat in found) == turns
    assert sum(turn.speaker == "self" for chat in found for turn in chat.turns) == own
