"""Exports as dialogues: both personas, in both forms, and nothing that was set aside."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bots.datasets import campaign_export
from bots.dialogue import Utterance
from bots.line_files import InvalidData


def conversation(number: int, **changes: Any) -> dict[str, Any]:
    seats = [
        {
            "side": side,
            "withdrawn": False,
            "excluded": "",
            "persona": {"key": f"p{side}", "sentences": [f"I am {side}."]},
        }
        for side in (0, 1)
    ]
    events = [
        {"kind": "label", "side": 0, "content": {}},
        {"kind": "message", "side": 0, "content": {"text": "Hi."}},
        {"kind": "message", "side": 1, "content": {"text": "Hello."}},
    ]
    whole = {"conversation": number, "state": "FINISHED", "excluded": ""}
    return {**whole, "seats": seats, "events": events, **changes}


def written(path: Path, *records: dict[str, Any]) -> str:
    personas = [
        {"persona": "p1", "revised": ["My number is one."]},
        {"persona": "p0", "revised": []},
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/conversations.jsonl", "\n".join(map(json.dumps, records)))
        archive.writestr("a/personas.jsonl", "\n".join(map(json.dumps, personas)))
    return str(path)


def test_a_conversation_has_both_personas_and_its_messages(tmp_path: Path) -> None:
    source = written(tmp_path / "export.zip", conversation(7))
    (dialogue,) = campaign_export.read(source)
    assert dialogue.turns == (Utterance("partner", "Hi."), Utterance("self", "Hello."))
    assert (dialogue.persona, dialogue.partner_persona) == (("I am 1.",), ("I am 0.",))
    (again,) = campaign_export.read(f"{source}#revised")
    assert (again.persona, again.partner_persona) == (("My number is one.",), ("I am 0.",))


def test_what_is_unfinished_withdrawn_or_set_aside_is_left_out(tmp_path: Path) -> None:
    gone = conversation(4)
    gone["seats"][0]["withdrawn"] = True
    odd = conversation(5)
    odd["seats"][1]["excluded"] = "spam"
    others = [conversation(2, state="OPEN"), conversation(3, excluded="spam"), gone, odd]
    found = campaign_export.read(written(tmp_path / "export.zip", conversation(1), *others))
    assert [each.id for each in found] == ["1"]
    with pytest.raises(InvalidData, match="no finished conversation"):
        campaign_export.read(written(tmp_path / "none.zip", *others))


def test_another_file_or_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="no export of a campaign"):
        campaign_export.read(str(tmp_path / "none.zip"))
    with pytest.raises(InvalidData, match="'new' is no form"):
        campaign_export.read(f"{tmp_path}/none.zip#new")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seats": [{"side": 2, "withdrawn": False, "excluded": "", "persona": None}]}, "side"),
        ({"seats": None}, "seats"),
        ({"state": 3}, "state"),
        ({"events": [{"kind": "message", "side": None, "content": {"text": "Hi."}}]}, "side"),
        ({"events": [{"kind": "message", "side": 0, "content": {}}]}, "text"),
        ({"events": ["Hi."]}, "events"),
    ],
)
def test_a_line_of_another_shape_is_named(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    source = written(tmp_path / "e.zip", conversation(1), conversation(2, **changes))
    with pytest.raises(InvalidData, match=rf"conversations\.jsonl, line 2: .*{named}"):
        campaign_export.read(source)


def test_an_event_of_another_kind_may_hold_anything(tmp_path: Path) -> None:
    more = conversation(1)
    more["events"] += [{"kind": "left", "side": None, "content": 3}]
    assert len(campaign_export.read(written(tmp_path / "e.zip", more))[0].turns) == 2


def test_personas_of_another_shape_are_named(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.jsonl", json.dumps(conversation(1)))
        archive.writestr("personas.jsonl", '{"persona": "p1", "revised": [3]}')
    with pytest.raises(InvalidData, match=r"personas\.jsonl, line 1: .*revised"):
        campaign_export.read(str(path))
