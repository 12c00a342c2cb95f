"""Reviewing: any conversation, the people, what is left out and what is paid on top."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.services import access, review, third_parties, transcripts
from webapp.services.campaigns import Campaign
from webapp.services.fields import Invalid
from webapp.views.staffed import READ, WRITE, bad_form, campaign_page


@campaign_page(*READ)
def conversations(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List the conversations."""
    context = {
        "campaign": campaign,
        "tab": "conversations",
        "page": review.conversations(campaign, request.GET.dict()),
        "filters": review.filters(campaign),
        "chosen": request.GET.dict(),
        "query": _query(request),
        "elsewhere": third_parties.judges(campaign),
    }
    return render(request, "staff/conversations.html", context)


@campaign_page(*READ)
def conversation(request: HttpRequest, campaign: Campaign, chat: int) -> HttpResponse:
    """Read one conversation."""
    row = access.conversation(request.user, campaign.pk, chat)
    return render(request, "staff/conversation.html", _conversation(campaign, row))


@campaign_page(*WRITE)
def exclude_conversation(request: HttpRequest, campaign: Campaign, chat: int) -> HttpResponse:
    """Leave a conversation out, or take it back in."""
    row = access.conversation(request.user, campaign.pk, chat)
    problems = _mark(request, row)
    if problems:
        context = _conversation(campaign, row) | problems
        return bad_form(request, "staff/conversation.html", context)
    return redirect("conversation", campaign.pk, chat)


@campaign_page(*READ)
def people(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List the people."""
    page = review.people(campaign, request.GET.dict())
    rows = [(row, review.minutes(row)) for row in page.object_list]
    context = {
        "campaign": campaign,
        "tab": "people",
        "page": page,
        "rows": rows,
        "step": request.GET.get("step", ""),
        "query": _query(request),
    }
    return render(request, "staff/people.html", context)


@campaign_page(*READ)
def person(request: HttpRequest, campaign: Campaign, person: int) -> HttpResponse:
    """Show one person: what they did, were paid, and what is odd about it."""
    row = review.person(campaign, person)
    return render(request, "staff/person.html", _person(campaign, row))


@campaign_page(*WRITE)
def exclude_person(request: HttpRequest, campaign: Campaign, person: int) -> HttpResponse:
    """Leave a person out, or take them back in; their pay is another decision."""
    row = review.person(campaign, person)
    problems = _mark(request, row)
    if problems:
        context = _person(campaign, row) | problems
        return bad_form(request, "staff/person.html", context)
    return redirect("person", campaign.pk, person)


@campaign_page(*WRITE)
def bonus(request: HttpRequest, campaign: Campaign, person: int) -> HttpResponse:
    """Give a bonus."""
    row = review.person(campaign, person)
    raw = request.POST.dict()
    try:
        review.give_bonus(person=row, raw=raw, by=request.user, now=timezone.now())
    except Invalid as problem:
        context = _person(campaign, row) | {"bonus_problems": problem.problems, "raw": raw}
        return bad_form(request, "staff/person.html", context)
    except review.AnotherMeanwhile:
        messages.warning(request, _("A bonus was given meanwhile. Look again before giving more."))
    else:
        messages.success(request, _("The bonus is noted."))
    return redirect("person", campaign.pk, person)


@campaign_page(*WRITE)
def settle_flag(request: HttpRequest, campaign: Campaign, flag: int) -> HttpResponse:
    """Note that a flag was looked at."""
    row = review.settle_flag(campaign=campaign, pk=flag, by=request.user, now=timezone.now())
    if row.conversation_id is not None:
        return redirect("conversation", campaign.pk, row.conversation_id)
    if row.participation_id is not None:
        return redirect("person", campaign.pk, row.participation_id)
    return redirect("conversations", campaign.pk)


def _conversation(campaign: Campaign, row: Any) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "conversations",
        "conversation": row,
        "transcript": transcripts.transcript(row),
    }


def _person(campaign: Campaign, row: Any) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "people",
        "person": row,
        "minutes": review.minutes(row),
        "raw": {},
    }


def _mark(request: HttpRequest, row: review.Reviewed) -> dict[str, Any]:
    """Exclude or include; return what is wrong with the form, if anything."""
    now = timezone.now()
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


CONVERSATION = "campaigns/<int:pk>/conversations/<int:chat>"
PERSON = "campaigns/<int:pk>/people/<int:person>"
urlpatterns = [
    path("campaigns/<int:pk>/conversations/", conversations, name="conversations"),
    path(f"{CONVERSATION}/", conversation, name="conversation"),
    path(f"{CONVERSATION}/exclude/", exclude_conversation, name="exclude-conversation"),
    path("campaigns/<int:pk>/people/", people, name="people"),
    path(f"{PERSON}/", person, name="person"),
    path(f"{PERSON}/exclude/", exclude_person, name="exclude-person"),
    path(f"{PERSON}/bonus/", bonus, name="bonus-person"),
    path("campaigns/<int:pk>/flags/<int:flag>/settle/", settle_flag, name="settle-flag"),
]
