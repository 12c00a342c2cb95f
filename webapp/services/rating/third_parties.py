"""Third parties: who may judge a conversation, or revise or judge what others wrote (ME-P3, PC-P2).

Only people who took no part in it, and did not write it: also where it was imported (ME-P4). Nor,
where the protocol says so, may those judge it who did before in another campaign (ME-P7).

A person has another pseudonym in every campaign. Whether a rater chatted is found by computing,
from the rater's outside id, the names it has where the conversations were held; nothing that links
the two participations is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q, QuerySet

from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Contribution,
    Conversation,
    ExternalId,
    Item,
    Participation,
    Persona,
    Seat,
    TakenConversation,
    TranscriptNote,
)
from webapp.models.rating import ItemQuery
from webapp.services.rules import access, identity
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of

OWN_CONVERSATION, BEFORE, OWN_TEXT = "own conversation", "judged before", "own text"
KNOWN = ~Q(state=Assignment.State.RELEASED)  # of assignments: it was shown


def judges(campaign: AnyCampaign) -> bool:
    """Tell whether a campaign's raters judge other campaigns' conversations, or their messages."""
    rate = protocol_of(campaign).after
    return rate is not None and rate.by_third_parties


def uses_others(campaign: AnyCampaign) -> bool:
    """Tell whether a campaign's items are of other campaigns' conversations: judged or reworded."""
    write = protocol_of(campaign).write
    return judges(campaign) or (write is not None and write.of_conversations)


def compares_own(campaign: AnyCampaign) -> bool:
    """Tell whether whole conversations of other campaigns are compared in this one."""
    rate = protocol_of(campaign).after
    if rate is None or rate.over != "speakers":
        return False
    return TakenConversation.objects.filter(campaign=campaign.pk).exists()


def refusal(
    *, campaign: AnyCampaign, platform: str, external_id: str, secrets: Iterable[str] = ()
) -> str:
    """Return the notice of why somebody may not judge here, "" where they may.

    Without an id nobody can be told from those who chatted. `secrets` are of the cookies in the
    browser: they know who chatted there without an id.
    """
    authors = _authors(campaign)
    if not keeps_people_out(campaign):
        return ""
    if platform == identity.VOLUNTEER:
        return "needs_id"
    names = _names(campaign, platform, external_id)
    if authors.filter(Q(pseudonym__in=names) | access.of_browser(secrets)).exists():
        return "wrote"
    people = Q(participation__pseudonym__in=names)
    people |= access.of_browser(secrets, "participation__")
    used = Q(conversation__items__campaign=campaign.pk)
    used |= Q(conversation__taken__campaign=campaign.pk)
    judged = Seat.objects.filter(people, used)
    held = _notes(external_id).filter(conversation__campaign=campaign.pk)
    if judged.exists() or held.exists():
        return "took_part"
    own = Q(item__conversation__items__campaign=campaign.pk)
    before = Assignment.objects.filter(people, own).exclude(item__campaign=campaign.pk)
    return "judged_before" if _wants_new(campaign) and before.filter(KNOWN).exists() else ""


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
    for closed in _closed(person.campaign, known).values():
        items = items.filter(*(~each for each in closed))
    return items


def keeps_people_out(campaign: AnyCampaign) -> bool:
    """Tell whether what people said or wrote elsewhere is judged, or reworded, in a campaign."""
    return uses_others(campaign) or compares_own(campaign) or _authors(campaign).exists()


def closed_to(items: ItemQuery, person: Participation) -> Iterator[tuple[str, ItemQuery]]:
    """Yield each rule with the items that it keeps from a person; none where no id is known."""
    known = ExternalId.objects.filter(participation=person).first()
    if known is None or known.platform == identity.VOLUNTEER:
        return
    rules = _closed(person.campaign, known) | {OWN_TEXT: _own_texts(person.campaign, known)}
    for rule, closed in rules.items():
        yield rule, items.filter(reduce(or_, (Q(each) for each in closed)))


def _closed(campaign: Campaign, known: ExternalId) -> dict[str, tuple[Exists, ...]]:
    """Return by rule what holds of the items whose conversation somebody must not judge."""
    names = _names(campaign, known.platform, known.value)
    mine = Seat.objects.filter(participation__pseudonym__in=names)
    own = mine.filter(conversation=OuterRef("conversation"))
    if compares_own(campaign):
        own = mine.filter(conversation__candidates__item=OuterRef("pk"))
    imported = _notes(known.value).filter(conversation=OuterRef("conversation"))
    rules: dict[str, tuple[Exists, ...]] = {OWN_CONVERSATION: (Exists(own), Exists(imported))}
    if _wants_new(campaign):
        before = Assignment.objects.filter(
            KNOWN,
            item__conversation=OuterRef("conversation"),
            participation__pseudonym__in=names,
        )
        rules[BEFORE] = (Exists(before.exclude(item__campaign=campaign)),)
    return rules


def _own_texts(campaign: Campaign, known: ExternalId) -> tuple[Exists, ...]:
    """Return what holds of the items that are about somebody's own persona or reply."""
    names = _names(campaign, known.platform, known.value)
    own = Contribution.objects.filter(assignment__participation__pseudonym__in=names)
    written = Persona.objects.filter(pk=OuterRef("persona"), written__in=own)
    replies = Candidate.objects.filter(item=OuterRef("pk"), conversation__written__in=own)
    return Exists(written), Exists(replies)


def _wants_new(campaign: AnyCampaign) -> bool:
    """Tell whether nobody judges a conversation here who did so in another campaign."""
    rate = protocol_of(campaign).after
    return rate is not None and rate.not_before


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
    """Return the pseudonyms of a person wherever what is here was said, written or judged too."""
    shown_here = Q(items__campaign=campaign.pk) | Q(taken__campaign=campaign.pk)
    here = Conversation.objects.filter(shown_here)
    judged = Item.objects.filter(conversation__in=here).values("campaign")
    known = Campaign.objects.filter(
        Q(pk__in=here.values("campaign"))
        | Q(pk__in=judged)
        | Q(pk__in=_authors(campaign).values("campaign"))
    )
    return [
        name
        for each in known.exclude(pk=campaign.pk)
        for name in identity.pseudonyms(each, platform, external_id)
    ]
