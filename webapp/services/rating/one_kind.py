"""Raters who are kept to one kind of item: one data set or list, or one system (an arm).

The kind is drawn when a rater gets the first item, among those that the fewest raters have, and
stays: a reader of rankings sees prompts of one data set, and between participants one judges
either originals or what a model wrote. It stays over the campaigns of a study that keep raters to
the same sort of kind: there too, whoever comes by the same id gets the kind of this name. Where a
campaign has none of it, or somebody came without an id, it is drawn.

Apart because it narrows the items that there are and knows nothing of how one of them is chosen.
"""

from __future__ import annotations

import random

from django.db.models import Count

from webapp.models import Assignment, Campaign, ExternalId, Item, Participation
from webapp.models.rating import ItemQuery
from webapp.services.rules import identity, ledger
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of

PATHS = ledger.KINDS
NAMES = {"group": "context__group", "system": "candidates__system__name"}
RULE = (
    "drawn at a participant's first item; whoever comes by the same id to another campaign of the "
    "study keeps it there"
)


def kept_to(items: ItemQuery, person: Participation) -> ItemQuery:
    """Narrow items to the rater's kind, where the protocol keeps raters to one."""
    rate = protocol_of(person.campaign).after
    if rate is None or not rate.keep:
        return items
    path = PATHS[rate.keep]
    held = Assignment.objects.filter(participation=person, item__known=False).order_by("pk")
    own = held.values_list(f"item__{path}", flat=True).first() if held.exists() else None
    if own is None and (before := drawn_before(person)) is not None:
        return items.filter(**{NAMES[rate.keep]: before})
    if own is None:
        own = _drawn(items, person, path)
    return items.filter(**{path: own})


def drawn_before(person: Participation) -> str | None:
    """Return the kind that a person was drawn into in another campaign of the study, by its name.

    None where there is none, or this campaign has no item of it. What was drawn later does not
    count.
    """
    name = _names(person.campaign)
    others = _with_same_kinds(person.campaign)
    known = ExternalId.objects.filter(participation=person).first()
    if not name or not others or known is None or known.platform == identity.VOLUNTEER:
        return None
    pseudonyms = [
        each
        for campaign in others
        for each in identity.pseudonyms(campaign, known.platform, known.value)
    ]
    rows = Assignment.objects.filter(
        item__campaign__in=others, item__known=False, participation__pseudonym__in=pseudonyms
    )
    own = Assignment.objects.filter(participation=person, item__known=False).order_by("made_at")
    if (first := own.values_list("made_at", flat=True).first()) is not None:
        rows = rows.filter(made_at__lt=first)
    found = rows.order_by("made_at", "pk").values_list(f"item__{name}", flat=True).first()
    here = Item.objects.shared().filter(campaign=person.campaign, known=False, **{name: found})
    return found if found is not None and here.exists() else None


def kinds_of(campaign: Campaign) -> dict[int, list[str]]:
    """Return the kinds that each person judged in a campaign, by the person's number."""
    name = _names(campaign)
    if not name:
        return {}
    rows = Assignment.objects.filter(
        item__campaign=campaign, item__known=False, state=Assignment.State.DONE
    )
    found: dict[int, list[str]] = {}
    pairs = rows.order_by("participation", f"item__{name}").distinct()
    for person, kind in pairs.values_list("participation", f"item__{name}"):
        found.setdefault(person, []).append(kind)
    return found


def keeps(campaign: AnyCampaign) -> str:
    """Return what all items of one rater have in common: "group", "system", or "" for nothing."""
    rate = protocol_of(campaign).after
    return rate.keep if rate is not None else ""


def _names(campaign: Campaign) -> str:
    return NAMES.get(keeps(campaign), "")


def _with_same_kinds(campaign: Campaign) -> list[Campaign]:
    if campaign.study_id is None:
        return []
    others = Campaign.objects.filter(study=campaign.study_id).exclude(pk=campaign.pk)
    return [each for each in others if keeps(each) == keeps(campaign)]


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
