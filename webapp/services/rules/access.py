"""The rows an actor may see; the only way views get any (S1). A foreign row is not found."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from webapp.models import (
    Browser,
    Campaign,
    Conversation,
    OwnProtocol,
    Participation,
    Seat,
    Study,
    Whitelist,
)

User = AbstractBaseUser | AnonymousUser
SeatKey = tuple[int, int]  # a participation and a conversation of its own, or 0


@dataclass(frozen=True, kw_only=True)
class StaffCampaign:
    """A campaign that a member of staff may see: what its row had when it was looked up."""

    id: int
    name: str
    slug: str
    protocol: str
    own_protocol_id: uuid.UUID | None
    changes: dict[str, Any]
    state: str
    owner_id: int
    study_id: int | None
    phase: str
    panel: str
    platform: str
    consent: str
    contact: str
    minutes: int
    languages: list[str]
    translations: dict[str, dict[str, str]]
    currency: str
    pay: Decimal
    waiting_pay: Decimal
    screening_pay: Decimal
    budget: Decimal | None
    hold_unusual: bool
    quit_rule: str
    least_work: int
    return_url: str
    screened_url: str
    wait_seconds: int
    reply_seconds: int
    troubled_percent: int
    tokens: int | None
    token_cost: Decimal | None
    conversation_tokens: int | None
    conversation_cost: Decimal | None
    bot_when_alone: bool
    partner_left_counts: bool
    seed: int
    plan: dict[str, Any] | None
    plan_hash: str
    created_at: datetime
    opened_at: datetime | None
    ended_at: datetime | None
    archived_at: datetime | None

    @property
    def pk(self) -> int:
        return self.id

    def get_state_display(self) -> str:
        return str(Campaign.State(self.state).label)

    def get_quit_rule_display(self) -> str:
        return str(Campaign.QuitRule(self.quit_rule).label)

    def get_panel_display(self) -> str:
        return str(Campaign.Panel(self.panel).label)


@dataclass(frozen=True, kw_only=True)
class StaffStudy:
    """A study that a member of staff may see."""

    id: int
    name: str
    note: str
    disjoint: bool
    owner_id: int
    created_at: datetime

    @property
    def pk(self) -> int:
        return self.id


@dataclass(frozen=True)
class StaffWhitelist:
    """A whitelist that a member of staff may see."""

    pk: int
    name: str


@dataclass(frozen=True, kw_only=True)
class StaffProtocol:
    """A version of a requester's own protocol that a member of staff may see."""

    id: uuid.UUID
    owner_id: int
    name: str
    version: int
    title: str
    content: dict[str, Any]
    sha256: str
    copied_name: str
    copied_sha256: str
    made_at: datetime

    @property
    def pk(self) -> uuid.UUID:
        return self.id


# What services take: a row, or what a view was given.
AnyCampaign = Campaign | StaffCampaign
AnyStudy = Study | StaffStudy


def row_of(campaign: AnyCampaign) -> Campaign:
    """Return a campaign's row as it was looked up, without a query."""
    if isinstance(campaign, Campaign):
        return campaign
    names = [each.name for each in fields(campaign)]
    return Campaign.from_db(DEFAULT_DB_ALIAS, names, [getattr(campaign, name) for name in names])


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


def languages_of(slug: str) -> list[str]:
    """Return the languages of a campaign's pages, none where there is no such campaign."""
    found = Campaign.objects.filter(slug=slug).values_list("languages", flat=True).first()
    return list(found or ())


def participation(slug: str, secret: str) -> Participation:
    """Return the participation of a cookie in the campaign of an address."""
    rows = Participation.objects.select_related("campaign", "system")
    mine, hashed = rows.filter(campaign__slug=slug, withdrawn_at=None), secret_hash(secret)
    found = mine.filter(secret_hash=hashed).first() or _of_further(mine, hashed)
    if found is None:
        raise NotFound(f"participation in {slug}")
    return found


def _of_further(rows: QuerySet[Participation], hashed: str) -> Participation | None:
    """Return whose further browser it is; asked second, for nearly everybody has one only."""
    return rows.filter(browsers__secret_hash=hashed).first()


def of_browser(secrets: Iterable[str], prefix: str = "") -> Q:
    """Return the condition that a participation is of one of these cookies."""
    hashes = [secret_hash(secret) for secret in secrets]
    first, further = f"{prefix}secret_hash__in", f"{prefix}browsers__secret_hash__in"
    return Q(**{first: hashes}) | Q(**{further: hashes})


def held(person: Participation, secrets: Iterable[str]) -> str:
    """Return the first of these secrets that is of this participation, "" for none."""
    further = Browser.objects.filter(participation=person).values_list("secret_hash", flat=True)
    hashes = {person.secret_hash, *further}
    return next((secret for secret in secrets if secret_hash(secret) in hashes), "")


def known(slug: str, secret: str) -> Participation | None:
    """Return the participation of a cookie, where there is one."""
    try:
        return participation(slug, secret)
    except NotFound:
        return None


def seat(person: Participation, conversation: int = 0) -> Seat:
    """Return the person's seat in a conversation; by default their active one, else the latest."""
    seats = Seat.objects.select_related("conversation__campaign", "conversation__system", "persona")
    rows = seats.filter(participation=person).order_by("-active", "-id")
    row = (rows.filter(conversation=conversation) if conversation else rows).first()
    if row is None:
        raise NotFound(f"conversation of participation {person.pk}")
    return row


