"""`manage.py roles`: the role that each address of staff takes, as the server applies it (S4)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand
from webapp.services.rules.access import Role
from webapp.views.audience import Audience, Need, audience_of, is_of_admin, routes

ASKS = "asks again"  # for the password or a code
ALL = "every account"


class Command(QuickCommand):
    help = "Print the matrix of addresses and roles; a line for each that has none, exit 1."

    def handle(self, *args: Any, **options: Any) -> None:
        found = staff_routes()
        width = max(len(route) for route, _ in found)
        heads = [str(role) for role in Role]
        self.stdout.write(f"{'address':{width}}  method  {'  '.join(heads)}")
        for route, need in found:
            for method in need.methods if need else ():
                if method in ("GET", "POST"):
                    self.stdout.write(f"{route:{width}}  {method:6}  {self._line(need, method)}")
        missing = [route for route, need in found if need is None]
        if missing:
            raise CommandError(f"without a role: {', '.join(missing)}", returncode=1)
        self.stdout.write(f"{len(found)} addresses, each with a role")

    def _line(self, need: Need | None, method: str) -> str:
        """Return a cell for each role, and whether the page asks again who it is."""
        if need is None:
            return ""
        cells = [("yes" if need.lets(role, method) else "-").ljust(len(role)) for role in Role]
        asks = ASKS if need.wants_proof(method) else ""
        every = ALL if need.role(method) is None else ""
        return "  ".join([*cells, *filter(None, (every, asks))]).rstrip()


def staff_routes() -> list[tuple[str, Need | None]]:
    """Return the addresses of staff but Django's admin, with what each asks for."""
    found = dict(reversed([*routes()]))  # the first of those that are the same answers
    return [
        (route, getattr(pattern.callback, "need", None))
        for route, pattern in sorted(found.items())
        if audience_of(pattern.callback) is Audience.STAFF and not is_of_admin(route)
    ]
