"""A running campaign: what happens now, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.campaign import amendments
from webapp.services.campaign.amendments import Quota
from webapp.services.monitoring import monitor, review
from webapp.services.replies import given_up
from webapp.services.results import stored
from webapp.services.results.shown import Score
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, READ, WRITE, NavLink, bad_form, campaign_page, conflict
from webapp.views.staff.setup import links

Act = Callable[..., object]
SCORES_REST = 60.0  # seconds between two computations of the scores
# action: what does it, its question, what it means, from which states
ACTIONS: dict[str, tuple[Act, Any, Any, tuple[str, ...]]] = {
    "pause": (
        amendments.pause,
        gettext_lazy("Pause the campaign?"),
        gettext_lazy("Nobody can join or be paired. Conversations under way continue."),
        ("OPEN",),
    ),
    "resume": (
        amendments.resume,
        gettext_lazy("Resume the campaign?"),
        gettext_lazy("People can join again."),
        ("PAUSED",),
    ),
    "stop": (
        amendments.stop,
        gettext_lazy("Stop the campaign for good?"),
        gettext_lazy(
            "All current participants are notified, get a code and are paid in full. "
            "The campaign cannot be reopened."
        ),
        ("OPEN", "PAUSED"),
    ),
}


@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("Live"), 20))
def live(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show what happens now."""
    return render(request, "staff/live.html", _live(request, campaign))


