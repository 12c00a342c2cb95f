"""Reviewing: any conversation, the people, what is left out and what is paid on top."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.data import personal_data as stored_about
from webapp.services.monitoring import desk, problem_reports, review, transcripts
from webapp.services.rating import third_parties
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import READ, WRITE, NavLink, bad_form, campaign_page

TAB = NavLink(gettext_lazy("Conversations"), 30, of=("answers", "conversations"))


@campaign_page(*READ, role=Role.VIEWER, tab=TAB)
def conversations(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """List the conversations."""
    context = {
        "campaign": campaign,
        "tab": "conversations",
        "page": review.conversations(campaign, request.GET.dict()),
        "filters": review.filters(campaign),
        "chosen": request.GET.dict(),
        "query": _query(request),
        "elsewhere": third_parties.judges(campaign),
        "has_desk": desk.is_used(campaign),
    }
    return render(request, "staff/conversations.html", context)


@campaign_page(*READ, role=Role.VIEWER)
def conversation(
    request: HttpRequest, campaign: StaffCampaign, conversation_id: int
) -> HttpResponse:
    """Read one conversation."""
    return render(
        request, "staff/conversation.html", _conversation(request, campaign, conversation_id)
    )


@campaign_page(*WRITE, role=Role.RUNNER)
def exclude_conversation(
    request: HttpRequest, campaign: StaffCampaign, conversation_id: int
) -> HttpResponse:
    """Leave a conversation out, or take it back in."""
    problems = _mark(request, review.Reviewed("conversation", campaign, conversation_id))
    if problems:
        context = _conversation(request, campaign, conversation_id) | problems
        return bad_form(request, "staff/conversation.html", context)
    return redirect("conversation", campaign.pk, conversation_id)


@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("People"), 40))
def people(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """List the people."""
    page = review.people(campaign, request.GET.dict(), clock.now())
    context = {
        "campaign": campaign,
        "tab": "people",
        "page": page,
        "step": request.GET.get("step", ""),
        "paid": review.paid(campaign, request.GET.dict()),
        "query": _query(request),
        "writes": protocol_of(campaign).write is not None,
    }
    return render(request, "staff/people.html", context)


@campaign_page(*READ, role=Role.VIEWER)
def person(request: HttpRequest, campaign: StaffCampaign, person: int) -> HttpResponse:
    """Show one person: what they did, were paid, and what is odd about it."""
    return render(request, "staff/person.html", _person(campaign, person))


@campaign_page(*WRITE, role=Role.RUNNER)
def exclude_person(request: HttpRequest, campaign: StaffCampaign, person: int) -> HttpResponse:
    """Leave a person out, or take them back in; their pay is another decision."""
    problems = _mark(request, review.Reviewed("participation", campaign, person))
    if problems:
        context = _person(campaign, person) | problems
        return bad_form(request, "staff/person.html", context)
    return redirect("person", campaign.pk, person)


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def bonus(request: HttpRequest, campaign: StaffCampaign, person: int) -> HttpResponse:
    """Give a bonus."""
    raw = request.POST.dict()
    try:
        review.give_bonus(campaign=campaign, pk=person, raw=raw, by=request.user, now=clock.now())
    except Invalid as problem:
        context = _person(campaign, person) | {"bonus_problems": problem.problems, "raw": raw}
        return bad_form(request, "staff/person.html", context)
    except review.AnotherMeanwhile:
        messages.warning(request, _("A bonus was given meanwhile. Look again before giving more."))
    else:
        messages.success(request, _("The bonus is noted."))
    return redirect("person", campaign.pk, person)


@campaign_page(*WRITE, role=Role.ADMINISTRATOR, proof=True)
def personal_data(request: HttpRequest, campaign: StaffCampaign, person: int) -> HttpResponse:
    """Hand out all that is stored about one person, for them; the log says who took it."""
    by, now = request.user.get_username(), clock.now()
    content = stored_about.taken(campaign=campaign, pk=person, by=by, now=now)
    headers = {"Content-Disposition": f'attachment; filename="person-{person}.json"'}
    return HttpResponse(content, content_type="application/json", headers=headers)


@campaign_page(*WRITE, role=Role.RUNNER)
def settle_flag(request: HttpRequest, campaign: StaffCampaign, flag: int) -> HttpResponse:
    """Note that a flag was looked at."""
    row = review.settle_flag(campaign=campaign, pk=flag, by=request.user, now=clock.now())
    if row.conversation_id is not None:
        return redirect("conversation", campaign.pk, row.conversation_id)
    if row.participation_id is not None:
        return redirect("person", campaign.pk, row.participation_id)
    return redirect("conversations", campaign.pk)


def _conversation(request: HttpRequest, campaign: StaffCampaign, pk: int) -> dict[str, Any]:
    found = transcripts.page(user=request.user, campaign=campaign, pk=pk)
    return {
        "campaign": campaign,
        "tab": "conversations",
        "conversation": found,
        "transcript": found.transcript,
    }


def _person(campaign: StaffCampaign, pk: int) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "people",
        "person": review.person(campaign, pk, clock.now()),
        "raw": {},
    }


def _mark(request: HttpRequest, row: review.Reviewed) -> dict[str, Any]:
    """Exclude or include; return what is wrong with the form, if anything."""
    now = clock.now()
    if request.POST.get("action") == "include":
        review.include(row=row, by=request.user, now=now)
        return {}
    raw = request.POST.dict()
    try:
        reason = review.read_reason(raw)
    except Invalid as problem:
        return {"problems": problem.problems, "reason": raw.get("reason", "")}
    review.exclude(row=row, by=request.user, reason=reason, now=now)
    return {}


def _query(request: HttpRequest) -> str:
    """Return the filters of a list, without the page, for the links to other pages."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return kept.urlencode()


@campaign_page(*READ, role=Role.VIEWER)
def reports(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """List the problems that participants reported."""
    context = {
        "campaign": campaign,
        "tab": "people",
        "page": problem_reports.listed(campaign, request.GET.dict()),
        "query": "",
    }
    return render(request, "staff/problem_reports.html", context)


@campaign_page(*WRITE, role=Role.RUNNER)
def settle_report(request: HttpRequest, campaign: StaffCampaign, report: int) -> HttpResponse:
    """Note that a reported problem was dealt with."""
    problem_reports.settle(campaign=campaign, pk=report, by=request.user, now=clock.now())
    return redirect("problem-reports", campaign.pk)


CONVERSATION = "campaigns/<int:pk>/conversations/<int:conversation_id>"
PERSON = "campaigns/<int:pk>/people/<int:person>"
urlpatterns = [
    path("campaigns/<int:pk>/people/<int:person>/data/", personal_data, name="personal-data"),
    path("campaigns/<int:pk>/conversations/", conversations, name="conversations"),
    path(f"{CONVERSATION}/", conversation, name="conversation"),
    path(f"{CONVERSATION}/exclude/", exclude_conversation, name="exclude-conversation"),
    path("campaigns/<int:pk>/people/", people, name="people"),
    path(f"{PERSON}/", person, name="person"),
    path(f"{PERSON}/exclude/", exclude_person, name="exclude-person"),
    path(f"{PERSON}/bonus/", bonus, name="bonus-person"),
    path("campaigns/<int:pk>/reports/", reports, name="problem-reports"),
    path("campaigns/<int:pk>/reports/<int:report>/settle/", settle_report, name="settle-report"),
    path("campaigns/<int:pk>/flags/<int:flag>/settle/", settle_flag, name="settle-flag"),
]
