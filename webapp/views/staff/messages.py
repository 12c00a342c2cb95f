"""A draft's page of what third parties judge: conversations of a campaign that has ended."""

from __future__ import annotations

from typing import Any

from django.contrib import messages as notices
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.services.campaign import message_items
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, bad_form, campaign_page, conflict

PAGE = "staff/messages.html"


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def messages(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show where items can be taken from; take those of one campaign, or remove all."""
    if request.method != "POST":
        return render(request, PAGE, _shown(request, campaign))
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    changes: dict[str, Any] = {"campaign": campaign, "by": request.user, "now": clock.now()}
    if request.POST.get("action") == "clear":
        count = message_items.clear(**changes)
        notices.info(request, _("%(count)d removed.") % {"count": count})
        return redirect("messages", campaign.pk)
    try:
        source, systems = request.POST.get("source", ""), request.POST.getlist("system")
        count = message_items.take(source=source, systems=systems, **changes)
    except Invalid as problem:
        context = _shown(request, campaign) | {"problems": problem.problems}
        return bad_form(request, PAGE, context)
    notices.success(request, _("%(count)d were taken.") % {"count": count})
    return redirect("messages", campaign.pk)


def _shown(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    protocol = protocol_of(campaign)
    return {
        "campaign": campaign,
        "tab": "campaign",
        "rate": protocol.after,
        "writes": protocol.write is not None,
        "is_whole": protocol.after is not None and protocol.after.over == "conversation",
        "sources": message_items.sources(campaign=campaign, user=request.user),
        "counts": message_items.counts(campaign),
    }


urlpatterns = [path("campaigns/<int:pk>/messages/", messages, name="messages")]
