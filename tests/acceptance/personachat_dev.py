"""Real dialogues with personas held out, and those personas in other words.

The dialogues are shared/data/personachat_dev, split as decision 0011 tells. It has no revised
personas, so that those of its test part were written for Parley, sentence by sentence, by who had
seen no dialogue (tests/data/revised_personas.tsv; PERSONA-CHAT, Zhang et al. 2018, section 3.2:
rephrased, generalized or specialized, and no word copied that is not a stop word). A sentence is
known there by a hash of the original.
"""

from __future__ import annotations

import csv
import hashlib
import json
from functools import cache
from pathlib import Path

from bots.datasets import jsonl
from bots.learning.splits import hold_out_personas
from tests.acceptance.table import NotShown
from tests.conftest import SHARED

REVISED = Path(__file__).parents[1] / "data" / "revised_personas.tsv"
SHARE, SEED = 0.15, 0


def parts(folder: Path) -> tuple[str, str, str]:
    """Write and name what to learn from, what to be tested on, and that with revised personas."""
    source = SHARED / "personachat_dev" / "dialogues.jsonl"
    if not source.is_file():
        raise NotShown("the folder shared/data/personachat_dev is not beside the repository")
    held = {each.id for each in hold_out_personas(jsonl.read(str(source)), SHARE, SEED)[1]}
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    tested = [row for row in rows if row["id"] in held]
    found = {
        "learned": [row for row in rows if row["id"] not in held],
        "tested": tested,
        "revised": [{**row, "persona": list(map(revised, row["persona"]))} for row in tested],
    }
    for name, chosen in found.items():
        lines = "".join(json.dumps(row) + "\n" for row in chosen)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    learned, of_test, other = (f"jsonl:{folder / name}.jsonl" for name in found)
    return learned, of_test, other


def revised(sentence: str) -> str:
    """Return a persona's sentence in other words."""
    return _known()[hashlib.sha256(sentence.encode()).hexdigest()[:16]]


@cache
def _known() -> dict[str, str]:
    with REVISED.open(encoding="utf-8", newline="") as lines:
        return {row["original"]: row["revised"] for row in csv.DictReader(lines, delimiter="\t")}
