"""Third parties: who may judge a conversation, or revise or judge what others wrote (ME-P3, PC-P2).

Only people who took no part in it, and did not write it.

A person has another pseudonym in every campaign. Whether a rater chatted is found by computing,
from the rater's outside id, the names it has where the conversations were held; nothing that links
the two participations is stored.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from webapp.models import Campaign, Contribution, ExternalId, Participation, Seat
from webapp.models.rating import ItemQuery
from webapp.services.rules import access, identity
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of


def judges(campaign: AnyCampaign) -> bool:
    """Tell whether a campaign's raters judge messages of other campaigns' conversations."""
    rate = protocol_of(campaign).after
    return rate is not None and rate.by_third_parties


def refusal(
    *, campaign: AnyCampaign, platform: str, external_id: str, secrets: Iterable[str] = ()
) -> str:
    """Return the notice of why somebody may not judge here, "" where they may.

    Without an id nobody can be told from those who chatted. `secrets` are of the cookies in the
    browser: they know who chatted there without an id.
    """
    authors = _authors(campaign)
    if not judges(campaign) and not authors.exists():
        return ""
    if platform == identity.VOLUNTEER:
        return "needs_id"
    cookies = [access.secret_hash(secret) for secret in secrets]
    names = _names(campaign, platform, external_id)
    if authors.filter(Q(pseudonym__in=names) | Q(secret_hash__in=cookies)).exists():
        return "wrote"
    people = Q(participation__pseudonym__in=names) | Q(participation__secret_hash__in=cookies)
    judged = Seat.objects.filter(people, conversation__items__campaign=campaign.pk)
    return "took_part" if judged.exists() else ""


def _authors(campaign: AnyCampaign) -> QuerySet[Participation]:
    """Return who wrote what is revised, or judged, in a campaign."""
    protocol = protocol_of(campaign)
    used = Contribution.objects.none()
    if protocol.write is not None and protocol.write.makes == "revision":
        used = Contribution.objects.filter(personas__campaign=campaign.pk)
    elif protocol.after is not None and protocol.after.over == "contexts":
        used = Contribution.objects.filter(replies__campaign=campaign.pk)
    return Participation.objects.filter(assignments__contribution__in=used)


def open_to(items: ItemQuery, person: Participation) -> ItemQuery:
    """Narrow items to those of conversations that a person took no part in.

    Who cannot be told from those who chatted, because their id was deleted, gets none.
    """
    known = ExternalId.objects.filter(participation=person).first()
    if known is None or known.platform == identity.VOLUNTEER:
        return items.none()
    names = _names(person.campaign, known.platform, known.value)
    own = Seat.objects.filter(
        conversation=OuterRef("conversation"), participation__pseudonym__in=names
    )
    return items.filter(~Exists(own))


def _names(campaign: AnyCampaign, platform: str, external_id: str) -> list[str]:
    """Return the pseudonyms of a person in every campaign whose conversations or texts are here."""
    here = Q(conversations__items__campaign=campaign.pk)
    here |= Q(pk__in=_authors(campaign).values("campaign"))
    held = Campaign.objects.filter(here).distinct()
    return [name for each in held for name in identity.pseudonyms(each, platform, external_id)]
