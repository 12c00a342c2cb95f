"""Raters who are kept to one kind of item: one data set or list, or one system (an arm).

The kind is drawn when a rater gets the first item, among those that the fewest raters have, and
stays: a reader of rankings sees prompts of one data set, and between participants one judges
either originals or what a model wrote. Apart because it narrows the items that there are and
knows nothing of how one of them is chosen.
"""

from __future__ import annotations

import random

from django.db.models import Count

from webapp.models import Assignment, Participation
from webapp.models.rating import ItemQuery
from webapp.services.rules import ledger
from webapp.services.rules.protocols import protocol_of

PATHS = ledger.KINDS


def kept_to(items: ItemQuery, person: Participation) -> ItemQuery:
    """Narrow items to the rater's kind, where the protocol keeps raters to one."""
    rate = protocol_of(person.campaign).after
    if rate is None or not rate.keep:
        return items
    path = PATHS[rate.keep]
    held = Assignment.objects.filter(participation=person, item__known=False).order_by("pk")
    own = held.values_list(f"item__{path}", flat=True).first() if held.exists() else None
    if own is None:
        own = _drawn(items, person, path)
    return items.filter(**{path: own})


def _drawn(items: ItemQuery, person: Participation, path: str) -> object:
    """Return one of the kinds with open items that the fewest raters have, by chance."""
    held = Assignment.objects.filter(item__campaign=person.campaign, item__known=False)
    counts = dict(
        held.exclude(state=Assignment.State.RELEASED)
        .values_list(f"item__{path}")
        .annotate(Count("participation", distinct=True))
        .order_by()
    )
    open_kinds = sorted(set(items.order_by().values_list(path, flat=True).distinct()))
    fewest = min((counts.get(kind, 0) for kind in open_kinds), default=0)
    chosen = [kind for kind in open_kinds if counts.get(kind, 0) == fewest]
    seed = f"{person.campaign.seed}:{person.pk}:{path}"
    return random.Random(seed).choice(chosen) if chosen else None  # noqa: S311 (to be repeated)
