"""Third parties, who may judge a conversation: only people who took no part in it (ME-P3, ME-P4).

A person has another pseudonym in every campaign. Whether a rater chatted is found by computing,
from the rater's outside id, the names it has where the conversations were held; nothing that links
the two participations is stored.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from webapp.models import Campaign, ExternalId, Participation, Seat, TranscriptNote
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
    if not judges(campaign):
        return ""
    if platform == identity.VOLUNTEER:
        return "needs_id"
    cookies = [access.secret_hash(secret) for secret in secrets]
    people = Q(participation__pseudonym__in=_names(campaign, platform, external_id))
    people |= Q(participation__secret_hash__in=cookies)
    judged = Seat.objects.filter(people, conversation__items__campaign=campaign.pk)
    held = (
        judged.exists() or _notes(external_id).filter(conversation__campaign=campaign.pk).exists()
    )
    return "took_part" if held else ""


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
    imported = _notes(known.value).filter(conversation=OuterRef("conversation"))
    return items.filter(~Exists(own), ~Exists(imported))


def _notes(external_id: str) -> QuerySet[TranscriptNote]:
    """Return the imported conversations of whom a list names by this id."""
    held = Campaign.objects.filter(conversations__note__isnull=False).distinct()
    names = [
        name
        for each in held
        for name in identity.pseudonyms(each, identity.TRANSCRIPT, external_id)
    ]
    return TranscriptNote.objects.filter(volunteer__in=names)


def _names(campaign: AnyCampaign, platform: str, external_id: str) -> list[str]:
    """Return the pseudonyms of a person in every campaign whose conversations are judged here."""
    held = Campaign.objects.filter(conversations__items__campaign=campaign.pk).distinct()
    return [name for each in held for name in identity.pseudonyms(each, platform, external_id)]
