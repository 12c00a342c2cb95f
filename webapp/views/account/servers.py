"""Servers of models and their keys: every requester sees the names, an administrator sets them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from webapp import clock
from webapp.services.ops import model_servers
from webapp.services.rules import access
from webapp.services.rules.access import Role
from webapp.services.staff_forms.fields import Invalid, yes_no
from webapp.views.staff.access import FORM, WRITE, NavLink, bad_form, staff_page

PAGE = "staff/servers.html"


@staff_page(
    *FORM, role=Role.RUNNER, by_deployer=True, link=NavLink(gettext_lazy("Model servers"), 25)
)
def index(request: HttpRequest) -> HttpResponse:
    """List the servers that chat servers may be called at, and allow another."""
    if request.method != "POST":
        return render(request, PAGE, _context(request))
    typed, is_private = request.POST.get("server", ""), yes_no(request.POST.get("private", ""))
    try:
        model_servers.add_server(
            typed=typed, is_private=is_private, by=request.user, now=clock.now()
        )
    except Invalid as problem:
        raw = {"server": typed, "private": is_private}
        return bad_form(request, PAGE, _context(request, raw=raw, problems=problem.problems))
    messages.success(request, _("The server is allowed from now on."))
    return redirect("servers")


@staff_page(*WRITE, role=Role.RUNNER, by_deployer=True, proof=True)
def remove(request: HttpRequest, server: int) -> HttpResponse:
    """Allow a server no more."""
    model_servers.remove_server(pk=server, by=request.user, now=clock.now())
    messages.success(request, _("The server is allowed no more, and its keys are forgotten."))
    return redirect("servers")


@sensitive_post_parameters("key")
@staff_page(*WRITE, role=Role.RUNNER, by_deployer=True)
def set_key(request: HttpRequest, server: int) -> HttpResponse:
    """Store a key, which no page ever shows."""
    name, key = request.POST.get("name", ""), request.POST.get("key", "")
    try:
        model_servers.set_key(pk=server, name=name, key=key, by=request.user, now=clock.now())
    except Invalid as problem:
        context = _context(request, key_of=server, raw={"name": name}, problems=problem.problems)
        return bad_form(request, PAGE, context)
    messages.success(request, _("The key is stored."))
    return redirect("servers")


@staff_page(*WRITE, role=Role.RUNNER, by_deployer=True, proof=True)
def remove_key(request: HttpRequest, server_key: int) -> HttpResponse:
    """Forget a key."""
    model_servers.remove_key(pk=server_key, by=request.user, now=clock.now())
    messages.success(request, _("The key is forgotten."))
    return redirect("servers")


def _context(request: HttpRequest, **more: Any) -> dict[str, Any]:
    may_change = access.is_superuser(request.user)
    return {"servers": model_servers.listed(), "may_change": may_change, **more}


urlpatterns = [
    path("servers/", index, name="servers"),
    path("servers/<int:server>/remove/", remove, name="remove-server"),
    path("servers/<int:server>/key/", set_key, name="set-key"),
    path("servers/keys/<int:server_key>/remove/", remove_key, name="remove-key"),
]
