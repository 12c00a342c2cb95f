"""JSON Lines of dialogues: our own layout, and that of PERSONA-CHAT collections kept as JSON.

A line is {"id", "turns": [{"speaker": "self" | "partner", "text"}]}, and, where known, "persona"
and "partner_persona" (lists of sentences) and "candidates" of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, read_records, text_of, texts_of, write_records


def read(source: str) -> list[Dialogue]:
    """Read the file at this path."""
    return read_records(Path(source), _dialogue)


def write(dialogues: Sequence[Dialogue], path: Path) -> None:
    """Write the file."""
    write_records([_record(dialogue) for dialogue in dialogues], path)


def _dialogue(record: Mapping[str, Any]) -> Dialogue:
    turns = record.get("turns")
    if not isinstance(turns, list) or not turns:
        right = 'a list such as [{"speaker": "self" or "partner", "text": "Hi!"}]'
        raise BadLine(f"turns is {turns!r}, but must be {right}")
    return Dialogue(
        id=text_of(record, "id"),
        turns=tuple(_turn(turn, index) for index, turn in enumerate(turns, start=1)),
        persona=texts_of(record, "persona"),
        partner_persona=texts_of(record, "partner_persona"),
    )


def _turn(turn: object, index: int) -> Utterance:
    if not isinstance(turn, dict):
        raise BadLine(f"turn {index} is {turn!r}, but must have a speaker and a text")
    speaker = turn.get("speaker")
    if speaker not in ("self", "partner"):
        raise BadLine(f"turn {index}: speaker is {speaker!r}, but must be self or partner")
    try:
        return Utterance(speaker, text_of(turn, "text"), texts_of(turn, "candidates"))
    except BadLine as problem:
        raise BadLine(f"turn {index}: {problem}") from problem


def _record(dialogue: Dialogue) -> dict[str, Any]:
    record: dict[str, Any] = {"id": dialogue.id}
    if dialogue.persona:
        record["persona"] = dialogue.persona
    if dialogue.partner_persona:
        record["partner_persona"] = dialogue.partner_persona
    return {**record, "turns": [_turn_record(turn) for turn in dialogue.turns]}


def _turn_record(turn: Utterance) -> dict[str, Any]:
    record: dict[str, Any] = {"speaker": turn.speaker, "text": turn.text}
    return {**record, "candidates": turn.candidates} if turn.candidates else record
