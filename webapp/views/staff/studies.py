"""Pages of studies: the list, the phases of one, and its competition.

The page of a competition takes entries, and runs none: that is for whoever runs the server, by a
command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.competition import InvalidEntry
from webapp import clock
from webapp.forms.competition_form import RulesForm, SubmissionForm
from webapp.services.accounts import projects
from webapp.services.campaign import studies
from webapp.services.competition import board, entries
from webapp.services.competition.board import CompetitionRefused
from webapp.services.monitoring import campaign_list
from webapp.services.rules.access import Role, StaffStudy
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, NavLink, bad_form, staff_page, study_page

COMPETITION = "staff/competition.html"


@staff_page(*FORM, role=Role.VIEWER, change=Role.RUNNER, link=NavLink(gettext_lazy("Studies"), 15))
def index(request: HttpRequest) -> HttpResponse:
    """List the studies, and make another."""
    context: dict[str, Any] = {
        "studies": studies.listed(request.user),
        "projects": projects.open_to(request.user),
    }
    if request.method != "POST":
        return render(request, "staff/studies.html", context)
    raw = request.POST.dict()
    try:
        made = studies.create(raw=raw, by=request.user, now=clock.now())
    except Invalid as problem:
        context |= {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/studies.html", context)
    return redirect("study", made.pk)


@study_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def phases(request: HttpRequest, study: StaffStudy) -> HttpResponse:
    """Show the phases with their progress; add, take out or repeat one."""
    if request.method != "POST":
        return render(request, "staff/study.html", _shown(request, study))
    raw = request.POST.dict()
    try:
        messages.success(request, _change(request, study, raw))
    except Invalid as problem:
        context = _shown(request, study) | {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/study.html", context)
    return redirect("study", study.pk)


def _change(request: HttpRequest, study: StaffStudy, raw: Mapping[str, str]) -> str:
    """Do what a form of the page asks for, and return what was done."""
    change: dict[str, Any] = {"study": study, "by": request.user, "now": clock.now()}
    action = raw.get("action", "change")
    if action == "add":
        return _("%(name)s is a phase now.") % {"name": studies.add(raw=raw, **change).phase}
    if action == "repeat":
        made = studies.repeat(raw=raw, **change)
        return _("%(count)d drafts were made. Rehearse and launch each.") % {"count": len(made)}
    if action == "remove":
        studies.remove(campaign=raw.get("source", ""), **change)
        return _("The campaign is in no study now; nothing in it was changed.")
    studies.change(raw=raw, **change)
    return _("Name and note are saved.")


def _shown(request: HttpRequest, study: StaffStudy) -> dict[str, Any]:
    found = studies.phases(study)
    return {
        "study": study,
        "tab": "study",
        "campaigns": found,
        "phases": campaign_list.rows_of(found),
        "free": studies.free(study),
        "first": studies.next_number(found),
        "competition": board.shown(study),
    }


@study_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def competition(request: HttpRequest, study: StaffStudy) -> HttpResponse:
    """Show rules, entries and board; announce the rules, or take an entry."""
    if request.method != "POST":
        return render(request, COMPETITION, _competition(study))
    is_entry = request.POST.get("action") == "submit"
    form = SubmissionForm(request.POST) if is_entry else RulesForm(request.POST)
    change: dict[str, Any] = {"study": study, "by": request.user, "now": clock.now()}
    refused = ""
    try:
        content = form.content()
        if is_entry:
            team = entries.submit(content=content, **change)
            messages.success(request, _("The entry of %(team)s waits to be run.") % {"team": team})
        else:
            board.announce(content=content, **change)
            messages.success(request, _("The rules are announced."))
        return redirect("competition", study.pk)
    except Invalid:
        pass  # each complaint stands at its field
    except InvalidEntry as problem:
        form.refuse_by_grammar(problem)
    except CompetitionRefused as problem:
        refused = str(problem)
    name = "entry" if is_entry else "rules"
    context = _competition(study) | {f"{name}_form": form, "form": form, "refused": refused}
    return render(request, COMPETITION, context, status=422)


def _competition(study: StaffStudy) -> dict[str, Any]:
    found = board.shown(study)
    metrics = ", ".join(found.rules.metrics) if found else ""
    return {
        "study": study,
        "tab": "competition",
        "competition": found,
        "entries": entries.listed(study, clock.now()),
        "rules_form": RulesForm(),
        "entry_form": SubmissionForm(metrics=metrics),
    }


urlpatterns = [
    path("studies/", index, name="studies"),
    path("studies/<int:study>/", phases, name="study"),
    path("studies/<int:study>/competition/", competition, name="competition"),
]
