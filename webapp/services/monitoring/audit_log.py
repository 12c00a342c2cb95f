"""The audit log as people read it: a sentence per entry, filters, the state of the chain (S15).

An administrator sees what was done in their projects, and by whose accounts; superusers see all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from webapp.models import AuditEntry, Campaign, Member, Study, Whitelist
from webapp.services.rules import access, audit
from webapp.services.rules.access import Role
from webapp.services.staff_forms.fields import storable

PAGE = 50
LONGEST_PERSON = 150
# Kind of entry: action and what the actor did, with the entry's details in braces.
SENTENCES: Mapping[str, Mapping[str, str]] = {
    "accounts": {
        "logged in": "signed in",
        "login refused": "was refused at the login",
        "staff account created": "got an account, as {roles} of the project {project}",
        "identity confirmed": "confirmed who they are",
        "identity not confirmed": "failed to confirm who they are",
        "second factor turned on": "turned the second factor on",
        "second factor turned off": "turned the second factor of {account} off",
        "recovery code used": "used a recovery code",
        "recovery codes renewed": "got new recovery codes",
        "password changed": "changed their password",
        "address of alarms changed": "changed where alarms are mailed to",
        "first password drawn anew": "got another first password",
        "sessions ended": "ended {count} other sessions of theirs",
    },
    "model servers": {
        "model server added": "allowed the model server {server}",
        "model server removed": "allowed the model server {server} no more",
        "model key set": "stored the key {key} of {server}",
        "model key removed": "had the key {key} forgotten",
    },
    "members": {
        "project created": "made the project {name}",
        "member added": "let {account} into project {project}, as {roles}",
        "member changed": "made {account} {roles} in project {project}",
        "member removed": "took {account} out of project {project}",
    },
    "campaigns": {
        "campaign created": "made the campaign",
        "campaign duplicated": "made the campaign as a duplicate of campaign {source}",
        "campaign changed": "changed the settings",
        "campaign deleted": "deleted the draft {name}",
        "campaign archived": "archived the campaign",
        "campaign unarchived": "took the campaign out of the archive",
        "campaign launched": "launched the campaign",
        "campaign pause": "paused the campaign",
        "campaign resume": "resumed the campaign",
        "campaign stop": "stopped the campaign",
        "campaign extended": "asked for more participations",
        "campaign complete": "closed the campaign, which was complete",
        "system added": "added the system {system}",
        "system changed": "changed the system {system}",
        "system removed": "removed the system {system}",
        "system rehearsed": "rehearsed a system",
        "problem settled": "settled a reported problem",
        "answer confirmed": "confirmed answer {answer}: {intent}",
        "answer corrected": "corrected answer {answer}: {intent}",
        "words translated": "translated words of the protocol",
        "personas imported": "imported {count} personas",
        "personas removed": "removed {count} personas",
        "contexts imported": "imported {count} contexts",
        "contexts removed": "removed {count} contexts",
        "transcripts imported": "imported {count} conversations",
        "transcripts removed": "removed {count} imported conversations",
        "messages taken": "took messages to be judged",
        "conversations taken": "took conversations to be judged",
        "conversations removed": "removed {count} conversations to be judged",
        "messages removed": "removed {count} messages to be judged",
        "contributions taken": "took contributions of another campaign",
        "contributions accepted": "accepted contributions",
        "contributions refused": "refused contributions",
        "reply retried": "had reply {job} tried again",
        "protocol saved": "saved a protocol of their own",
        "protocol deleted": "deleted a protocol of their own",
        "whitelist put up": "put up a whitelist of {count} replies",
        "whitelist reply: keep": "kept a reply of a whitelist",
        "whitelist reply: edit": "edited a reply of a whitelist",
        "whitelist reply: drop": "dropped a reply of a whitelist",
    },
    "studies": {
        "study created": "made study {study}",
        "study changed": "changed study {study}",
        "campaign added to a study": "added the campaign to study {study}",
        "campaign taken out of a study": "took the campaign out of study {study}",
        "competition announced": "announced a competition",
        "entry submitted": "submitted an entry to a competition",
        "entry run": "ran an entry of a competition",
        "entry declined": "declined an entry of a competition",
        "training code released": "noted that an entry's training code is released",
        "competition closed": "closed a competition",
    },
    "data": {
        "exported": "took the export",
        "withdrawn": "withdrew; what they wrote was deleted",
        "retention over": "deleted what participation {participation} wrote: it is kept no longer",
        "outside ids deleted": "deleted the panel ids of {count} people: they are kept no longer",
        "stretches redacted": "redacted stretches of imported conversations",
        "participation ended": "came to an end",
        "paid after leaving": "came back, found no place, and was paid for what was done",
        "invitations signed": "signed {count} invitations, for {days} days",
        "questions taken": "took {rows} questions with their intents",
        "personal data taken": "took all that is stored about participation {participation}",
        "private link shown": "looked at the private link of participation {participation}",
        "participation excluded": "left a person out: {reason}",
        "participation included": "took a person back in",
        "conversation excluded": "left a conversation out: {reason}",
        "conversation included": "took a conversation back in",
        "flag settled": "looked at flag {flag}",
    },
    "pay": {
        "pay changed": "changed the pay of later consents",
        "budget raised": "raised the budget",
        "tokens raised": "raised what models may use: {limits}",
        "new places allowed": "let new people in again",
        "bonus given": "gave a bonus",
        "payment let go": "let the payment of participation {participation} be made: {amount}",
        "payment refused": "refused to pay participation {participation} {amount}: {reason}",
        "pay sheet looked at": "looked at the pay sheet, with ids: {rows} of its rows",
        "pay sheet searched": "searched the pay sheet for a person: {rows} rows found",
        "pay sheet taken": "took the pay sheet as a file, with ids: {rows} rows",
        "panel: books taken": "took the books of the panel, with its ids",
        **{
            f"panel: {action} asked for": words
            for action, words in {
                "create": "had a study made at the panel",
                "publish": "had the study published at the panel",
                "pause": "had the study paused at the panel",
                "start": "had the study started again at the panel",
                "stop": "had the study stopped at the panel",
                "places": "asked the panel for more places",
                "reject": "rejected a submission at the panel",
                "return": "asked for a submission to be returned",
                "message": "wrote to a participant through the panel",
                "approve": "approved a submission at the panel",
                "bonus": "had a bonus paid by the panel",
            }.items()
        },
    },
}
KIND_OF = {action: kind for kind, found in SENTENCES.items() for action in found}
WORDS = {action: words for found in SENTENCES.values() for action, words in found.items()}


@dataclass(frozen=True)
class AuditFilter:
    """Filters of the log: a campaign, a part of the actor's name, a kind of entry."""

    campaign: str = ""
    person: str = ""
    kind: str = ""


