"""Audience of a view: whom it answers. Every view of the project carries its own.

What lets people in or refuses them marks the view (`staff_page`, participants' `not_found_page`),
so the tests of access find each address, also one that was added today.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from django.urls import URLPattern, URLResolver, get_resolver

from webapp.services.rules.access import Role

READ = ("GET", "HEAD")
ADMIN = "admin/"
AnyView = TypeVar("AnyView", bound=Callable[..., Any])


class Audience(StrEnum):
    """Whom a view answers; others are refused as the tests of access say."""

    STAFF = "staff"
    OPERATOR = "operator"  # a program with the deployer's token, and staff
    SERVICE = "service"  # a chat service, which has the deployer's secret
    PARTICIPANT = "participant"  # of the campaign whose link is in the address
    PUBLIC = "public"


@dataclass(frozen=True)
class Need:
    """What a page asks for: a role to look, one to change something, and who it is anew.

    read, change: None for every account of staff; they are in the project that the page is of.
    proof: whether a change, or a page that only downloads, asks for the password or a code again.
    by_deployer: whether only a superuser changes something: it is the whole server's.
    """

    read: Role | None
    change: Role | None
    methods: tuple[str, ...]
    proof: bool = False
    is_of_project: bool = False
    before_second_factor: bool = False
    by_deployer: bool = False

    def role(self, method: str | None) -> Role | None:
        return self.read if method in READ else self.change

    def lets(self, role: Role, method: str | None) -> bool:
        """Tell whether who has this role alone is let in."""
        wanted = self.role(method)
        if self.is_only_deployers(method):
            return False
        return wanted in (None, Role.VIEWER, role) or role is Role.ADMINISTRATOR

    def is_only_deployers(self, method: str | None) -> bool:
        return self.by_deployer and method not in READ

    def wants_proof(self, method: str | None) -> bool:
        return self.proof and (method not in READ or "POST" not in self.methods)


def meant_for(audience: Audience) -> Callable[[AnyView], AnyView]:
    """Mark a view; wrappers by `functools.wraps` carry the mark on."""

    def mark(view: AnyView) -> AnyView:
        view.__dict__["audience"] = audience
        return view

    return mark


def audience_of(view: Callable[..., Any]) -> Audience | None:
    """Return whom a view answers; Django's admin bears its site, which checks every request."""
    if hasattr(view, "admin_site") or hasattr(view, "model_admin"):
        return Audience.STAFF
    found: Audience | None = getattr(view, "audience", None)
    return found


def routes(
    resolver: URLResolver | None = None, before: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    """Yield every address with its pattern, in the order in which addresses are resolved."""
    for each in (resolver or get_resolver()).url_patterns:
        route = f"{before}{each.pattern}"
        if isinstance(each, URLResolver):
            yield from routes(each, route)
        else:
            yield route, each


@functools.cache
def needs() -> dict[str, Need]:
    """Return what each page of staff asks for, by the name of its address."""
    found = ((route.name, getattr(route.callback, "need", None)) for _, route in routes())
    return {str(name): need for name, need in found if need is not None}


def is_of_admin(route: str) -> bool:
    """Tell whether an address is one of Django's admin, which is for superusers."""
    return route.startswith(ADMIN) and route != f"{ADMIN}login/"
