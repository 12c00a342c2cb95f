"""Contexts as a tree: each of two or three messages extends a shorter one; tags, and answers kept.

Source: MEENA (Adiwardana et al. 2020), sections 2.2 and 7: 315 contexts of one turn, 500 of two and
662 of three, the longer extending the shorter, some about personality, where a reply must agree
with what was answered before. Its own contexts were not published; 24 of our own come with the
package. A line of a user's file is {"id", "messages": ["...", ...], "tags": ["personality"],
"answer": "..."}; the last message is the partner's. `answer` is the earlier answer to agree with,
which must be a message of the side that replies; a personality context of three messages that names
none keeps the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_records, text_of, texts_of, write_records

BUNDLED = Path(__file__).parent / "text" / "context_tree.jsonl"
LONGEST = 3
PERSONALITY = "personality"
Placed = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class ContextNode:
    """A context, the one that it extends, its tags, and the answer that a reply must agree with."""

    dialogue: Dialogue
    extends: str | None
    tags: tuple[str, ...]
    answer: str | None

    @property
    def depth(self) -> int:
        return len(self.dialogue.turns)


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; without a path, the contexts that come with the package."""
    return [node.dialogue for node in tree(source)]


def tree(source: str) -> list[ContextNode]:
    """Read the file at this path as a tree. Raises InvalidData, naming the line of each orphan."""
    path = Path(source) if source else BUNDLED
    numbers = iter(_numbers(path))
    return _tree(read_records(path, lambda each: (f"{path}, line {next(numbers)}", _checked(each))))


def _tree(records: Sequence[Placed]) -> list[ContextNode]:
    """Return records, each with where it stands, as a tree."""
    names = {record["messages"]: str(record["id"]) for _, record in reversed(records)}
    ids = Counter(record["id"] for _, record in records)
    nodes, problems = [], []
    for where, record in records:
        messages, name = record["messages"], record["id"]
        parent = names.get(messages[:-1])
        if parent is None and len(messages) > 1:
            why = "but no context has all of these but the last"
            problems.append(f"{where}: {name} has {len(messages)} messages, {why}")
        if ids[name] > 1 or names[messages] != name:
            problems.append(f"{where}: {name} or its messages are there more than once")
        nodes.append(_node(record, parent))
    if problems:
        raise InvalidData(problems)
    return nodes


def depths(nodes: Iterable[ContextNode]) -> dict[int, int]:
    """Return how many contexts there are of each number of messages."""
    return dict(sorted(Counter(node.depth for node in nodes).items()))


def write(dialogues: Sequence[Dialogue], path: Path) -> None:
    """Write the file, without tags. Raises InvalidData, naming what the layout cannot hold."""
    records = [{"id": each.id, "messages": [t.text for t in each.turns]} for each in dialogues]
    found = _tree([(f"dialogue {each['id']}", _checked(each)) for each in records])
    wrong = [
        f"dialogue {each.id}: sides must alternate, partner last"
        for each, node in zip(dialogues, found, strict=True)
        if node.dialogue.turns != each.turns
    ]
    if wrong:
        raise InvalidData(wrong)
    write_records(records, path)


def _numbers(path: Path) -> list[int]:
    if not path.is_file():
        return []
    lines = path.read_text("utf-8-sig", errors="replace").split("\n")
    return [number for number, line in enumerate(lines, start=1) if line.strip()]


def _checked(record: Mapping[str, Any]) -> dict[str, Any]:
    messages = texts_of(record, "messages", least=1)
    if len(messages) > LONGEST:
        raise BadLine(f"messages has {len(messages)} texts, but must have at most {LONGEST}")
    tags, own = texts_of(record, "tags"), messages[-2::-2]
    answer = record.get("answer")
    if answer is None and PERSONALITY in tags and len(messages) == LONGEST:
        answer = own[0]
    if answer is not None and answer not in own:
        raise BadLine(f"answer is {answer!r}, but must be a message of the side that replies")
    return {"id": text_of(record, "id"), "messages": messages, "tags": tags, "answer": answer}


def _node(record: Mapping[str, Any], parent: str | None) -> ContextNode:
    messages = record["messages"]
    turns = tuple(
        Utterance("self" if (len(messages) - index) % 2 == 0 else "partner", text)
        for index, text in enumerate(messages)
    )
    return ContextNode(Dialogue(record["id"], turns), parent, record["tags"], record["answer"])
