"""Access to staff's pages: who may see them, what is said otherwise, and where links to them are.

A page's decorator says all three, so the tests of access, `manage.py roles` and the navigation have
every page. Its role is that of the campaign's or study's project; of a page of neither, a role that
the account has in any of its projects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.accounts import sessions
from webapp.services.campaign import campaigns
from webapp.services.rules import access, protocols, states
from webapp.services.rules.access import Role
from webapp.views import audience
from webapp.views.audience import Audience, Need, meant_for, needs, routes
from webapp.views.staff import confirmation

View = Callable[..., HttpResponseBase]
READ = audience.READ
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
    "old": gettext_lazy("Present password"),
    "new": gettext_lazy("New password"),
    "email": gettext_lazy("Address for alarms"),
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
    "intent": gettext_lazy("Intent"),
    "decision": gettext_lazy("Decision"),
}


@dataclass(frozen=True)
class NavLink:
    """Link to a page in the navigation, or among a campaign's tabs, after those of lower `order`.

    name is the address's, and what a page calls `tab` that belongs under it. of: what a campaign
    collects to have the tab, empty for whatever it is.
    """

    words: str | Promise
    order: int = 100
    in_drafts: bool = False
    of: tuple[str, ...] = ()
    name: str = ""


def staff_page(
    *methods: str,
    role: Role | None,
    change: Role | None = None,
    proof: bool = False,
    link: NavLink | None = None,
    before_second_factor: bool = False,
    by_deployer: bool = False,
) -> Callable[[View], View]:
    """Let only staff in; a missing row is a 404, an action that is impossible now a 409.

    role, change, proof: see `Need`; without `change` the role is that of both.
    before_second_factor: whether it is shown to who has yet to set up what the server demands.
    """
    need = Need(
        role,
        change or role,
        methods,
        proof=proof,
        before_second_factor=before_second_factor,
        by_deployer=by_deployer,
    )
    return _page(need, link)


def campaign_page(
    *methods: str,
    role: Role,
    change: Role | None = None,
    proof: bool = False,
    tab: NavLink | None = None,
) -> Callable[[View], View]:
    """The same for a page of one campaign: the view is given the campaign instead of its number."""
    need = Need(role, change or role, methods, proof=proof, is_of_project=True)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponseBase:
            row = access.campaign(request.user, pk)
            request.__dict__["campaign"] = row
            return _refused(request, need, row.project_id) or view(request, row, **kwargs)

        guarded = _page(need)(found)
        guarded.__dict__["tab"] = tab
        return guarded

    return decorate


def study_page(
    *methods: str, role: Role, change: Role | None = None, proof: bool = False
) -> Callable[[View], View]:
    """The same for a page of one study."""
    need = Need(role, change or role, methods, proof=proof, is_of_project=True)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, study: int, **kwargs: Any) -> HttpResponseBase:
            row = access.study(request.user, study)
            return _refused(request, need, row.project_id) or view(request, row, **kwargs)

        return _page(need)(found)

    return decorate


def whitelist_page(*methods: str, role: Role, change: Role | None = None) -> Callable[[View], View]:
    """The same for a page of one whitelist."""
    need = Need(role, change or role, methods, is_of_project=True)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, whitelist: int, **kwargs: Any) -> HttpResponseBase:
            row = access.whitelist(request.user, whitelist)
            return _refused(request, need, row.project_id) or view(request, row, **kwargs)

        return _page(need)(found)

    return decorate


def project_page(
    *methods: str, role: Role, change: Role | None = None, proof: bool = False
) -> Callable[[View], View]:
    """The same for a page of one project."""
    need = Need(role, change or role, methods, proof=proof, is_of_project=True)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, project: int, **kwargs: Any) -> HttpResponseBase:
            row = access.project(request.user, project)
            return _refused(request, need, row.pk) or view(request, row, **kwargs)

        return _page(need)(found)

    return decorate


def _page(need: Need, link: NavLink | None = None) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @meant_for(Audience.STAFF)
        @login_required
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not access.is_staff(request.user):
                raise PermissionDenied
            if request.method not in need.methods and not confirmation.is_answer(request, need):
                return HttpResponseNotAllowed(need.methods)
            if not need.before_second_factor and (first := sessions.page_before(request.session)):
                return redirect(first)
            sessions.touch(request.session, clock.now())
            if not need.is_of_project and (refusal := _refused(request, need, None)):
                return refusal
            return _answer(view, request, *args, **kwargs)

        guarded.__dict__.update(link=link, need=need)
        return guarded

    return decorate


def _refused(request: HttpRequest, need: Need, project: int | None) -> HttpResponse | None:
    """Say that a role is missing, or ask who it is again; None where nothing stands in the way."""
    if need.is_only_deployers(request.method) and not access.is_superuser(request.user):
        raise PermissionDenied
    role = need.role(request.method)
    held = access.roles(request.user, project) if project is not None else None
    request.__dict__["project_roles"] = held
    if role is not None:
        may = role in held if held is not None else _has_anywhere(request, role)
        if not may:
            return render(request, "staff/no_role.html", {"role": role}, status=403)
    return confirmation.ask(request, need) if need.wants_proof(request.method) else None


def _has_anywhere(request: HttpRequest, role: Role) -> bool:
    return access.projects(request.user, role).exists()


class Allowed:
    """What the visitor of a page may do, by the names of addresses: `may.delete` in a template."""

    def __init__(self, request: HttpRequest | None) -> None:
        self._request = request

    def __getitem__(self, name: str) -> bool:
        need, request = needs()[name.replace("_", "-")], self._request
        if request is None or need.change is None:
            return request is not None
        held = getattr(request, "project_roles", None)
        return _has_anywhere(request, need.change) if held is None else need.change in held


def _missing_role(request: HttpRequest | None) -> str:
    """Return the role that a change on this page takes, where its visitor may only look."""
    match = getattr(request, "resolver_match", None)
    need = getattr(match.func, "need", None) if match else None
    held = getattr(request, "project_roles", None)
    if need is None or held is None or "POST" not in need.methods:
        return ""
    may_look = need.read is None or need.read in held
    return str(need.change) if may_look and need.change not in held else ""


def navigation(request: HttpRequest | None) -> dict[str, Any]:
    """Give every template the links of the navigation and a campaign's tabs."""
    return {
        "main_links": functools.partial(_menu, request),
        "tabs": functools.partial(_links, "tab"),
        "collects": functools.partial(_collects, request),
    }


