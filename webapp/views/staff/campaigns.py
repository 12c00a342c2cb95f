"""A requester's way in: the login, the list of campaigns, a new one from a protocol."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import views as auth
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol
from webapp import clock
from webapp.forms.campaign_form import CampaignForm
from webapp.services.campaign import campaigns, own_protocols
from webapp.services.monitoring import campaign_list, offers
from webapp.services.ops import logins
from webapp.services.rules import access
from webapp.services.rules.access import StaffProtocol
from webapp.views import rendering
from webapp.views.audience import Audience, meant_for
from webapp.views.staff.access import FORM, READ, NavLink, bad_form, staff_page


class Login(auth.LoginView):
    """Django's login for staff, with limits by user and by address."""

    authentication_form = AdminAuthenticationForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        username = request.POST.get("username", "")[:150]
        try:
            logins.attempt(
                username=username, address=rendering.address_of(request), now=clock.now()
            )
        except logins.TooMany as refusal:
            context = {"form": self.get_form_class()(request), "wait": refusal.seconds}
            response = render(request, "registration/login.html", context, status=429)
            response.headers["Retry-After"] = str(refusal.seconds)
            return response
        response = super().post(request, *args, **kwargs)
        logins.note(username=username, ok=response.status_code == 302, now=clock.now())
        return response


@staff_page(*READ)
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the campaigns."""
    return redirect("campaigns")


@staff_page(*READ, link=NavLink(gettext_lazy("Campaigns"), 10))
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


@staff_page(*READ)
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


@staff_page(*FORM)
def create(request: HttpRequest, protocol: str) -> HttpResponse:
    """Fill in the settings of a new campaign."""
    found = offers.find(protocol)
    if found is None:
        raise Http404(protocol)
    return _create(request, found)


@staff_page(*FORM)
def create_own(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Fill in the settings of a new campaign with a version of an own protocol."""
    row = access.own_protocol(request.user, own)
    return _create(request, own_protocols.protocol_of(row), row)


def _create(
    request: HttpRequest, found: Protocol, own: StaffProtocol | None = None
) -> HttpResponse:
    if request.method != "POST":
        context = {"protocol": found, "form": CampaignForm(found)}
        return render(request, "staff/settings.html", context)
    form = CampaignForm(found, request.POST)
    if not form.is_valid():
        return bad_form(request, "staff/settings.html", {"protocol": found, "form": form})
    campaign = campaigns.create(
        owner=request.user,
        protocol=found.name,
        values=form.values(),
        now=clock.now(),
        own=own,
    )
    messages.success(request, _("The draft is saved. Next: add the systems."))
    return redirect("campaign", campaign.pk)


sign_in = meant_for(Audience.PUBLIC)(Login.as_view())
sign_out = meant_for(Audience.PUBLIC)(auth.LogoutView.as_view())
urlpatterns = [
    path("", home, name="home"),
    path("login/", sign_in, name="login"),
    path("admin/login/", sign_in),
    path("logout/", sign_out, name="logout"),
    path("campaigns/", index, name="campaigns"),
    path("campaigns/new/", choose, name="new-campaign"),
    path("campaigns/new/<slug:protocol>/", create, name="create-campaign"),
    path("campaigns/new/own/<uuid:own>/", create_own, name="create-own-campaign"),
]
