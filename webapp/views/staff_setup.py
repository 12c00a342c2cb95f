"""A draft's pages: its settings, personas, contexts, and its launch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.services import (
    campaign_fields,
    campaigns,
    checklist,
    contexts,
    contexts_import,
    launch,
    pasted,
    personas_import,
    plans,
    running,
    study,
    systems,
)
from webapp.services.campaigns import Campaign
from webapp.services.fields import Invalid
from webapp.views.staffed import FORM, READ, WRITE, bad_form, campaign_page, conflict, field_groups


@campaign_page(*READ)
def overview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show everything that a campaign is, and what is still missing."""
    protocol, departures = campaigns.protocol_and_changes(campaign)
    context = {
        "campaign": campaign,
        "tab": "setup",
        "protocol": protocol,
        "departures": departures,
        "systems": systems.of(campaign),
        "consent": study.sanitized(campaign.consent),
        "hourly": campaigns.hourly(campaign.pay, campaign.minutes),
        "link": start_link(request, campaign),
        "amendments": running.amendments(campaign),
        "has_personas": bool(personas_import.pool_of(campaign)),
        "has_contexts": any(rate.over == "contexts" for rate in protocol.rates),
        "has_messages": any(rate.by_third_parties for rate in protocol.rates),
        **_checks(campaign),
    }
    return render(request, "staff/campaign.html", context)


@campaign_page(*READ)
def rehearsals(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The part of the overview that changes while systems are tested."""
    context = {"campaign": campaign, "systems": systems.of(campaign), **_checks(campaign)}
    return render(request, "staff/_checks.html", context)


@campaign_page(*FORM)
def settings(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change a draft's settings."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/settings.html", _form(campaign))
    raw = request.POST.dict()
    try:
        campaigns.change(campaign=campaign, by=request.user, raw=raw, now=timezone.now())
    except Invalid as problem:
        return bad_form(request, "staff/settings.html", _form(campaign, raw, problem.problems))
    messages.success(request, _("The settings are saved."))
    return redirect("campaign", campaign.pk)


@campaign_page(*FORM)
def personas(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Import personas: paste or choose a file, look at the rows, then store them."""
    context = {
        "rows": campaign.personas.order_by("id")[:500],
        "count": campaign.personas.count(),
        "pool": personas_import.pool_of(campaign),
        "kind": "personas",
    }
    bundled = personas_import.bundled(campaign)
    return _import(request, campaign, personas_import, bundled, context)


@campaign_page(*FORM)
def static_contexts(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Import contexts for a static protocol, then collect every system's replies."""
    context = {
        "rows": campaign.contexts.order_by("id")[:500],
        "count": campaign.contexts.count(),
        "replies": checklist.replies_to_contexts(campaign),
        "kind": "contexts",
    }
    bundled = contexts_import.bundled()
    return _import(request, campaign, contexts_import, bundled, context)


@campaign_page(*WRITE)
def collect(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Let every system answer every context."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    begun = contexts.build(campaign=campaign, now=timezone.now())
    messages.info(request, _("%(count)d replies were asked for.") % {"count": begun})
    return redirect("contexts", campaign.pk)


@campaign_page(*FORM)
def launching(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the checklist; freeze the plan and open the campaign."""
    if request.method != "POST":
        if campaign.state != "DRAFT":
            return conflict(request, campaign.state)
        return render(request, "staff/launch.html", _launch(request, campaign))
    try:
        launch.launch(campaign=campaign, by=request.user, now=timezone.now())
    except launch.NotReady:
        return bad_form(request, "staff/launch.html", _launch(request, campaign))
    messages.success(request, _("The campaign is open. Give participants the start link."))
    return redirect("campaign", campaign.pk)


@campaign_page(*READ)
def plan(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give the frozen plan as it was hashed; of a draft, what would be frozen."""
    text = launch.canonical(campaign.plan or launch.plan_of(campaign))
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    name = f"plan-{campaign.slug}.json"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def start_link(request: HttpRequest, campaign: Campaign) -> str:
    """Return the address that participants are given."""
    return request.build_absolute_uri(reverse("entry", args=[campaign.slug]))


def _checks(campaign: Campaign) -> dict[str, Any]:
    if campaign.state != "DRAFT":
        return {}
    checks = checklist.checklist(campaign, timezone.now())
    return {
        "kinds": systems.kinds(campaign),
        "checks": checks,
        "ready": all(check.ok for check in checks),
        "testing": any(system.rehearsal == "QUEUED" for system in systems.of(campaign)),
    }


def _launch(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    plan = launch.plan_of(campaign)
    return {
        "campaign": campaign,
        "tab": "setup",
        "plan": plan,
        "hash": launch.plan_hash(plan),
        "protocol": plans.protocol_of(campaign),
        **_checks(campaign),
    }


def _form(
    campaign: Campaign, raw: dict[str, str] | None = None, problems: dict[str, str] | None = None
) -> dict[str, Any]:
    protocol = campaigns.source(campaign)
    return {
        "campaign": campaign,
        "tab": "setup",
        "protocol": protocol,
        **field_groups(
            own=campaign_fields.own_fields(protocol, campaign, raw, problems),
            source=campaign_fields.setting_fields(protocol, campaign, raw, problems),
        ),
    }


def _import(
    request: HttpRequest,
    campaign: Campaign,
    service: ModuleType,
    bundled: str,
    context: dict[str, Any],
) -> HttpResponse:
    context |= {"campaign": campaign, "tab": "setup"}
    if request.method != "POST":
        return render(request, "staff/import.html", context)
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    try:
        text = _text(request, bundled)
        return _act(request, campaign, service, text, context)
    except Invalid as problem:
        context |= {"problems": problem.problems, "text": request.POST.get("text", "")}
        return bad_form(request, "staff/import.html", context)


def _act(
    request: HttpRequest,
    campaign: Campaign,
    service: ModuleType,
    text: str,
    context: dict[str, Any],
) -> HttpResponse:
    """Preview, or store, or remove what is there."""
    action = request.POST.get("action", "preview")
    changes = {"campaign": campaign, "by": request.user, "now": timezone.now()}
    if action == "clear":
        try:
            count = service.clear(**changes)
        except contexts_import.AlreadyAnswered:
            raise Invalid({"text": _("was answered already, so it stays")}) from None
        messages.info(request, _("%(count)d removed.") % {"count": count})
        return redirect(context["kind"], campaign.pk)
    if action == "store":
        count = service.store(text=text, **changes)
        messages.success(request, _("%(count)d imported.") % {"count": count})
        return redirect("campaign", campaign.pk)
    context |= {"preview": service.preview(campaign=campaign, text=text), "text": text}
    return render(request, "staff/import.html", context)


def _text(request: HttpRequest, bundled: str) -> str:
    if request.POST.get("action") == "bundled":
        return bundled
    upload = request.FILES.get("file")
    if upload is not None:
        return pasted.decode(upload.read(pasted.LARGEST + 1))
    return request.POST.get("text", "")


urlpatterns = [
    path("campaigns/<int:pk>/", overview, name="campaign"),
    path("campaigns/<int:pk>/settings/", settings, name="settings"),
    path("campaigns/<int:pk>/rehearsals/", rehearsals, name="rehearsals"),
    path("campaigns/<int:pk>/personas/", personas, name="personas"),
    path("campaigns/<int:pk>/contexts/", static_contexts, name="contexts"),
    path("campaigns/<int:pk>/contexts/collect/", collect, name="collect"),
    path("campaigns/<int:pk>/launch/", launching, name="launch"),
    path("campaigns/<int:pk>/plan.json", plan, name="plan"),
]
