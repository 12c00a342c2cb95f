"""Reviewing whitelists: put up a file, keep, edit or drop each reply, take the file away.

Source: the ASAPP paper of NLP4CONVAI 2019, section 5: a list is meant to be reviewed by people
before use. The file is that of `python -m bots whitelist`; a bot encodes it anew when it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from bots.guards import whitelists as files
from bots.guards.whitelists import WhitelistEntry
from bots.line_files import InvalidData
from webapp.models import ListedReply, Whitelist
from webapp.services.accounts import projects
from webapp.services.rules import access, audit
from webapp.services.staff_forms import pasted
from webapp.services.staff_forms.fields import BadField, Invalid, storable

PAGE = 25
MOST = 10_000  # replies: what the paper says people can review
LONGEST = 1_000  # characters of a reply
SHOWN = 8  # complaints of a file


@dataclass(frozen=True)
class WhitelistPage:
    """One reply as the form has it: what is stored, or what was typed and what is wrong."""

    row: ListedReply
    decision: str
    edited: str
    error: str = ""


@dataclass(frozen=True)
class Review:
    """One page of a whitelist."""

    page: Page[ListedReply]
    rows: tuple[WhitelistPage, ...]
    problems: Mapping[str, str] = field(default_factory=dict)


def listed(user: access.User) -> QuerySet[Any]:
    """Return the user's whitelists with how many replies each has, and how far its review is."""
    return (
        access.whitelists(user)
        .select_related("owner", "project")
        .annotate(
            total=Count("replies"),
            decided=Count("replies", filter=Q(replies__decided_at__isnull=False)),
            dropped=Count("replies", filter=Q(replies__decision="drop")),
        )
    )


def upload(*, name: str, text: str, by: Any, now: datetime, project: str = "") -> int:
    """Store a file for review and return its number; refuse all of it with all that is wrong.

    project: the number of one of the user's projects as a form sends it.
    """
    name = " ".join(name.split())
    problems = {} if 0 < len(name) <= 120 else {"name": _("must have 1 to 120 characters")}
    if not storable(name):
        problems = {"name": _("has characters that cannot be stored")}
    try:
        entries = _entries(pasted.checked(text))
    except Invalid as found:
        problems |= found.problems
    try:
        chosen = projects.read(by)(project)
    except BadField as problem:
        problems |= {"project": str(problem)}
    if problems:
        raise Invalid(problems)
    try:
        with transaction.atomic():
            row = Whitelist.objects.create(name=name, owner=by, made_at=now, project_id=chosen)
            ListedReply.objects.bulk_create(
                [_reply(row, position, entry) for position, entry in enumerate(entries, start=1)],
                batch_size=500,
            )
            _note(by, "whitelist put up", now, whitelist=row.pk, count=len(entries))
    except IntegrityError:
        taken = _("is the name of another whitelist; choose a new one")
        raise Invalid({"name": taken}) from None
    return row.pk


def _entries(text: str) -> list[WhitelistEntry]:
    try:
        lines, name = text.split("\n"), _("the list")
        of_kind = files.read_json if text.lstrip().startswith("{") else files.read_csv
        entries = of_kind(lines, name)
    except InvalidData as problem:
        listed = [*problem.problems[:SHOWN], *(["…"] if len(problem.problems) > SHOWN else [])]
        raise Invalid({"text": "; ".join(listed)}) from None
    if not storable([text, *((entry.text, entry.edited) for entry in entries)]):
        raise Invalid({"text": _("has characters that cannot be stored")})
    if len(entries) > MOST:
        raise Invalid({"text": _("has more than %(most)d replies") % {"most": MOST}})
    if any(len(entry.text) > LONGEST or len(entry.edited) > LONGEST for entry in entries):
        complaint = _("has a reply of more than %(most)d characters")
        raise Invalid({"text": complaint % {"most": LONGEST}})
    return entries


def _reply(row: Whitelist, position: int, entry: WhitelistEntry) -> ListedReply:
    times = min(entry.count, 2**31 - 1)
    return ListedReply(
        whitelist=row,
        place=position,
        text=entry.text,
        count=times,
        decision=entry.decision,
        edited=entry.edited,
    )


