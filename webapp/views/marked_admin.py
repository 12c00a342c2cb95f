"""Django's admin with pages that tests of access can tell.

Apart, and with imports where they are used, because every command imports it at its start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.admin import AdminSite
from django.http import HttpRequest

AnyView = TypeVar("AnyView", bound=Callable[..., Any])


class MarkedAdmin(AdminSite):
    """Django's admin, whose check of who may enter marks what it guards."""

    def has_permission(self, request: HttpRequest) -> bool:
        from webapp.services.accounts import sessions

        return super().has_permission(request) and not sessions.page_before(request.session)

    def admin_view(self, view: AnyView, cacheable: bool = False) -> AnyView:
        from webapp.views.audience import Audience, meant_for

        return meant_for(Audience.STAFF)(super().admin_view(view, cacheable))
