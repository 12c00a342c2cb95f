"""The rows an actor may see; the only way views get any (S1). A foreign row is not found.

Staff see what is in their projects. What they may do there follows from their roles (`roles`);
who may do what is said by the decorators of pages (`webapp/views/staff/access.py`).
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
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
    Member,
    OwnProtocol,
    Participation,
    Project,
    Seat,
    Study,
    Whitelist,
)

User = AbstractBaseUser | AnonymousUser
SeatKey = tuple[int, int]  # a participation and a conversation of its own, or 0


class Role(StrEnum):
    """What a member of a project may do there; an administrator may do all of it."""

    VIEWER = "viewer"  # every member: look at campaigns, conversations and results
    RUNNER = "runner"  # make, launch, change and stop campaigns; leave data out
    EXPORTER = "exporter"  # take the data out
    PAYER = "payer"  # decide about pay: amounts, budget, bonuses, submissions at a panel
    ADMINISTRATOR = "administrator"  # members and the audit log


# The column of `Member` that stands for each role; being a member at all is the viewer's.
COLUMNS = {
    Role.RUNNER: "is_runner",
    Role.EXPORTER: "is_exporter",
    Role.PAYER: "is_payer",
    Role.ADMINISTRATOR: "is_administrator",
}


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
    project_id: int
    study_id: int | None
    phase: str
    panel: str
    platform: str
    consent: str
    contact: str
    crisis_text: str
    crisis_phrases: str
    keep_days: int | None
    minutes: int
    languages: list[str]
    translations: dict[str, dict[str, str]]
    currency: str
    pay: Decimal
    waiting_pay: Decimal
    screening_pay: Decimal
    budget: Decimal | None
    hold_unusual: bool
    hold_payments: bool
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
    stop_question: str
    stop_difference: Decimal | None
    stop_alpha: Decimal
    stop_margin: Decimal | None
    stop_items: int | None
    stop_recruiting: bool
    datasheet: dict[str, Any]
    decided_at: datetime | None
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
    project_id: int
    created_at: datetime

    @property
    def pk(self) -> int:
        return self.id


@dataclass(frozen=True)
class StaffWhitelist:
    """A whitelist that a member of staff may see."""

    pk: int
    name: str
    project_id: int


@dataclass(frozen=True)
class StaffProject:
    """A project that a member of staff is in."""

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
    hashes = {secret: secret_hash(secret) for secret in secrets}
    if not hashes or person.secret_hash == next(iter(hashes.values())):
        return next(iter(hashes), "")
    further = Browser.objects.filter(participation=person).values_list("secret_hash", flat=True)
    own = {person.secret_hash, *further}
    return next((secret for secret, hashed in hashes.items() if hashed in own), "")


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


def is_staff(user: User) -> bool:
    """Tell whether this is an account of staff that may sign in."""
    return bool(user.is_authenticated and user.is_active and getattr(user, "is_staff", False))


def is_superuser(user: User) -> bool:
    """Tell whether this is the deployer's account, which is an administrator of every project."""
    return is_staff(user) and bool(getattr(user, "is_superuser", False))


def projects(user: User, role: Role = Role.VIEWER) -> QuerySet[Project]:
    """Return the projects in which the user has a role."""
    if not is_staff(user):
        return Project.objects.none()
    if is_superuser(user):
        return Project.objects.all()
    members = Member.objects.filter(account=user.pk)
    if role is not Role.VIEWER:
        members = members.filter(Q(is_administrator=True) | Q(**{COLUMNS[role]: True}))
    return Project.objects.filter(pk__in=members.values("project"))


def project(user: User, pk: int) -> StaffProject:
    """Return one of the user's projects. Raises `NotFound`."""
    found = projects(user).filter(pk=pk).values_list("pk", "name").first()
    if found is None:
        raise NotFound(f"project {pk}")
    return StaffProject(*found)


def roles(user: User, project: int) -> frozenset[Role]:
    """Return what the user may do in a project: nothing for who is not in it."""
    if is_superuser(user):
        return frozenset(Role)
    member = Member.objects.filter(account=user.pk, project=project).first()
    return frozenset() if member is None or not is_staff(user) else roles_of(member)


def roles_of(member: Member) -> frozenset[Role]:
    """Return the roles of a member's row."""
    if member.is_administrator:
        return frozenset(Role)
    held = {role for role, column in COLUMNS.items() if getattr(member, column)}
    return frozenset({Role.VIEWER, *held})


def _is_seen(user: User) -> Q:
    """Return the condition by which rows with a project are those of a member of staff."""
    if not is_staff(user):
        return Q(pk__in=())
    if is_superuser(user):
        return Q()
    return Q(project__in=Member.objects.filter(account=user.pk).values("project"))


def campaigns(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that a member of staff may see."""
    return Campaign.objects.filter(_is_seen(user))


def beside(campaign: AnyCampaign, user: User) -> QuerySet[Campaign]:
    """Return the other campaigns of a campaign's project: what is copied stays in the project."""
    return campaigns(user).filter(project=row_of(campaign).project_id).exclude(pk=campaign.pk)


def campaign(user: User, pk: int) -> StaffCampaign:
    """Return one of the user's campaigns. Raises `NotFound`."""
    found = campaigns(user).filter(pk=pk).values().first()
    if found is None:
        raise NotFound(f"campaign {pk}")
    return StaffCampaign(**found)


def studies(user: User) -> QuerySet[Study]:
    """Return the studies that a member of staff may see."""
    return Study.objects.filter(_is_seen(user))


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
    return Whitelist.objects.filter(_is_seen(user))


def whitelist(user: User, pk: int) -> StaffWhitelist:
    """Return one of the whitelists that the user may see. Raises `NotFound`."""
    found = whitelists(user).filter(pk=pk).values_list("pk", "name", "project").first()
    if found is None:
        raise NotFound(f"whitelist {pk}")
    return StaffWhitelist(*found)


def own_protocols(user: User) -> QuerySet[OwnProtocol]:
    """Return the versions of protocols that a member of staff may see: their own."""
    if not is_staff(user):
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
