"""Access to staff's pages: who may see them, what is said otherwise, and where links to them are.

A page's decorator says all three, so the tests of access and the navigation have every page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from webapp.services.campaign import campaigns
from webapp.services.rules import access, states
from webapp.views.audience import Audience, meant_for, routes

View = Callable[..., HttpResponse]
READ = ("GET", "HEAD")
WRITE = ("POST",)
FORM = (*READ, *WRITE)
# Labels of fields that stand in no form of Django's.
LABELS: Mapping[str, str | Promise] = {
    "pay": gettext_lazy("Pay of later consents"),
    "budget": gettext_lazy("Budget"),
    "reason": gettext_lazy("Reason"),
    "more": gettext_lazy("How many more"),
    "amount": gettext_lazy("Amount"),
    "bonus_reason": gettext_lazy("Reason of the bonus"),
    "text": gettext_lazy("Pasted text"),
    "file": gettext_lazy("File"),
    "name": gettext_lazy("Name"),
    "source": gettext_lazy("Campaign"),
    "note": gettext_lazy("Note"),
    "system": gettext_lazy("Systems"),
    "phase": gettext_lazy("Name of the phase"),
    "times": gettext_lazy("How many"),
    "title": gettext_lazy("Title"),
    "description": gettext_lazy("Description"),
    "openings": gettext_lazy("Places"),
    "minutes": gettext_lazy("Minutes"),
    "reward": gettext_lazy("Reward"),
    "screening_openings": gettext_lazy("People who may be paid for a screening"),
    "underpaid": gettext_lazy("Publish all the same"),
    "category": gettext_lazy("Category"),
    "message": gettext_lazy("Message to the participant"),
    "evidence": gettext_lazy("Evidence"),
    "return_reason": gettext_lazy("Reason of the return"),
    "words": gettext_lazy("Message"),
    "ids": gettext_lazy("Ids"),
    "days": gettext_lazy("Days until the links expire"),
    "server": gettext_lazy("Server"),
    "tokens": gettext_lazy("Tokens in all"),
    "token_cost": gettext_lazy("Cost of tokens in all"),
    "conversation_tokens": gettext_lazy("Tokens of one conversation"),
    "conversation_cost": gettext_lazy("Cost of tokens of one conversation"),
    "key": gettext_lazy("Key"),
}


@dataclass(frozen=True)
class NavLink:
    """Link to a page in the navigation, or among a campaign's tabs, after those of lower `order`.

    name is the address's, and what a page calls `tab` that belongs under it.
    """

    words: str | Promise
    order: int = 100
    in_drafts: bool = False
    name: str = ""


def staff_page(*methods: str, link: NavLink | None = None) -> Callable[[View], View]:
    """Let only staff in; a missing row is a 404, an action that is impossible now a 409."""

    def decorate(view: View) -> View:
        @meant_for(Audience.STAFF)
        @login_required
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not getattr(request.user, "is_staff", False):
                raise PermissionDenied
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return _answer(view, request, *args, **kwargs)

        guarded.__dict__["link"] = link
        return guarded

    return decorate


def campaign_page(*methods: str, tab: NavLink | None = None) -> Callable[[View], View]:
    """The same for a page of one campaign: the view is given the campaign instead of its number."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponse:
            return view(request, access.campaign(request.user, pk), **kwargs)

        guarded = staff_page(*methods)(found)
        guarded.__dict__["tab"] = tab
        return guarded

    return decorate


def study_page(*methods: str) -> Callable[[View], View]:
    """The same for a page of one study."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, study: int, **kwargs: Any) -> HttpResponse:
            return view(request, access.study(request.user, study), **kwargs)

        return staff_page(*methods)(found)

    return decorate


def navigation(request: HttpRequest | None) -> dict[str, Any]:
    """Give every template the links of the navigation and a campaign's tabs."""
    return {
        "main_links": functools.partial(_links, "link"),
        "tabs": functools.partial(_links, "tab"),
    }


@functools.cache
def _links(kind: str) -> list[NavLink]:
    found = ((getattr(route.callback, kind, None), route.name) for _, route in routes())
    links = [replace(link, name=str(name)) for link, name in found if link is not None]
    return sorted(links, key=lambda link: link.order)


def conflict(request: HttpRequest, state: str) -> HttpResponse:
    """Say that an action is not possible in this state, and lead back to what is."""
    context = {"state": state, "back": request.path}
    return render(request, "staff/conflict.html", context, status=409)


def bad_form(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Show a form again with the typed values and their complaints, each under its label."""
    problems = context.get("problems") or context.get("bonus_problems") or {}
    if isinstance(problems, Mapping):
        listed = [(name, _label(name), text) for name, text in problems.items()]
        context = context | {"complaints": listed}
    return render(request, template, context, status=422)


def _label(name: str) -> str:
    """Return what a page calls a field; of a list of fields the last part of the name does."""
    return str(LABELS.get(name, name.rpartition(".")[2]))


def _answer(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except access.NotFound:
        return render(request, "staff/missing.html", status=404)
    except (states.Illegal, campaigns.NotDraft) as refusal:
        return conflict(request, refusal.state)