def conversation_key(seat: Seat, secret: str = "") -> str:
    """Return the key of a seat's conversation in the browser; it does not reveal its number.

    `secret` is the server's secret, by default the present one.
    """
    mac = salted_hmac("parley.seat", str(seat.pk), secret=secret or None, algorithm="sha256")
    return mac.hexdigest()[:16]


def _former_key(seat: Seat, secret: str) -> str:
    """Return the key in pages drawn by version 0.1; the release after the next drops it."""
    return hashlib.sha256(f"{secret}:seat:{seat.pk}".encode()).hexdigest()[:16]


def seat_by_key(person: Participation, key: str) -> Seat:
    """Return the person's seat that a page was drawn for; without a key it is the active one.

    Raises `NotFound` where the key is of none of the person's conversations.
    """
    if not key:
        return seat(person)
    secret_keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    for row in Seat.objects.filter(participation=person):
        known = [
            make(row, each) for each in secret_keys for make in (conversation_key, _former_key)
        ]
        if any(secrets.compare_digest(each.encode(), key.encode()) for each in known):
            return row
    raise NotFound(f"conversation {key[:16]!r} of participation {person.pk}")


def participations(cookies: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Participation]:
    """Return the participations of several cookies at once: slug and secret to row."""
    hashes = {secret_hash(secret): (slug, secret) for slug, secret in cookies}
    every = Participation.objects.filter(withdrawn_at=None).prefetch_related("campaign")
    found = {hashes[row.secret_hash]: row for row in every.filter(secret_hash__in=hashes)}
    if left := [hashed for hashed, cookie in hashes.items() if cookie not in found]:
        further = Browser.objects.filter(secret_hash__in=left, participation__withdrawn_at=None)
        for each in further.select_related("participation__campaign"):
            found[hashes[each.secret_hash]] = each.participation
    return {cookie: row for cookie, row in found.items() if row.campaign.slug == cookie[0]}


def seats(wanted: Iterable[SeatKey]) -> dict[SeatKey, Seat]:
    """Return the seats of participations in conversations, where there are such.

    In conversation 0 it is the participation's active seat, else the latest one.
    """
    keys = set(wanted)
    rows = Seat.objects.filter(participation__in={person for person, _ in keys})
    found: dict[SeatKey, Seat] = {}
    for row in rows.select_related("conversation", "persona").order_by("active", "id"):
        person = row.participation_id or 0
        both = ((person, 0), (person, row.conversation_id))
        found |= {key: row for key in both if key in keys}
    return found


def is_administrator(user: User) -> bool:
    """Tell whether a person may say which servers are called, and with which keys."""
    is_staff = user.is_active and getattr(user, "is_staff", False)
    return bool(is_staff and getattr(user, "is_superuser", False))


def campaigns(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that a member of staff may see."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return Campaign.objects.none()
    return Campaign.objects.all()


def campaign(user: User, pk: int) -> StaffCampaign:
    """Return one of the user's campaigns. Raises `NotFound`."""
    found = campaigns(user).filter(pk=pk).values().first()
    if found is None:
        raise NotFound(f"campaign {pk}")
    return StaffCampaign(**found)


def studies(user: User) -> QuerySet[Study]:
    """Return the studies that a member of staff may see: like campaigns, all."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return Study.objects.none()
    return Study.objects.all()


def study(user: User, pk: int) -> StaffStudy:
    """Return one of the user's studies. Raises `NotFound`."""
    found = studies(user).filter(pk=pk).values().first()
    if found is None:
        raise NotFound(f"study {pk}")
    return StaffStudy(**found)


def conversation(user: User, campaign_pk: int, pk: int) -> Conversation:
    """Return a conversation of one of the user's campaigns."""
    try:
        return Conversation.objects.select_related("campaign", "system").get(
            campaign=campaign(user, campaign_pk).pk, pk=pk
        )
    except Conversation.DoesNotExist:
        raise NotFound(f"conversation {pk}") from None


def whitelists(user: User) -> QuerySet[Whitelist]:
    """Return the whitelists that a member of staff may see."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return Whitelist.objects.none()
    return Whitelist.objects.all()


def whitelist(user: User, pk: int) -> StaffWhitelist:
    """Return one of the whitelists that the user may see. Raises `NotFound`."""
    found = whitelists(user).filter(pk=pk).values_list("pk", "name").first()
    if found is None:
        raise NotFound(f"whitelist {pk}")
    return StaffWhitelist(*found)


def own_protocols(user: User) -> QuerySet[OwnProtocol]:
    """Return the versions of protocols that a member of staff may see: their own."""
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        return OwnProtocol.objects.none()
    rows = OwnProtocol.objects.all()
    return rows if getattr(user, "is_superuser", False) else rows.filter(owner=user.pk)


def own_protocol(user: User, pk: uuid.UUID) -> StaffProtocol:
    """Return a version that the user may see. Raises `NotFound`."""
    names = [each.name for each in fields(StaffProtocol)]
    found = own_protocols(user).filter(pk=pk).values(*names).first()
    if found is None:
        raise NotFound(f"own protocol {pk}")
    return StaffProtocol(**found)
