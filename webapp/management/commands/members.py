"""`manage.py members`: who may do what in which project, and a change of it from the server."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.models import Member, Project
from webapp.services.accounts import projects
from webapp.services.rules.access import NotFound, Role, StaffProject
from webapp.services.staff_forms.fields import Invalid


class _Server:
    """Who acts in the audit log."""

    def get_username(self) -> str:
        return "server"


class Command(QuickCommand):
    help = "List projects with their members; with a project and an account, give it roles there."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", nargs="?", help="the project's name")
        parser.add_argument("account", nargs="?", help="the account's name")
        parser.add_argument(
            "--role",
            dest="roles",
            action="append",
            choices=[str(role) for role in Role],
            help="what the account may do there, once for each role",
        )
        parser.add_argument("--remove", action="store_true", help="take the account out")

    def handle(self, *args: Any, project: str | None, account: str | None, **options: Any) -> None:
        found = Project.objects.filter(name=project).first() if project else None
        if project and found is None:
            known = ", ".join(Project.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no project {project!r}; there are: {known}")
        if found is not None and account:
            self._change(StaffProject(found.pk, found.name), account, options)
        for row in [found] if found is not None else Project.objects.all():
            self.stdout.write(row.name)
            for member in projects.members(StaffProject(row.pk, row.name)):
                self.stdout.write(f"  {member.name}: {projects.words(member.roles)}")

    def _change(self, project: StaffProject, account: str, options: dict[str, Any]) -> None:
        """Add, change or remove a member, as its page does."""
        by: dict[str, Any] = {"project": project, "by": _Server(), "now": clock.now()}
        roles = frozenset(Role(role) for role in options["roles"] or ())
        member = Member.objects.filter(project=project.pk, account__username=account).first()
        try:
            if options["remove"]:
                projects.remove(pk=member.pk if member else 0, **by)
            elif not roles:
                raise CommandError("--role or --remove says what to do with the account")
            elif member is not None:
                projects.change(pk=member.pk, roles=roles, **by)
            else:
                projects.add(name=account, roles=roles, **by)
        except projects.LastAdministrator:
            text = f"{account!r} is the last administrator of {project.name!r}, who cannot go"
            raise CommandError(text) from None
        except NotFound:
            raise CommandError(f"{account!r} is no member of {project.name!r}") from None
        except Invalid as problem:
            raise CommandError(str(problem)) from None