def _menu(request: HttpRequest | None) -> list[NavLink]:
    """Return the main links whose pages the visitor may look at, in any project."""
    links = _links("link")
    if request is None:
        return links
    roles = {role for link in links if (role := needs()[link.name].read) is not None}
    held = {role for role in roles if _has_anywhere(request, role)}
    return [link for link in links if needs()[link.name].read in (None, *held)]


def _collects(request: HttpRequest | None) -> str:
    """Return what the campaign of a page collects; "" on pages of no campaign."""
    row = request.__dict__.get("campaign") if request is not None else None
    return protocols.collects(row) if row is not None else ""


def permissions(request: HttpRequest | None) -> dict[str, Any]:
    """Give every template what the visitor may do, so that it shows no button in vain."""
    return {
        "may": Allowed(request),
        "missing_role": functools.partial(_missing_role, request),
    }


@functools.cache
def _links(kind: str) -> list[NavLink]:
    found = ((getattr(route.callback, kind, None), route.name) for _, route in routes())
    links = [replace(link, name=str(name)) for link, name in found if link is not None]
    return sorted(links, key=lambda link: link.order)


def conflict(request: HttpRequest, state: str) -> HttpResponse:
    """Say that an action is not possible in this state, and lead back to what is."""
    context = {"state": states.in_words(state)}
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


def _answer(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    try:
        return view(request, *args, **kwargs)
    except access.NotFound:
        return render(request, "staff/missing.html", status=404)
    except (states.Illegal, campaigns.NotDraft) as refusal:
        return conflict(request, refusal.state)
