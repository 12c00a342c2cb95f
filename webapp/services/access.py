"""The rows an actor may see; the only way views get any (S1). A foreign row is not found."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from webapp.models import Campaign, Conversation, Seat, Whitelist
from webapp.models import Participation as Participation

User = AbstractBaseUser | AnonymousUser
Place = tuple[int, int]  # a participation and a conversation of its own, or 0


class NotFound(LookupError):
    """There is no such row, or it is not this actor's."""


def new_secret() -> str:
    """Return a cookie's secret: 256 random bits."""
    return secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """Return what is stored of a secret. It is random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def open_link(slug: str) -> Campaign:
    """Return the campaign that a start link leads to; drafts have no link yet."""
    try:
        return Campaign.objects.exclude(state=Campaign.State.DRAFT).get(slug=slug)
    except Campaign.DoesNotExist:
        raise NotFound(f"campaign {slug}") from None


def participation(slug: str, secret: str) -> Participation:
    """Return the participation of a cookie in the campaign of an address."""
    try:
        return Participation.objects.select_related("campaign", "system").get(
            campaign__slug=slug, secret_hash=secret_hash(secret), withdrawn_at=None
        )
    except Participation.DoesNotExist:
        raise NotFound(f"participation in {slug}") from None


def seat(person: Participation, conversation: int = 0) -> Seat:
    """Return the person's seat in a conversation; by default their active one, else the latest."""
    seats = Seat.objects.select_related("conversation__campaign", "conversation__system", "persona")
    rows = seats.filter(participation=person).order_by("-active", "-id")
    row = (rows.filter(conversation=conversation) if conversation else rows).first()
    if row is None:
        raise NotFound(f"conversation of participation {person.pk}")
    return row


def talk_of(seat: Seat) -> str:
    """Return what the browser knows a seat's conversation by; it tells nothing of its number."""
    named = f"{settings.SECRET_KEY}:seat:{seat.pk}"
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def seat_of_talk(person: Participation, talk: str) -> Seat:
    """Return the person's seat that a page was drawn for; a page that names none has the active."""
    if not talk:
        return seat(person)
    for row in Seat.objects.filter(participation=person):
        if secrets.compare_digest(talk_of(row).encode(), talk.encode()):
            return row
    raise NotFound(f"conversation {talk[:16]!r} of participation {person.pk}")


def participations(cookies: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Participation]:
    """Return the participations of several cookies at once: slug and secret to row."""
    hashes = {secret_hash(secret): (slug, secret) for slug, secret in cookies}
    rows = Participation.objects.filter(secret_hash__in=hashes, withdrawn_at=None)
    found = {hashes[row.secret_hash]: row for row in rows.prefetch_related("campaign")}
    return {cookie: row for cookie, row in found.items() if row.campaign.slug == cookie[0]}


def seats(wanted: Iterable[Place]) -> dict[Place, Seat]:
    """Return the seats of participations in conversations, where there are such.

    In conversation 0 it is the participation's active seat, else the latest one.
    """
    places = set(wanted)
    rows = Seat.objects.filter(participation__in={person for person, _ in places})
    found: dict[Place, Seat] = {}
    for row in rows.select_related("conversation", "persona").order_by("active", "id"):
        person = row.participation_id or 0
        both = ((person, 0), (person, row.conversation_id))
        found |= {place: row for place in both if place in places}
    return found


def campaigns(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that a member of staff may see."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return Campaign.objects.none()
    return Campaign.objects.all()


def campaign(user: User, pk: int) -> Campaign:
    """Return one of the user's campaigns."""
    try:
        return campaigns(user).get(pk=pk)
    except Campaign.DoesNotExist:
        raise NotFound(f"campaign {pk}") from None


def conversation(user: User, campaign_pk: int, pk: int) -> Conversation:
    """Return a conversation of one of the user's campaigns."""
    try:
        return Conversation.objects.select_related("campaign", "system").get(
            campaign=campaign(user, campaign_pk), pk=pk
        )
    except Conversation.DoesNotExist:
        raise NotFound(f"conversation {pk}") from None


def whitelists(user: User) -> QuerySet[Whitelist]:
    """Return the whitelists that a member of staff may see."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return Whitelist.objects.none()
    return Whitelist.objects.all()


def whitelist(user: User, pk: int) -> Whitelist:
    """Return one of the whitelists that the user may see."""
    try:
        return whitelists(user).get(pk=pk)
    except Whitelist.DoesNotExist:
        raise NotFound(f"whitelist {pk}") from None