@campaign_page(*READ, role=Role.VIEWER)
def live_part(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """The numbers of the live page, fetched every two seconds."""
    return render(request, "staff/_live.html", _live(request, campaign))


@campaign_page(*READ, role=Role.VIEWER)
def score_part(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """The scores so far, computed elsewhere: at most one computation a minute begins here."""
    found = stored.look(
        of=campaign, name="scores", choice="counted", now=clock.now(), rest=SCORES_REST
    )
    content = found.content or {}
    scores = [Score(**each) for each in content.get("scores", ())]
    context = {"campaign": campaign, "found": found, "scores": scores, "stop": content.get("stop")}
    return render(request, "staff/_scores.html", context)


@campaign_page(*WRITE, role=Role.VIEWER)
def score_again(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Compute the scores anew, after a failure."""
    stored.want(of=campaign, name="scores", choice="counted", now=clock.now())
    return redirect("live", campaign.pk)


@campaign_page(*FORM, role=Role.RUNNER)
def act(request: HttpRequest, campaign: StaffCampaign, action: str) -> HttpResponse:
    """Pause, resume or stop, after a question."""
    if action not in ACTIONS:
        raise Http404(action)
    service, question, means, origins = ACTIONS[action]
    context = {
        "campaign": campaign,
        "tab": "live",
        "action": action,
        "question": question,
        "means": means,
    }
    if request.method != "POST":
        if campaign.state not in origins:
            return conflict(request, campaign.state)
        return render(request, "staff/confirm.html", context)
    raw = request.POST.dict()
    try:
        reason = amendments.read_reason(raw)
    except Invalid as problem:
        context |= {"problems": problem.problems, "reason": raw.get("reason", "")}
        return bad_form(request, "staff/confirm.html", context)
    service(campaign=campaign, by=request.user, reason=reason, now=clock.now())
    messages.success(request, _("Done. It is noted as an amendment."))
    return redirect("live", campaign.pk)


@campaign_page(*FORM, role=Role.RUNNER)
def extend(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Want more participations, or more raters."""
    raw = request.POST.dict()
    context = {"campaign": campaign, "tab": "live", "quotas": _quotas(campaign, raw), "raw": raw}
    if campaign.state not in ("OPEN", "PAUSED"):
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/extend.html", context)
    try:
        amendments.extend(
            campaign=campaign,
            more=amendments.read_more(campaign, raw),
            looked_at=amendments.read_targets(campaign, raw),
            by=request.user,
            reason=amendments.read_reason(raw),
            now=clock.now(),
        )
    except Invalid as problem:
        context |= {"problems": problem.problems, "quotas": _quotas(campaign, raw)}
        return bad_form(request, "staff/extend.html", context)
    messages.success(request, _("Extended. It is noted as an amendment."))
    return redirect("live", campaign.pk)


def _quotas(campaign: StaffCampaign, raw: Mapping[str, str]) -> list[tuple[Quota, str]]:
    """Return what can be extended, with what was typed."""
    return [(each, raw.get(f"more.{each.name}", "0")) for each in amendments.quotas(campaign)]


@campaign_page(*FORM, role=Role.PAYER, proof=True)
def pay(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Pay another amount from the next consent on; a lower one has to be confirmed."""
    context: dict[str, Any] = {"campaign": campaign, "tab": "live", "raw": {}}
    context["promises"] = amendments.promises(campaign)
    if campaign.state not in ("OPEN", "PAUSED"):
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/pay.html", context)
    raw = request.POST.dict()
    try:
        reason = amendments.read_reason(raw)
        amount = amendments.read_pay(campaign, raw)
        amendments.change_pay(
            campaign=campaign, pay=amount, by=request.user, reason=reason, now=clock.now()
        )
    except amendments.Unconfirmed:
        return bad_form(request, "staff/pay.html", context | {"raw": raw, "lowers": True})
    except Invalid as problem:
        context |= {"problems": problem.problems, "raw": raw}
        return bad_form(request, "staff/pay.html", context)
    messages.success(
        request, _("The pay is changed for later consents. It is noted as an amendment.")
    )
    return redirect("live", campaign.pk)


@campaign_page(*FORM, role=Role.PAYER, proof=True)
def budget(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Raise the budget, or let people in again who were kept out at odd rates of stopping."""
    context: dict[str, Any] = {"campaign": campaign, "tab": "live", "raw": {}}
    context["books"] = amendments.books(campaign)
    context["token_limits"] = amendments.token_limits(campaign)
    if campaign.state not in ("OPEN", "PAUSED"):
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/budget.html", context)
    raw = request.POST.dict()
    try:
        change: dict[str, Any] = {"campaign": campaign, "by": request.user, "now": clock.now()}
        change["reason"] = amendments.read_reason(raw)
        if "allow" in raw:
            amendments.let_new_people_in(**change)
        elif "raises_tokens" in raw:
            amendments.raise_tokens(raw=raw, **change)
        else:
            amendments.raise_budget(budget=amendments.read_budget(raw), **change)
    except Invalid as problem:
        context |= {"problems": problem.problems, "raw": raw}
        return bad_form(request, "staff/budget.html", context)
    messages.success(request, _("Done. It is noted as an amendment."))
    return redirect("live", campaign.pk)


@campaign_page(*READ, role=Role.VIEWER)
def job_list(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """List failed and pending replies."""
    page = review.troubled_replies(campaign, request.GET.get("page"))
    return render(request, "staff/jobs.html", {"campaign": campaign, "tab": "live", "page": page})


@campaign_page(*WRITE, role=Role.RUNNER)
def retry(request: HttpRequest, campaign: StaffCampaign, job: int) -> HttpResponse:
    """Let a reply that was given up be tried anew."""
    given_up.retry(campaign=campaign, pk=job, by=request.user, now=clock.now())
    messages.success(request, _("The reply is tried again."))
    return redirect("jobs", campaign.pk)


def _live(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "live",
        "live": monitor.live(campaign, clock.now()),
        **links(request, campaign),
    }


urlpatterns = [
    path("campaigns/<int:pk>/live/", live, name="live"),
    path("campaigns/<int:pk>/live/part/", live_part, name="live-part"),
    path("campaigns/<int:pk>/live/scores/", score_part, name="score-part"),
    path("campaigns/<int:pk>/live/scores/again/", score_again, name="score-again"),
    path("campaigns/<int:pk>/do/<slug:action>/", act, name="act"),
    path("campaigns/<int:pk>/extend/", extend, name="extend"),
    path("campaigns/<int:pk>/pay/", pay, name="pay"),
    path("campaigns/<int:pk>/budget/", budget, name="budget"),
    path("campaigns/<int:pk>/jobs/", job_list, name="jobs"),
    path("campaigns/<int:pk>/jobs/<int:job>/retry/", retry, name="retry"),
]
