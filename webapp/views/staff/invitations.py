"""Signed invitations for a list of ids, and the private link of one person, made anew."""

from __future__ import annotations

import csv

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse

from webapp import clock
from webapp.services.monitoring import review
from webapp.services.participation import invitations
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, WRITE, bad_form, campaign_page
from webapp.views.staff.setup import start_link

USUAL_DAYS = "30"


@campaign_page(*FORM, role=Role.RUNNER)
def invite(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Give each id of a list its signed link, as a CSV file."""
    if campaign.state == "DRAFT":
        return redirect("campaign", campaign.pk)
    page = {"campaign": campaign, "tab": "live", "raw": {"days": USUAL_DAYS}}
    if request.method != "POST":
        return render(request, "staff/invitations.html", page)
    raw = request.POST.dict()
    try:
        ids, days = invitations.read_order(raw)
    except Invalid as problem:
        shown = page | {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/invitations.html", shown)
    links = invitations.invite(
        campaign=campaign,
        ids=ids,
        days=days,
        start_link=start_link(request, campaign),
        by=request.user.get_username(),
        now=clock.now(),
    )
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"invitations-{campaign.slug}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows([("id", "link"), *links])
    return response


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def resend(request: HttpRequest, campaign: StaffCampaign, person: int) -> HttpResponse:
    """Show a person's private link, to be sent to them; the log says who looked at it."""
    by, now = request.user.get_username(), clock.now()
    token = invitations.private_link_token(campaign=campaign, pk=person, by=by, now=now)
    address = reverse("private-link", args=[campaign.slug, token])
    shown = {
        "campaign": campaign,
        "tab": "people",
        "person": review.person(campaign, person, now),
        "private_link": request.build_absolute_uri(address),
        "raw": {},
    }
    return render(request, "staff/person.html", shown)


urlpatterns = [
    path("campaigns/<int:pk>/invitations/", invite, name="invitations"),
    path("campaigns/<int:pk>/people/<int:person>/private-link/", resend, name="resend-link"),
]
