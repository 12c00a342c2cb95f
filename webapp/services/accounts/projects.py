"""Projects and their members: who may see and do what in them (S4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.models import Member, Project
from webapp.services.rules import access, audit
from webapp.services.rules.access import COLUMNS, Role, StaffProject, roles_of
from webapp.services.staff_forms.fields import BadField, Invalid, parse_all, shown, text

LONGEST_NAME = 120
# What each role lets its holder do, as the page of members says it; viewing comes with each.
MEANINGS: Mapping[Role, str | Promise] = {
    Role.RUNNER: gettext_lazy("make, launch, change and stop campaigns; leave data out"),
    Role.EXPORTER: gettext_lazy("download the data"),
    Role.PAYER: gettext_lazy("set pay and budget, give bonuses, approve and reject at a panel"),
    Role.ADMINISTRATOR: gettext_lazy("all of it, members and the audit log"),
}


@dataclass(frozen=True)
class ProjectRow:
    """One project of the list."""

    pk: int
    name: str
    members: int
    campaigns: int
    roles: str


@dataclass(frozen=True)
class MemberRow:
    """One member of the page."""

    pk: int
    name: str
    roles: frozenset[Role]


class LastAdministrator(Exception):
    """Nobody could change the members any more."""


def listed(user: access.User) -> list[ProjectRow]:
    """Return the user's projects, with what the user may do in each."""
    rows = access.projects(user).annotate(
        people=Count("members", distinct=True), runs=Count("campaigns", distinct=True)
    )
    return [
        ProjectRow(row.pk, row.name, row.people, row.runs, words(access.roles(user, row.pk)))
        for row in rows
    ]


def members(project: StaffProject) -> list[MemberRow]:
    """Return a project's members by name."""
    rows = Member.objects.filter(project=project.pk).select_related("account")
    found = [MemberRow(row.pk, row.account.get_username(), roles_of(row)) for row in rows]
    return sorted(found, key=lambda row: row.name.casefold())


def words(roles: Collection[Role]) -> str:
    """Return roles as a page and the audit log name them."""
    if Role.ADMINISTRATOR in roles:
        return str(Role.ADMINISTRATOR)
    held = [str(role) for role in COLUMNS if role in roles]
    return ", ".join(held) or str(Role.VIEWER)


def first_of(user: Any) -> int:
    """Return the project that a campaign is made in where none is named. Raises `NotFound`."""
    found = access.projects(user, Role.RUNNER).order_by("pk").values_list("pk", flat=True).first()
    if found is None:
        raise access.NotFound(f"project of {user.get_username()}")
    return found


def read(user: Any) -> Callable[[str], int]:
    """Return the parser of the project in which the user makes something.

    Without a choice it is the only one there is, or the first.
    """

    def parse(typed: str) -> int:
        if not typed:
            return first_of(user)
        if typed not in open_to(user):
            raise BadField(
                _("%(value)s is not one of your projects; choose one") % {"value": shown(typed)}
            )
        return int(typed)

    return parse


def open_to(user: access.User) -> dict[str, str]:
    """Return the projects in which the user may make something: number to name."""
    return {str(row.pk): row.name for row in access.projects(user, Role.RUNNER)}


def create(*, raw: Mapping[str, str], by: Any, now: datetime) -> int:
    """Make a project whose administrator is who made it. Raises `Invalid`."""
    name = parse_all(raw, {"name": text(most=LONGEST_NAME)})["name"]
    try:
        with transaction.atomic():
            project = Project.objects.create(name=name, made_at=now)
            Member.objects.create(project=project, account=by, is_administrator=True)
            _note(by, "project created", project.pk, now, name=name)
    except IntegrityError:
        complaint = _("%(value)s is the name of another project; choose a new one")
        raise Invalid({"name": complaint % {"value": shown(name)}}) from None
    return project.pk


def read_roles(chosen: Iterable[str]) -> frozenset[Role]:
    """Return the roles of a form's boxes. Raises `Invalid`."""
    known = {str(role): role for role in Role}
    unknown = [each for each in chosen if each not in known]
    if unknown:
        complaint = _("%(value)s is no role; choose among %(roles)s")
        about = {"value": shown(unknown[0]), "roles": ", ".join(known)}
        raise Invalid({"roles": complaint % about})
    return frozenset({Role.VIEWER, *(known[each] for each in chosen)})


def add(
    *, project: StaffProject, name: str, roles: Collection[Role], by: Any, now: datetime
) -> None:
    """Let an account of staff into a project. Raises `Invalid`."""
    name = name.strip()
    account = get_user_model().objects.filter(username=name[:150], is_staff=True).first()
    if account is None or "\0" in name:
        complaint = _("%(value)s is no account of staff; manage.py staff makes one")
        raise Invalid({"name": complaint % {"value": shown(name)}})
    try:
        with transaction.atomic():
            Member.objects.create(project_id=project.pk, account=account, **_columns(roles))
            _note(by, "member added", project.pk, now, account=name, roles=words(roles))
    except IntegrityError:
        complaint = _("%(value)s is a member already; change the roles above")
        raise Invalid({"name": complaint % {"value": shown(name)}}) from None


def change(
    *, project: StaffProject, pk: int, roles: Collection[Role], by: Any, now: datetime
) -> None:
    """Give a member other roles. Raises `LastAdministrator` and `NotFound`."""
    with transaction.atomic():
        row = _lock(project, pk)
        if Role.ADMINISTRATOR not in roles:
            _keep_one(row)
        if words(roles_of(row)) != words(roles):
            Member.objects.filter(pk=row.pk).update(**_columns(roles))
            about = {"account": row.account.get_username(), "roles": words(roles)}
            _note(by, "member changed", project.pk, now, **about)


def remove(*, project: StaffProject, pk: int, by: Any, now: datetime) -> None:
    """Take a member out of a project. Raises `LastAdministrator` and `NotFound`."""
    with transaction.atomic():
        row = _lock(project, pk)
        _keep_one(row)
        row.delete()
        _note(by, "member removed", project.pk, now, account=row.account.get_username())


def admit(*, account: Any, name: str, roles: Collection[Role]) -> None:
    """Put a new account into the project of this name, which is made where there is none.

    Raises `LastAdministrator` where that would make a project without an administrator.
    """
    with transaction.atomic():
        project, is_new = Project.objects.get_or_create(name=name)
        if is_new and Role.ADMINISTRATOR not in roles:
            raise LastAdministrator
        Member.objects.create(project=project, account=account, **_columns(roles))


def _columns(roles: Collection[Role]) -> dict[str, bool]:
    return {column: role in roles for role, column in COLUMNS.items()}


def _lock(project: StaffProject, pk: int) -> Member:
    """Return a member's row; who changes members of a project does so in turn."""
    Project.objects.select_for_update().get(pk=project.pk)
    row = Member.objects.filter(project=project.pk, pk=pk).select_related("account").first()
    if row is None:
        raise access.NotFound(f"member {pk}")
    return row


def _keep_one(row: Member) -> None:
    """Refuse to lose the last administrator who can sign in."""
    others = Member.objects.filter(project=row.project_id, is_administrator=True)
    others = others.filter(account__is_active=True, account__is_staff=True).exclude(pk=row.pk)
    if row.is_administrator and not others.exists():
        raise LastAdministrator


def _note(by: Any, action: str, project: int, now: datetime, **detail: Any) -> None:
    detail["project"] = project
    audit.append(actor=by.get_username(), action=action, campaign=None, now=now, **detail)