@dataclass(frozen=True)
class AuditRow:
    """One entry as a sentence, with the details that it does not have."""

    number: int
    made_at: datetime
    actor: str
    words: str
    campaign_id: int | None
    campaign: str
    details: str
    is_sound: bool


@dataclass(frozen=True)
class ChainState:
    """Whether every entry fits its predecessor, by the last check of them all."""

    entries: int
    checked_at: datetime | None
    faults: list[int] = field(default_factory=list)


def read_filter(query: Mapping[str, str]) -> AuditFilter:
    """Return the filters of an address; what a filter does not know is left out of it."""
    campaign, kind = query.get("campaign", ""), query.get("kind", "")
    person = query.get("person", "").strip()[:LONGEST_PERSON]
    is_number = campaign.isascii() and campaign.isdigit() and len(campaign) < 18
    return AuditFilter(
        campaign=campaign if is_number else "",
        person=person if storable(person) else "",
        kind=kind if kind in SENTENCES else "",
    )


def campaigns(user: access.User) -> list[tuple[str, str]]:
    """Return the campaigns whose entries the user may see: number and name."""
    rows = Campaign.objects.filter(project__in=_projects(user)).order_by("-pk")
    return [(str(pk), name) for pk, name in rows.values_list("pk", "name")]


def entries(user: access.User, chosen: AuditFilter, page: str | None) -> Page[Any]:
    """Return a page of what the user may see, the latest first."""
    rows = _visible(user)
    if chosen.campaign:
        rows = rows.filter(campaign=int(chosen.campaign))
    if chosen.person:
        rows = rows.filter(actor__icontains=chosen.person)
    if chosen.kind:
        rows = rows.filter(action__in=SENTENCES[chosen.kind])
    found: Page[Any] = Paginator(rows.order_by("-number"), PAGE).get_page(page)
    listed = list(found.object_list)
    keys = {row.campaign_id for row in listed}
    names = dict(Campaign.objects.filter(pk__in=keys).values_list("pk", "name"))
    faults = set(audit.known_faults())
    found.object_list = [_row(row, names, faults) for row in listed]
    return found


def chain() -> ChainState:
    """Return how the whole log stood at its last check."""
    count = AuditEntry.objects.count()
    return ChainState(count, audit.checked_at(), audit.known_faults())


def sentence(action: str, detail: Mapping[str, Any]) -> str:
    """Return what an entry says that its actor did; an action without words is quoted."""
    values = defaultdict(lambda: "?", {name: str(value) for name, value in detail.items()})
    return WORDS[action].format_map(values) if action in WORDS else f"did “{action}”"


def _row(row: AuditEntry, names: Mapping[int, str], faults: set[int]) -> AuditRow:
    key = row.campaign_id
    words = WORDS.get(row.action, "")
    rest = [f"{name}: {value}" for name, value in row.detail.items() if f"{{{name}}}" not in words]
    return AuditRow(
        number=row.number,
        made_at=row.made_at,
        actor=row.actor,
        words=sentence(row.action, row.detail),
        campaign_id=key if key in names else None,
        campaign=names.get(key, f"campaign {key}") if key is not None else "",
        details="; ".join(rest),
        is_sound=not (audit.is_altered(row) or row.number in faults),
    )


def _projects(user: access.User) -> list[int]:
    return list(access.projects(user, Role.ADMINISTRATOR).values_list("pk", flat=True))


def _visible(user: access.User) -> QuerySet[AuditEntry]:
    if access.is_superuser(user):
        return AuditEntry.objects.all()
    projects = _projects(user)
    accounts = Member.objects.filter(project__in=projects).values("account")
    names = get_user_model().objects.filter(pk__in=accounts).values("username")
    return AuditEntry.objects.filter(
        Q(campaign__in=Campaign.objects.filter(project__in=projects).values("pk"))
        | Q(detail__project__in=projects)
        | Q(campaign=None, detail__study__in=_keys(Study, projects))
        | Q(campaign=None, detail__whitelist__in=_keys(Whitelist, projects))
        | Q(campaign=None, action__in=SENTENCES["accounts"], actor__in=names)
    )


def _keys(model: type[Study] | type[Whitelist], projects: list[int]) -> list[int]:
    rows = model._default_manager.filter(project__in=projects)
    return list(rows.values_list("pk", flat=True))