def review(whitelist: int, search: str, decision: str, page: str | None) -> Review:
    """Return a page of replies: those that hold a text, or had a decision ("open": none yet)."""
    found = Paginator(_chosen(whitelist, search, decision), PAGE).get_page(page)
    return Review(
        found, tuple(WhitelistPage(row, row.decision, row.edited) for row in found.object_list)
    )


def _chosen(whitelist: int, search: str, decision: str) -> QuerySet[ListedReply]:
    rows = ListedReply.objects.filter(whitelist=whitelist)
    if search and storable(search):
        rows = rows.filter(Q(text__icontains=search) | Q(edited__icontains=search))
    if decision == "open":
        return rows.filter(decided_at=None)
    return rows.filter(decision=decision) if decision in ListedReply.Decision.values else rows


def decide(*, whitelist: int, raw: Mapping[str, str], by: Any, now: datetime) -> list[ListedReply]:
    """Store the decisions of a form; return the replies that it changed.

    One is changed where the form differs from what it showed, so that two people on one page keep
    each other's decisions. A form with anything wrong changes nothing: `Invalid` names the places.
    """
    keys = [int(name.removeprefix("decision-")) for name in raw if _names_a_reply(name)][:PAGE]
    changed: list[tuple[ListedReply, str]] = []
    problems: dict[str, str] = {}
    with transaction.atomic():
        for row in ListedReply.objects.select_for_update().filter(whitelist=whitelist, pk__in=keys):
            before, wanted, edited = row.decision, *_typed(raw, row)
            if problem := _complaint(wanted, edited):
                problems[f"edited-{row.pk}"] = problem
            elif f"{wanted}|{edited}" != raw.get(f"was-{row.pk}", "") or row.decided_at is None:
                row.decision, row.edited, row.decided_at = wanted, edited, now
                changed.append((row, before))
        if problems:
            raise Invalid(problems)
        for row, before in changed:
            row.save(update_fields=["decision", "edited", "decided_at"])
            _note_decision(row, before, by, now)
    return [row for row, _before in changed]


def _names_a_reply(name: str) -> bool:
    number = name.removeprefix("decision-")
    return number != name and number.isascii() and number.isdigit() and len(number) < 19


def _typed(raw: Mapping[str, str], row: ListedReply) -> tuple[str, str]:
    edited = " ".join(raw.get(f"edited-{row.pk}", "").split())
    return raw.get(f"decision-{row.pk}", ""), edited


def _complaint(decision: str, edited: str) -> str:
    if decision not in ListedReply.Decision.values:
        return _("choose keep, edit or drop")
    if not storable(edited):
        return _("has characters that cannot be stored")
    if len(edited) > LONGEST:
        return _("has more than %(most)d characters") % {"most": LONGEST}
    return _("type the replacement") if decision == "edit" and not edited else ""


def with_typed(found: Review, raw: Mapping[str, str], problems: Mapping[str, str]) -> Review:
    """Return the page as it was typed, with what is wrong at its places."""
    rows = tuple(
        WhitelistPage(
            each.row,
            raw.get(f"decision-{each.row.pk}", each.decision),
            raw.get(f"edited-{each.row.pk}", each.edited),
            problems.get(f"edited-{each.row.pk}", ""),
        )
        for each in found.rows
    )
    return Review(found.page, rows, problems)


def download(whitelist: int) -> str:
    """Return the file as it was reviewed so far: JSON Lines, for the option of a bot."""
    rows = ListedReply.objects.filter(whitelist=whitelist).values_list(
        "text", "count", "decision", "edited"
    )
    return files.to_json(
        WhitelistEntry(text, count, cast(files.Decision, decision), edited)
        for text, count, decision, edited in rows
    )


def _note_decision(row: ListedReply, before: str, by: Any, now: datetime) -> None:
    changed = {"edited": row.edited} if row.decision == "edit" else {}
    about = {"whitelist": row.whitelist_id, "place": row.place, "before": before}
    _note(by, f"whitelist reply: {row.decision}", now, **about, **changed)


def _note(by: Any, action: str, now: datetime, **detail: Any) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=None, now=now, **detail)
