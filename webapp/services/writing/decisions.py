"""Decisions about contributions: staff accept what may be used, or refuse it with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from webapp.models import Contribution
from webapp.services.rules import access, audit, quota, states
from webapp.services.rules.access import AnyCampaign
from webapp.services.writing import writing_items

PAGE = 50  # of a list
State = Contribution.State


@dataclass(frozen=True, kw_only=True)
class TextPair:
    """A text, and the sentence or message that it rewords, "" for none."""

    text: str
    original: str


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A contribution as staff see it; about: the key of the persona or context, "" for none."""

    pk: int
    author: int
    pseudonym: str
    about: str
    context: tuple[str, ...]
    split: str
    state: str
    reason: str
    pairs: tuple[TextPair, ...]
    made_at: datetime
    excluded: str

    @property
    def is_open(self) -> bool:
        return self.state == State.OFFERED

    @property
    def state_words(self) -> str:
        return str(State(self.state).label)


def of_campaign(campaign: AnyCampaign) -> QuerySet[Contribution]:
    """Return the campaign's contributions; what was withdrawn is not among them."""
    rows = Contribution.objects.filter(assignment__item__campaign=campaign.pk)
    item = "assignment__item"
    return rows.select_related(
        "assignment__participation", f"{item}__persona", f"{item}__conversation"
    ).order_by("pk")


def listed(*, campaign: AnyCampaign, state: str, after: int = 0, page: int = PAGE) -> list[Offered]:
    """Return a page of contributions in a state ("" for any), those after a number."""
    rows = of_campaign(campaign).select_related("assignment__item__context").filter(pk__gt=after)
    rows = rows.filter(state=state) if state else rows
    return [_offered(row) for row in rows[:page]]


def counts(campaign: AnyCampaign) -> dict[str, int]:
    """Count the contributions by state."""
    rows = of_campaign(campaign).order_by().values_list("state").annotate(Count("pk"))
    return {str(state): 0 for state in State.values} | dict(rows)


def accept(*, campaign: AnyCampaign, pks: Sequence[int], by: Any, now: datetime) -> int:
    """Accept offered contributions; return how many. A repeat accepts none."""
    with transaction.atomic():
        rows = _open(campaign, pks)
        for row in rows:
            states.move(row, "accept", decided_at=now)
        _note(campaign, "contributions accepted", [row.pk for row in rows], by, now)
        return len(rows)


def refuse(
    *, campaign: AnyCampaign, pks: Sequence[int], reason: str, by: Any, now: datetime
) -> int:
    """Refuse offered contributions, each of which is asked of somebody else; return how many.

    Their authors' pay does not change.
    """
    with transaction.atomic():
        rows = _open(campaign, pks)
        for row in rows:
            states.move(row, "refuse", decided_at=now, reason=reason)
            quota.withdraw(row.assignment.item)
        _note(campaign, "contributions refused", [row.pk for row in rows], by, now, reason=reason)
        return len(rows)


def _open(campaign: AnyCampaign, pks: Sequence[int]) -> list[Contribution]:
    """Return those that are still undecided, locked in the order of their items.

    Raises `access.NotFound` for a number that is none of the campaign's.
    """
    here = Contribution.objects.filter(assignment__item__campaign=campaign.pk)
    if here.filter(pk__in=pks).count() != len(set(pks)):
        raise access.NotFound(f"contributions {sorted(set(pks))} of campaign {campaign.pk}")
    locked = here.filter(pk__in=pks, state=State.OFFERED).select_for_update(of=("self",))
    return list(locked.select_related("assignment__item").order_by("assignment__item", "pk"))


def _offered(row: Contribution) -> Offered:
    item, person = row.assignment.item, row.assignment.participation
    return Offered(
        pk=row.pk,
        author=person.pk,
        pseudonym=person.pseudonym,
        about=about(row),
        context=tuple(item.context.messages) if item.context else (),
        split=writing_items.split_of(item),
        state=row.state,
        reason=row.reason,
        pairs=tuple(pairs(row)),
        made_at=row.made_at,
        excluded=person.excluded,
    )


def about(row: Contribution) -> str:
    """Return the key of what a contribution was written about: a persona, context or message."""
    item = row.assignment.item
    if item.conversation_id is not None:
        return item.key
    parent = item.persona or item.context
    return parent.key if parent else ""


def pairs(row: Contribution) -> Iterator[TextPair]:
    """Yield each text with what it says in other words; what was withdrawn is blank."""
    item = row.assignment.item
    rewords = item.persona is not None or item.conversation_id is not None
    originals = writing_items.basis(item) if rewords else ()
    for number, text in enumerate(row.texts):
        yield TextPair(text=text, original=originals[number] if number < len(originals) else "")


def _note(
    campaign: AnyCampaign, action: str, pks: list[int], by: Any, now: datetime, **about: str
) -> None:
    if pks:
        audit.append(
            actor=by.get_username(),
            action=action,
            campaign=campaign,
            now=now,
            contributions=pks,
            **about,
        )
