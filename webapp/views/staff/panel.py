"""A campaign's study at the panel: made, published, paid, and its books."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.data import csv_format
from webapp.services.recruiting import books, panel_form, panel_page, reviewing, studies
from webapp.services.rules.access import NotFound, Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import (
    FORM,
    READ,
    WRITE,
    NavLink,
    bad_form,
    campaign_page,
    conflict,
)
from webapp.views.staff.setup import start_link

PAGE, MAKE, ONE = "staff/panel.html", "staff/panel_new.html", "staff/panel_submission.html"


@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("Prolific"), 35))
def panel(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show the study with its books, or the way to one."""
    study = studies.study_of(campaign)
    context = {"campaign": campaign, "tab": "panel", "is_connected": panel_page.is_connected()}
    if study is not None:
        context["panel"] = panel_page.of(study)
    return render(request, PAGE, context)


@campaign_page(*FORM, role=Role.PAYER)
def panel_new(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Make a study from the campaign; it is created as a draft there."""
    if not studies.may_make(campaign) or campaign.state not in ("OPEN", "PAUSED"):
        return conflict(request, campaign.state)
    raw = panel_form.first_values(campaign, panel_page.wanted(campaign))
    context: dict[str, Any] = {"campaign": campaign, "tab": "panel", "raw": raw}
    if request.method != "POST":
        return render(request, MAKE, context)
    context["raw"] = request.POST.dict()
    try:
        values = panel_form.read_study(campaign, request.POST.dict())
    except Invalid as problem:
        return bad_form(request, MAKE, context | {"problems": problem.problems})
    studies.make(
        campaign=campaign,
        values=values,
        start_link=start_link(request, campaign),
        by=request.user,
        now=clock.now(),
    )
    messages.success(request, _("The study is being created as a draft; nobody sees it yet."))
    return redirect("panel", campaign.pk)


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def panel_change(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Publish, pause, start again, stop, or add places."""
    study, raw = studies.study_of(campaign), request.POST.dict()
    if study is None:
        raise NotFound("study at the panel")
    action = raw.get("do", "")
    done: dict[str, Any] = {"study": study, "by": request.user, "now": clock.now()}
    try:
        if action == "PLACES":
            studies.add_openings(openings=panel_form.read_openings(raw, study.openings), **done)
        elif action in studies.ACTIONS:
            is_risky = action == "PUBLISH" and bool(study.is_underpaying)
            panel_form.check_publishing(raw, is_risky)
            studies.change(action=action, **done)
        else:
            raise Http404(action)
    except Invalid as problem:
        context = {"campaign": campaign, "tab": "panel", "panel": panel_page.of(study)}
        context |= {"is_connected": panel_page.is_connected(), "problems": problem.problems}
        context["raw"] = raw
        return bad_form(request, PAGE, context)
    messages.success(request, _("It is on its way to Prolific; reload the page in a moment."))
    return redirect("panel", campaign.pk)


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def panel_books(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Give the books as CSV; who took them is logged."""
    study = studies.study_of(campaign)
    if study is None:
        raise NotFound("study at the panel")
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="prolific-{campaign.pk}.csv"'
    rows = books.taken(study=study, by=request.user, now=clock.now())
    csv_format.write(answer, books.COLUMNS, rows)  # type: ignore[arg-type]
    return answer


@campaign_page(*FORM, role=Role.PAYER, proof=True)
def panel_submission(
    request: HttpRequest, campaign: StaffCampaign, submission: int
) -> HttpResponse:
    """Show one submission; reject it with evidence, ask for its return, or write a message."""
    study = studies.study_of(campaign)
    if study is None:
        raise NotFound("study at the panel")
    one = reviewing.submission(study, submission)
    line = next(each for each in books.of(study).lines if each.pk == submission)
    context: dict[str, Any] = {"campaign": campaign, "tab": "panel", "one": line, "raw": {}}
    context["categories"] = reviewing.CATEGORIES
    context["calls"] = reviewing.calls_of(one)
    if request.method != "POST":
        return render(request, ONE, context)
    raw, who = request.POST.dict(), {"one": one, "by": request.user, "now": clock.now()}
    try:
        _review(raw, who)
    except Invalid as problem:
        return bad_form(request, ONE, context | {"raw": raw, "problems": problem.problems})
    messages.success(request, _("It is on its way to Prolific; reload the page in a moment."))
    return redirect("panel-submission", campaign.pk, submission)


def _review(raw: dict[str, str], who: dict[str, Any]) -> None:
    """Do what was pressed. Raises `Invalid`, and `states.Illegal` where it is too late."""
    action = raw.get("do", "")
    if action == "reject":
        reviewing.reject(**(who | panel_form.read_rejection(raw)))
    elif action == "return":
        reviewing.ask_return(reason=panel_form.read_words(raw, "return_reason"), **who)
    elif action == "message":
        reviewing.write(text=panel_form.read_words(raw, "words"), **who)
    else:
        raise Http404(action)


urlpatterns = [
    path("campaigns/<int:pk>/prolific/", panel, name="panel"),
    path("campaigns/<int:pk>/prolific/new/", panel_new, name="panel-new"),
    path("campaigns/<int:pk>/prolific/change/", panel_change, name="panel-change"),
    path("campaigns/<int:pk>/prolific/books/", panel_books, name="panel-books"),
    path(
        "campaigns/<int:pk>/prolific/<int:submission>/", panel_submission, name="panel-submission"
    ),
]
