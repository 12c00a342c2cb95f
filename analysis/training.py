"""The conversations that systems learned from, for metrics that compare with them."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.options import BadOption

RIGHT = 'a list of texts, or an object with "turns", each with a "text"'


def read(path: Path) -> list[list[str]]:
    """Return the conversations of a JSON Lines file, such as dialogues that bots are trained on."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption("training", str(path), f"a text file in UTF-8 ({error})") from error
    found = [_texts(path, k, line) for k, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise BadOption("training", str(path), "a file with a conversation a line")
    return found


def _texts(path: Path, number: int, line: str) -> list[str]:
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    turns = said.get("turns") if isinstance(said, dict) else said
    if isinstance(turns, list):
        texts = [turn.get("text") if isinstance(turn, dict) else turn for turn in turns]
        if texts and all(isinstance(text, str) for text in texts):
            return [str(text) for text in texts]
    raise BadOption("training", f"{path.name}, line {number}: {line[:40]}", RIGHT)
