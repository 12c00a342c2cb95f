"""Dialogues of three messages, one per line, the messages separated by TAB.

Source: THRED (Dziri et al. 2019): Reddit threads cut to Utt.1, Utt.2 and the response. The paper
tells what a dialogue is, not how its file looks; this layout is ours. The response and Utt.1
are one's own side. A dialogue is named by its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from bots.dialogue import Dialogue, Utterance
from bots.line_files import InvalidData, read_lines

TURNS = 3


def read(source: str) -> list[Dialogue]:
    """Read the file at this path. Raises InvalidData, naming everything wrong with the data."""
    path, found, problems = Path(source), list[Dialogue](), list[str]()
    for number, line in enumerate(read_lines(path), start=1):
        texts = [text.strip() for text in line.split("\t")]
        if not line.strip():
            continue
        if len(texts) != TURNS or not all(texts):
            counted = f"has {len(texts)} messages, {sum(map(bool, texts))} with text"
            problems.append(
                f"{path}, line {number}: {counted}, but must have three, TAB between them"
            )
        else:
            found.append(_dialogue(str(number), texts))
    if not found and not problems:
        problems.append(f"{path}: no dialogues")
    if problems:
        raise InvalidData(problems)
    return found


def triples(dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
    """Yield every three consecutive messages in which the sides take turns, as a dialogue."""
    for dialogue in dialogues:
        for start in range(len(dialogue.turns) - TURNS + 1):
            turns = dialogue.turns[start : start + TURNS]
            if all(one.speaker != other.speaker for one, other in pairwise(turns)):
                yield _dialogue(f"{dialogue.id}:{start}", [turn.text for turn in turns])


def _dialogue(name: str, texts: list[str]) -> Dialogue:
    one, two, three = texts
    turns = (Utterance("self", one), Utterance("partner", two), Utterance("self", three))
    return Dialogue(name, turns)
