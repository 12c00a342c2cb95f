"""Planted replies that a requester would import: data sets, characters, intentions.

Apart from the campaign, because the checks ask it too. Everything follows from what a protocol
declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation import Protocol, Question, Rate
from tests.simulate.planted import SYSTEMS

DATASETS = ("first", "second")
CHARACTERS = ("Ada", "Ben", "Cleo", "Dan", "Eve")  # one series
OTHER = "something else"  # that replies are meant to be, and no question is for
TEXTS = 50  # of a list that is judged by itself
AUTHORS = tuple(SYSTEMS)


def replies_are_imported(protocol: Protocol) -> bool:
    """Tell whether replies are fixed: to one utterance at most, not to a conversation."""
    rate = protocol.after
    return rate is not None and rate.over == "contexts" and rate.messages[1] <= 1


def options_intended(question: Question) -> tuple[str, ...]:
    """Return what a reply can be meant to be: the options of a question that are names."""
    options = getattr(question, "options", ())
    return () if question.is_scale else tuple(str(option.value) for option in options)


def intentions(rate: Rate) -> tuple[str, ...]:
    """Return what replies are meant to be in turn: what questions are for, and something else."""
    asked_of = {each: None for question in rate.questions for each in question.intended}
    if asked_of:
        return (*asked_of, OTHER)
    return next(filter(None, map(options_intended, rate.questions)), ())


def imported_contexts(protocol: Protocol, count: int) -> Iterator[dict[str, Any]]:
    """Yield contexts with the replies of every system, as lines of an import."""
    rate = protocol.after
    assert rate is not None
    intended = intentions(rate)
    for number in range(count):
        row: dict[str, Any] = {"id": f"context{number}", "messages": []}
        if rate.messages[1]:
            row["messages"] = [f"Statement {number} holds because ?"]
            row["replies"] = {name: _reply(name, number, intended) for name in SYSTEMS}
        else:
            row["character"] = CHARACTERS[number % len(CHARACTERS)]
            row["replies"] = _list(number // len(CHARACTERS))
        if rate.keep == "group":
            row["dataset"] = DATASETS[number % len(DATASETS)]
        yield row


def _reply(system: str, number: int, intended: tuple[str, ...]) -> Any:
    # No text tells its system: what is judged has to come from the planted name.
    text = f"Reply {number}.{list(SYSTEMS).index(system)} to the statement."
    return {"text": text, "intended": intended[number % len(intended)]} if intended else text


def _list(number: int) -> dict[str, list[str]]:
    """Return the texts of one list by author; each list is judged for every character."""
    found: dict[str, list[str]] = {name: [] for name in AUTHORS}
    for place in range(TEXTS):
        found[AUTHORS[place % len(found)]].append(f"Utterance {place} of list {number}.")
    return found
