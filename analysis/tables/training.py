"""Training conversations of the systems, for metrics that compare with them.

Apart because notebooks read training conversations with it too.
"""

from __future__ import annotations

import json
from pathlib import Path

from analysis.tables.options import BadOption

RIGHT = 'a list of texts, or an object with "turns", each with a "text"'


def read(path: Path) -> list[list[str]]:
    """Return the conversations of a JSON Lines file, such as dialogues that bots are trained on.

    Raises `BadOption` where a line is no conversation.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption("training", str(path), f"a text file in UTF-8 ({error})") from error
    found = [_texts(path, k, line) for k, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise BadOption("training", str(path), "a file with one conversation per line")
    return found


def _texts(path: Path, number: int, line: str) -> list[str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    turns = record.get("turns") if isinstance(record, dict) else record
    if isinstance(turns, list):
        texts = [turn.get("text") if isinstance(turn, dict) else turn for turn in turns]
        if texts and all(isinstance(text, str) for text in texts):
            return [str(text) for text in texts]
    raise BadOption("training", f"{path.name}, line {number}: {line[:40]}", RIGHT)
