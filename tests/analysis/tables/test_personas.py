"""Sentences of personas come with an export's zip, and a bad line is told."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from analysis import BadTable, read
from analysis.tables.personas import sentences
from tests.analysis.talks import talks


def _zip(folder: Path, personas: str) -> Path:
    table = talks([[("s", "Hi"), ("human", "Hello")]]).assign(persona=["p1", "p2"])
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("messages.csv", table.to_csv(index=False))
        archive.writestr("personas.jsonl", personas)
    return folder / "export.zip"


def test_an_export_s_personas_are_joined_to_its_messages(tmp_path: Path) -> None:
    line = json.dumps({"persona": "p1", "sentences": ["I have cats.", "I bake."], "revised": []})
    tables = read(_zip(tmp_path, f"{line}\n"))
    assert tables.messages is not None
    assert list(sentences(tables.messages)) == [["I have cats.", "I bake."], []]


def test_a_line_that_is_no_persona_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"personas.jsonl.*\nrow 1: line is not a persona"):
        read(_zip(tmp_path, '{"persona": "p1"}\n'))
