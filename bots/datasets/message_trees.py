"""Trees of forum messages, filtered as MEENA's training data was.

A line is {"id", "parent": id or null, "author", "text"} and, where a classifier said so, "flagged":
true. Source of the filter and the pairs: MEENA (Adiwardana et al. 2020, section 3.1), in
`bots.guards.message_filter`. Read as dialogues are the paths from a root to each last message that
is left, seen by whoever wrote that; `read_pairs` gives every response with its context once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Example, Utterance
from bots.guards.message_filter import ForumMessage, Rules, filtered, pairs, path_to
from bots.line_files import BadLine, InvalidData, read_records, text_of


def read(source: str) -> list[Dialogue]:
    """Read the file at this path: a dialogue per kept message that nobody answered."""
    kept = filtered(messages(source)).kept
    answered = {message.parent for message in kept.values()}
    ends = [message for message in kept.values() if message.id not in answered]
    paths = [path_to(kept, message) for message in ends]
    return [Dialogue(path[-1].id, _turns(path)) for path in paths if len(path) > 1]


def read_pairs(source: str, rules: Rules | None = None) -> list[Example]:
    """Read the file at this path: an example per kept message that answers another."""
    rules = rules or Rules()
    return [
        Example(
            id=pair.response.id,
            dialogue=path_to(kept, pair.response)[0].id,
            persona=(),
            partner_persona=(),
            history=_turns([*pair.context, pair.response])[:-1],
            reply=pair.response.text,
        )
        for kept in [filtered(messages(source), rules).kept]
        for pair in pairs(kept, rules.context)
    ]


def messages(source: str) -> list[ForumMessage]:
    """Read the file at this path as it is; every message must hang on a root.

    Raises InvalidData, naming everything wrong with the file.
    """
    path = Path(source)
    found = read_records(path, _message)
    known = {message.id for message in found}
    problems = [
        f"{path}: message {each.id}: its parent {each.parent!r} is not in the file"
        for each in found
        if each.parent is not None and each.parent not in known
    ]
    problems += [f"{path}: message {each}: is there twice" for each in _twice(found)]
    problems += [f"{path}: message {each}: is above itself" for each in _circling(found)]
    if problems:
        raise InvalidData(problems)
    return found


def _turns(path: Sequence[ForumMessage]) -> tuple[Utterance, ...]:
    last = path[-1].author
    return tuple(
        Utterance("self" if message.author == last else "partner", message.text) for message in path
    )


def _message(record: Mapping[str, Any]) -> ForumMessage:
    parent = record.get("parent")
    if parent is not None and not isinstance(parent, str):
        raise BadLine(f"parent is {parent!r}, but must be the id of a message, or null")
    flagged = record.get("flagged", False)
    if not isinstance(flagged, bool):
        raise BadLine(f"flagged is {flagged!r}, but must be true or false")
    return ForumMessage(
        text_of(record, "id"), parent, text_of(record, "author"), text_of(record, "text"), flagged
    )


def _twice(found: Sequence[ForumMessage]) -> list[str]:
    counted = Counter(message.id for message in found)
    return [name for name, times in counted.items() if times > 1]


def _circling(found: Sequence[ForumMessage]) -> list[str]:
    parents = {message.id: message.parent for message in found}
    circling = []
    for message in found:
        above, steps = message.parent, 0
        while above is not None and steps <= len(parents):
            above, steps = parents.get(above), steps + 1
        if above is not None:
            circling.append(message.id)
    return circling
