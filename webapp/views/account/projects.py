"""Pages of projects: the list, and the members of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.accounts import projects
from webapp.services.rules.access import Role, StaffProject
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, NavLink, bad_form, project_page, staff_page


@staff_page(*FORM, role=None, change=Role.ADMINISTRATOR, link=NavLink(gettext_lazy("Projects"), 25))
def index(request: HttpRequest) -> HttpResponse:
    """List the account's projects, and make another."""
    context: dict[str, Any] = {"projects": projects.listed(request.user)}
    if request.method != "POST":
        return render(request, "staff/projects.html", context)
    raw = request.POST.dict()
    try:
        made = projects.create(raw=raw, by=request.user, now=clock.now())
    except Invalid as problem:
        context |= {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/projects.html", context)
    return redirect("members", made)


@project_page(*FORM, role=Role.VIEWER, change=Role.ADMINISTRATOR, proof=True)
def members(request: HttpRequest, project: StaffProject) -> HttpResponse:
    """List the members; add one, change roles, or take one out."""
    if request.method != "POST":
        return render(request, "staff/members.html", _shown(project))
    act = ACTIONS.get(request.POST.get("do", ""))
    if act is None:
        raise Http404("action")
    try:
        messages.success(request, act(request, project))
    except Invalid as problem:
        raw = {"name": request.POST.get("name", ""), "roles": request.POST.getlist("roles")}
        context = _shown(project) | {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/members.html", context)
    except projects.LastAdministrator:
        complaint = _("is the last administrator, who cannot go: make somebody else one first")
        context = _shown(project) | {"problems": {f"member-{_pk(request)}": complaint}}
        return bad_form(request, "staff/members.html", context)
    return redirect("members", project.pk)


def _add(request: HttpRequest, project: StaffProject) -> str:
    name = request.POST.get("name", "").strip()
    projects.add(project=project, name=name, roles=_roles(request), **_who(request))
    return _("%(name)s is a member now.") % {"name": name}


def _change(request: HttpRequest, project: StaffProject) -> str:
    projects.change(project=project, pk=_pk(request), roles=_roles(request), **_who(request))
    return _("The roles are saved.")


def _remove(request: HttpRequest, project: StaffProject) -> str:
    projects.remove(project=project, pk=_pk(request), **_who(request))
    return _("The member is taken out, and sees nothing of this project any more.")


ACTIONS: dict[str, Callable[[HttpRequest, StaffProject], str]] = {
    "add": _add,
    "change": _change,
    "remove": _remove,
}


def _roles(request: HttpRequest) -> frozenset[Role]:
    return projects.read_roles(request.POST.getlist("roles"))


def _pk(request: HttpRequest) -> int:
    typed = request.POST.get("member", "")
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 18 else 0


def _who(request: HttpRequest) -> dict[str, Any]:
    return {"by": request.user, "now": clock.now()}


def _shown(project: StaffProject) -> dict[str, Any]:
    return {
        "project": project,
        "members": projects.members(project),
        "meanings": projects.MEANINGS.items(),
        "raw": {},
    }


urlpatterns = [
    path("projects/", index, name="projects"),
    path("projects/<int:project>/", members, name="members"),
]
