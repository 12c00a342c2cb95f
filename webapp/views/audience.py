"""Audience of a view: whom it answers. Every view of the project carries its own.

What lets people in or refuses them marks the view (`staff_page`, participants' `not_found_page`),
so the tests of access find each address, also one that was added today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, TypeVar

from django.contrib.admin import AdminSite
from django.urls import URLPattern, URLResolver, get_resolver

AnyView = TypeVar("AnyView", bound=Callable[..., Any])


class Audience(StrEnum):
    """Whom a view answers; others are refused as the tests of access say."""

    STAFF = "staff"
    OPERATOR = "operator"  # a program with the deployer's token, and staff
    SERVICE = "service"  # a chat service, which has the deployer's secret
    PARTICIPANT = "participant"  # of the campaign whose link is in the address
    PUBLIC = "public"


def meant_for(audience: Audience) -> Callable[[AnyView], AnyView]:
    """Mark a view; wrappers by `functools.wraps` carry the mark on."""

    def mark(view: AnyView) -> AnyView:
        view.__dict__["audience"] = audience
        return view

    return mark


class MarkedAdmin(AdminSite):
    """Django's admin, whose check of who may enter marks what it guards."""

    def admin_view(self, view: AnyView, cacheable: bool = False) -> AnyView:
        return meant_for(Audience.STAFF)(super().admin_view(view, cacheable))


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
