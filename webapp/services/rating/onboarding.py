"""Onboarding of raters: items whose answers are known come first, and decide who judges the rest.

Such an item is of a context that was imported with its known answers: by question the system of the
best reply, or the right values, by system where every reply is asked about. Or it is of two
conversations that are marked as the better and the worse one. Any number of raters may be tried.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation import Question, Rate
from webapp.models import Assignment, Item, Participation, Rating
from webapp.services.rating import conversation_items
from webapp.services.rules.protocols import protocol_of

Known = Mapping[str, Any]  # question to what is right
DONE = Assignment.State.DONE


def missing(person: Participation, held: Iterable[Assignment]) -> int:
    """Return how many items with known answers a rater still lacks."""
    onboarding = protocol_of(person.campaign).onboarding
    known = sum(assignment.item.known for assignment in held)
    return max(0, onboarding.items - known) if onboarding else 0


def choose(person: Participation, count: int, held: Iterable[Assignment]) -> list[Item]:
    """Return items with known answers that a rater does not hold, in an order drawn for them."""
    mine = {assignment.item_id for assignment in held}
    rows = Item.objects.filter(campaign=person.campaign, known=True).exclude(pk__in=mine)
    found = list(rows.order_by("pk"))
    seed = f"{person.campaign.seed}:{person.pk}:onboarding"
    random.Random(seed).shuffle(found)  # noqa: S311 (to be repeated)
    return found[:count]


def is_failed(person: Participation) -> bool:
    """Tell whether a rater has judged every item of the onboarding, and too few as is known."""
    protocol = protocol_of(person.campaign)
    onboarding, rate = protocol.onboarding, protocol.after
    if onboarding is None or rate is None:
        return False
    mine = Assignment.objects.filter(participation=person, item__known=True)
    done = list(mine.filter(state=DONE).select_related("item__context"))
    if len(done) < onboarding.items:
        return False
    return not onboarding.passes(sum(_is_right(rate, each) for each in done), len(done))


def _is_right(rate: Rate, assignment: Assignment) -> bool:
    if assignment.item.context is None:
        return _prefers_better(rate, assignment)
    known: Known = assignment.item.context.known
    rows = Rating.objects.filter(assignment=assignment)
    found = list(rows.values_list("candidate__system__name", "question", "value"))
    return all(
        _agrees(rate.question(name), right, [(s, value) for s, q, value in found if q == name])
        for name, right in known.items()
    )


def _prefers_better(rate: Rate, assignment: Assignment) -> bool:
    """Tell whether every question that compares conversations has the better one as its answer."""
    better = conversation_items.better_of(assignment.item)
    rows = Rating.objects.filter(assignment=assignment)
    found = rows.values_list("candidate", "question", "value")
    return all(
        is_best(question, value) == (candidate == better)
        for candidate, name, value in found
        if (question := rate.question(name)).compares
    )


def _agrees(question: Question, right: Any, answers: Sequence[tuple[str, Any]]) -> bool:
    """Tell whether the answers about each system are the right ones."""
    if question.compares:
        return all(is_best(question, value) == (system == right) for system, value in answers)
    expected = right if isinstance(right, Mapping) else {}
    return all(value in _values(expected.get(system, right)) for system, value in answers)


def is_best(question: Question, value: Any) -> bool:
    """Tell whether a reply is the best by an answer that compares replies; a tie has no best."""
    return question.cells(value, "") == (1, "")


def _values(right: Any) -> list[Any]:
    return right if isinstance(right, list) else [right]
