"""Fixed contexts of one to three messages, each to be answered: the shape of MEENA's benchmark.

Source: MEENA (Adiwardana et al. 2020), section 2.2; its own contexts were not published, so 180 of
our own come with the package. A line of a user's file is {"id", "messages": ["...", ...]}; the last
message is the partner's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_records, text_of, texts_of, write_records

BUNDLED = Path(__file__).parent / "text" / "contexts.jsonl"
LONGEST = 3


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; without a path, the contexts that come with the package."""
    return read_records(Path(source) if source else BUNDLED, _context)


def write(dialogues: Sequence[Dialogue], path: Path) -> None:
    """Write the file. Raises InvalidData, naming what the layout cannot hold."""
    wrong = [each.id for each in dialogues if _context(_record(each)).turns != each.turns]
    if wrong:
        raise InvalidData(
            [f"dialogue {name}: sides must alternate, partner last" for name in wrong]
        )
    write_records([_record(dialogue) for dialogue in dialogues], path)


def _record(dialogue: Dialogue) -> dict[str, Any]:
    return {"id": dialogue.id, "messages": [turn.text for turn in dialogue.turns]}


def _context(record: Mapping[str, Any]) -> Dialogue:
    texts = texts_of(record, "messages", least=1)
    if len(texts) > LONGEST:
        raise BadLine(f"messages has {len(texts)} texts, but must have at most {LONGEST}")
    turns = (
        Utterance("self" if (len(texts) - index) % 2 == 0 else "partner", text)
        for index, text in enumerate(texts)
    )
    return Dialogue(text_of(record, "id"), tuple(turns))
