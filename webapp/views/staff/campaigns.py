"""A requester's way in: the list of campaigns, a new one from a protocol."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol
from webapp import clock
from webapp.forms.campaign_form import CampaignForm
from webapp.services.accounts import projects
from webapp.services.campaign import campaigns, own_protocols
from webapp.services.monitoring import campaign_list, offers
from webapp.services.rules import access
from webapp.services.rules.access import Role, StaffProtocol
from webapp.views import rendering
from webapp.views.staff.access import FORM, READ, NavLink, bad_form, staff_page


@staff_page(*READ, role=None)
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the campaigns."""
    return redirect("campaigns")


@staff_page(*READ, role=None, link=NavLink(gettext_lazy("Campaigns"), 10))
def index(request: HttpRequest) -> HttpResponse:
    """List the campaigns, those that a filter leaves."""
    chosen = campaign_list.read_filter(request.GET.dict())
    context = {
        "page": campaign_list.lines(request.user, request.GET.get("page"), chosen),
        "is_empty": campaign_list.is_empty(request.user),
        "chosen": chosen,
        "query": urlencode({name: value for name, value in asdict(chosen).items() if value}),
    }
    return render(request, "staff/campaigns.html", context)


@staff_page(*READ, role=Role.RUNNER)
def choose(request: HttpRequest) -> HttpResponse:
    """Choose the protocol that a new campaign begins from."""
    found = offers.offers(request.user)
    own = [(_("Yours"), [offer for offer in found if offer.own is not None])]
    shipped = offers.grouped([offer for offer in found if offer.own is None])
    sections = [
        (heading, [(offer, rendering.sample_questions(offer.protocol)) for offer in group])
        for heading, group in own + shipped
    ]
    return render(request, "staff/choose.html", {"sections": sections})


@staff_page(*FORM, role=Role.RUNNER)
def create(request: HttpRequest, protocol: str) -> HttpResponse:
    """Fill in the settings of a new campaign."""
    found = offers.find(protocol)
    if found is None:
        raise Http404(protocol)
    return _create(request, found)


@staff_page(*FORM, role=Role.RUNNER)
def create_own(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Fill in the settings of a new campaign with a version of an own protocol."""
    row = access.own_protocol(request.user, own)
    return _create(request, own_protocols.protocol_of(row), row)


def _create(
    request: HttpRequest, found: Protocol, own: StaffProtocol | None = None
) -> HttpResponse:
    open_to = projects.open_to(request.user)
    if request.method != "POST":
        context = {"protocol": found, "form": CampaignForm(found, projects=open_to)}
        return render(request, "staff/settings.html", context)
    form = CampaignForm(found, request.POST, projects=open_to)
    if not form.is_valid():
        return bad_form(request, "staff/settings.html", {"protocol": found, "form": form})
    campaign = campaigns.create(
        owner=request.user,
        protocol=found.name,
        values=form.values(),
        now=clock.now(),
        own=own,
        project=form.project(),
    )
    messages.success(request, _("The draft is saved. What it still needs is listed below."))
    return redirect("campaign", campaign.pk)


urlpatterns = [
    path("", home, name="home"),
    path("campaigns/", index, name="campaigns"),
    path("campaigns/new/", choose, name="new-campaign"),
    path("campaigns/new/<slug:protocol>/", create, name="create-campaign"),
    path("campaigns/new/own/<uuid:own>/", create_own, name="create-own-campaign"),
]
