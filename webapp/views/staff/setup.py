"""A draft's pages: its settings, personas and contexts.

Apart because drafts and running campaigns have different pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol
from webapp import clock
from webapp.forms.campaign_form import CampaignForm
from webapp.services.campaign import (
    amendments,
    campaigns,
    checklist,
    contexts_import,
    message_items,
    personas_import,
    systems,
    taken_replies,
    transcripts_import,
    written_materials,
)
from webapp.services.chat_service import offering
from webapp.services.participation import study_info
from webapp.services.rating import contexts, transcripts
from webapp.services.replies import rehearsed
from webapp.services.rules import access, protocols
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms import pasted
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


@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("Setup"), 10, in_drafts=True))
def overview(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show everything that a campaign is, and what is still missing."""
    protocol, departures = campaigns.protocol_and_changes(campaign)
    context = {
        "campaign": campaign,
        "tab": "campaign",
        "protocol": protocol,
        "departures": departures,
        "consent": study_info.sanitized(campaign.consent),
        "hourly": campaigns.hourly(campaign.pay, campaign.minutes),
        **links(request, campaign),
        "amendments": amendments.amendments(campaign),
        "books": amendments.books(campaign),
        **_materials(campaign, protocol),
        **checks(campaign),
    }
    return render(request, "staff/campaign.html", context)


@campaign_page(*READ, role=Role.VIEWER)
def rehearsals(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """The part of the overview that changes while systems are tested."""
    context = {"campaign": campaign, **checks(campaign)}
    return render(request, "staff/_checks.html", context)


@campaign_page(*FORM, role=Role.RUNNER)
def settings(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Change a draft's settings."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/settings.html", _settings(campaign))
    context = _settings(campaign, request.POST)
    form = context["form"]
    if not form.is_valid():
        return bad_form(request, "staff/settings.html", context)
    now = clock.now()
    campaigns.change(campaign=campaign, by=request.user, values=form.values(), now=now)
    messages.success(request, _("The settings are saved."))
    return redirect("campaign", campaign.pk)


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def personas(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Import personas: paste or choose a file, look at the rows, then store them."""
    context = {
        "rows": personas_import.stored(campaign),
        "count": personas_import.count(campaign),
        "pool": personas_import.pool_of(campaign),
        "brief": personas_import.brief_of(campaign),
        "kind": "personas",
        **_written(request, campaign),
    }
    bundled = personas_import.bundled(campaign)
    return _import(request, campaign, personas_import, bundled, context)


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def static_contexts(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Import contexts for a static protocol, then collect every system's replies."""
    context = {
        "rows": contexts_import.stored(campaign),
        "count": contexts_import.count(campaign),
        "kind": "contexts",
        "messages_wanted": contexts_import.messages_wanted(campaign),
        "has_known": contexts_import.known_question(campaign),
        **_written(request, campaign),
        "sources": taken_replies.sources(campaign=campaign, user=request.user),
    }
    if not context["writes"]:
        context["replies"] = checklist.replies_to_contexts(campaign)
    bundled = contexts_import.bundled(campaign)
    context["built_in"] = len(bundled.splitlines())
    return _import(request, campaign, contexts_import, bundled, context)


def _written(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    """Return what participants of other campaigns wrote for such a one."""
    return {
        "written": written_materials.sources(campaign=campaign, user=request.user),
        "writes": protocols.protocol_of(campaign).write is not None,
    }


@campaign_page(*WRITE, role=Role.RUNNER)
def collect(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Let every system answer every context."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    begun = contexts.build(campaign=campaign, now=clock.now())
    messages.info(request, _("%(count)d replies were requested.") % {"count": begun})
    return redirect("contexts", campaign.pk)


def start_link(request: HttpRequest, campaign: StaffCampaign) -> str:
    """Return the address that participants are given."""
    return request.build_absolute_uri(reverse("entry", args=[campaign.slug]))


def links(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    """Return the ways in that participants are given: an address, and the chat service's."""
    service = offering.entrance(access.row_of(campaign))
    return {"link": start_link(request, campaign), "service": service}


def _materials(campaign: StaffCampaign, protocol: Protocol) -> dict[str, int]:
    """Count what the protocol needs besides systems."""
    found: dict[str, int] = {}
    makes = protocol.write.makes if protocol.write else ""
    if makes:
        found["contributions"] = written_materials.count(campaign)
    if personas_import.pool_of(campaign) or makes == "revision":
        found["personas"] = personas_import.count(campaign)
    if makes == "reply" or any(rate.over == "contexts" for rate in protocol.rates):
        found["contexts"] = contexts_import.count(campaign)
    if transcripts_import.takes(campaign):
        found["imported"] = transcripts.of(campaign).count()
    if makes == "paraphrase" or any(rate.by_third_parties for rate in protocol.rates):
        found["taken"] = message_items.counts(campaign)["messages"]
    return found


def checks(campaign: StaffCampaign) -> dict[str, Any]:
    """Return the systems, and of a draft the checklist, as pages show them."""
    # Before the checklist: a test that ends in between is asked about again, not missed.
    rows = list(systems.of(campaign))
    if campaign.state != "DRAFT":
        return {"systems": rows}
    checks = checklist.checklist(campaign, clock.now())
    return {
        "systems": rows,
        "rehearsed": rehearsed.turns(campaign),
        "kinds": systems.kinds(campaign),
        "checks": checks,
        "ready": all(check.ok for check in checks),
        "testing": any(system.rehearsal == "QUEUED" for system in rows),
    }


def _settings(campaign: StaffCampaign, typed: Mapping[str, str] | None = None) -> dict[str, Any]:
    protocol = campaigns.source(campaign)
    form = CampaignForm(protocol, typed, campaign)
    return {"campaign": campaign, "tab": "campaign", "protocol": protocol, "form": form}


def _import(
    request: HttpRequest,
    campaign: StaffCampaign,
    service: ModuleType,
    bundled: str,
    context: dict[str, Any],
) -> HttpResponse:
    context |= {"campaign": campaign, "tab": "campaign"}
    if request.method != "POST":
        return render(request, "staff/import.html", context)
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    try:
        text = _text(request, campaign, bundled)
        return _act(request, campaign, service, text, context)
    except Invalid as problem:
        context |= {"problems": problem.problems, "text": request.POST.get("text", "")}
        return bad_form(request, "staff/import.html", context)


def _act(
    request: HttpRequest,
    campaign: StaffCampaign,
    service: ModuleType,
    text: str,
    context: dict[str, Any],
) -> HttpResponse:
    """Preview, or store, or remove what is there."""
    action = request.POST.get("action", "preview")
    changes = {"campaign": campaign, "by": request.user, "now": clock.now()}
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


def _text(request: HttpRequest, campaign: StaffCampaign, bundled: str) -> str:
    if request.POST.get("action") == "bundled":
        return bundled
    if request.POST.get("action") == "taken":
        source = request.POST.get("source", "")
        return taken_replies.lines(campaign=campaign, source=source, user=request.user)
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
]
