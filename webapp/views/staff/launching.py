"""Before a draft opens: preview, checklist, frozen plan, and the planner of how much to collect.

The preview has a participant's own templates, filled with samples. Nothing on them can be sent:
their policy forbids forms and requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin

from webapp import clock
from webapp.forms.power_form import PowerForm
from webapp.services.campaign import launch
from webapp.services.participation import samples
from webapp.services.results import planner
from webapp.services.results.planner import PlannerState
from webapp.services.rules import protocols
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms import source_settings
from webapp.views import rendering
from webapp.views.staff.access import (
    FORM,
    READ,
    WRITE,
    NavLink,
    bad_form,
    campaign_page,
    conflict,
)
from webapp.views.staff.setup import checks

TITLES = {
    "entry": gettext_lazy("Entry and consent"),
    "ready": gettext_lazy("Instructions"),
    "screening": gettext_lazy("First questions"),
    "quiz": gettext_lazy("Quiz"),
    "chat": gettext_lazy("Conversation"),
    "rate": gettext_lazy("Questions"),
    "write": gettext_lazy("Writing"),
    "ended": gettext_lazy("The end"),
}


@csp_replace({"frame-src": [SELF]})
@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("Preview"), 15, in_drafts=True))
def preview(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show one of the pages as on a phone and as on a desk."""
    names = samples.pages(protocols.protocol_of(campaign))
    chosen = request.GET.get("page", "")
    context = {
        "campaign": campaign,
        "tab": "preview",
        "pages": [(name, TITLES[name]) for name in names],
        "chosen": chosen if chosen in names else names[0],
    }
    return render(request, "staff/preview.html", context)


@csp_replace({"form-action": [NONE], "connect-src": [NONE], "frame-ancestors": [SELF]})
@xframe_options_sameorigin
@campaign_page(*READ, role=Role.VIEWER)
def preview_page(request: HttpRequest, campaign: StaffCampaign, screen: str) -> HttpResponse:
    """Show a page by itself."""
    if screen not in samples.pages(protocols.protocol_of(campaign)):
        raise Http404(screen)
    with translation.override(campaign.languages[0]):
        return rendering.render_preview(request, campaign, screen)


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def launching(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show the checklist; freeze the plan and open the campaign."""
    if request.method != "POST":
        if campaign.state != "DRAFT":
            return conflict(request, campaign.state)
        return render(request, "staff/launch.html", _launch(request, campaign))
    looked_at = request.POST.get("plan", "")
    try:
        launch.launch(campaign=campaign, by=request.user, now=clock.now(), looked_at=looked_at)
    except launch.NotReady:
        return bad_form(request, "staff/launch.html", _launch(request, campaign))
    except launch.PlanChanged:
        context = _launch(request, campaign) | {"is_passed_over": True}
        return render(request, "staff/launch.html", context, status=409)
    messages.success(request, _("The campaign is open. Give participants the start link."))
    return redirect("campaign", campaign.pk)


@campaign_page(*READ, role=Role.VIEWER)
def plan(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Give the frozen plan as it was hashed; of a draft, what would be frozen."""
    text = launch.canonical(campaign.plan or launch.plan_of(campaign))
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    name = f"plan-{campaign.slug}.json"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@campaign_page(*WRITE, role=Role.RUNNER)
def ask_planner(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Ask the planner; what cannot be used is told beside its field, and stays as it was typed."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    state = planner.look(campaign=campaign, now=clock.now())
    form = _form(request, campaign, state, request.POST)
    if not form.is_valid():
        return bad_form(request, "staff/launch.html", _launch(request, campaign, form))
    upload = request.FILES.get("file")
    pilot = None if upload is None else (str(upload.name), upload.read())
    planner.ask(campaign=campaign, values=form.values(), pilot=pilot, now=clock.now())
    return redirect(f"{reverse('launch', args=[campaign.pk])}#planner")


@campaign_page(*WRITE, role=Role.RUNNER)
def use_plan(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Give every system the target that the planner found."""
    target = planner.use(campaign=campaign, now=clock.now())
    if target is None:
        messages.info(request, _("The plan has no target that the systems lack."))
    else:
        about = {"target": target}
        messages.success(request, _("%(target)d participations of each system are wanted.") % about)
    return redirect(f"{reverse('launch', args=[campaign.pk])}#planner")


@campaign_page(*READ, role=Role.VIEWER)
def planner_part(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """The planner's answer, looked for every two seconds; once it is there, the page is new."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    state = planner.look(campaign=campaign, now=clock.now())
    response = render(request, "staff/_planner.html", {"campaign": campaign, "planner": state})
    if state.progress.wanted_at is None:
        response.headers["HX-Refresh"] = "true"
    return response


def _form(
    request: HttpRequest,
    campaign: StaffCampaign,
    state: PlannerState,
    typed: Mapping[str, str] | None = None,
) -> PowerForm:
    upload = request.FILES.get("file")
    form = PowerForm(
        typed,
        first=planner.first_values(campaign) | dict(state.params),
        sources=planner.sources(campaign=campaign, user=request.user),
        size=None if upload is None else upload.size,
        pilot=state.pilot_name if state.has_pilot else "",
    )
    if typed is None:
        form.complaints = state.problems
    return form


def _launch(
    request: HttpRequest, campaign: StaffCampaign, form: PowerForm | None = None
) -> dict[str, Any]:
    plan = launch.plan_of(campaign)
    state = planner.look(campaign=campaign, now=clock.now())
    return {
        "campaign": campaign,
        "tab": "campaign",
        "plan": plan,
        "settings": [source_settings.in_words(row) for row in plan["protocol"]["settings"]],
        "hash": launch.plan_hash(plan),
        "protocol": protocols.protocol_of(campaign),
        "planner": state,
        "form": form or _form(request, campaign, state),
        **checks(campaign),
    }


urlpatterns = [
    path("campaigns/<int:pk>/preview/", preview, name="preview"),
    path("campaigns/<int:pk>/preview/<slug:screen>/", preview_page, name="preview-page"),
    path("campaigns/<int:pk>/launch/", launching, name="launch"),
    path("campaigns/<int:pk>/launch/planner/", ask_planner, name="ask-planner"),
    path("campaigns/<int:pk>/launch/planner/use/", use_plan, name="use-plan"),
    path("campaigns/<int:pk>/launch/planner/part/", planner_part, name="planner-part"),
    path("campaigns/<int:pk>/plan.json", plan, name="plan"),
]
