"""Values of labels and ratings, as they were sent, stored and exported (G29)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.trust.snapshot import Answer
from tests.trust.stories import Client, Story


def labels(
    name: str, client: Client, conversation: int, stored: Mapping[tuple[Any, ...], Answer]
) -> Iterator[str]:
    """Yield each label that is not what its latest acknowledged revision says.

    A later revision of which the person never heard may have been stored as well.
    """
    tries: dict[tuple[int, str], list[tuple[int, str, bool]]] = defaultdict(list)
    for key, record in client.invoked.items():
        frame = record["frame"]
        if frame["type"] == "label":
            acked = any(answer["what"] == "ok" for answer in client.settled[key])
            about = frame["seq"], frame["question"]
            tries[about].append((frame["revision"], frame["value"], acked))
    for (seq, question), sent in tries.items():
        latest = max((each for each in sent if each[2]), default=None)
        if latest is None:
            continue
        found = stored.get((name, conversation, seq, question))
        allowed = [each for each in sent if each[0] >= latest[0]]
        if found is None or not any(
            found.revision == revision and same(value, found.value)
            for revision, value, _ in allowed
        ):
            is_now = "not stored" if found is None else f"{found.value!r} ({found.revision})"
            yield f"{name}: label {question} of {seq} is {is_now}, was {latest[1]} ({latest[0]})"


def forms(name: str, story: Story, stored: Iterable[Answer]) -> Iterator[str]:
    """Yield each answer of the forms of who completed that is not stored as it was sent.

    A form that was sent again with other answers changes nothing: the first that was stored counts.
    """
    found = {f"{a.key}.{a.question}": a.value for a in stored if a.person == name}
    sent: dict[str, list[str]] = defaultdict(list)
    for form, answers in story.answers.items():
        if "ok" in story.forms[form]:
            for field, value in answers.items():
                sent[field].append(value)
    for field, given in sent.items():
        if field not in found:
            yield f"{name}: {field} was answered {given[0]} and is not stored"
        elif not any(same(value, found[field]) for value in given):
            yield f"{name}: {field} is {found[field]!r}, was answered {' or '.join(given)}"


def exported(stored: Iterable[Answer], table: Mapping[int, str]) -> Iterator[str]:
    """Yield each number that an export gives otherwise, and each answer that it lacks.

    What is no number, such as the letter of a persona, an export translates: it has to be there.
    """
    for answer in stored:
        if answer.pk not in table:
            yield f"answer {answer.pk} of {answer.person} is not exported"
        elif isinstance(answer.value, int | float) and not same(table[answer.pk], answer.value):
            yield f"answer {answer.pk} is {answer.value!r}, exported as {table[answer.pk]!r}"


def same(sent: str, stored: Any) -> bool:
    """Tell whether a field of a form, or a cell of a table, says this value."""
    if sent == str(stored):
        return True
    try:
        return float(sent) == float(stored)
    except (TypeError, ValueError):
        return False
