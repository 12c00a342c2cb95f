"""Duplicating, archiving and deleting a campaign."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.forms.campaign_form import DuplicateForm
from webapp.services.campaign import duplicates, removal
from webapp.services.campaign.systems import SystemRefused
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, WRITE, bad_form, campaign_page, conflict


@campaign_page(*FORM, role=Role.RUNNER)
def duplicate(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Make a new draft of the same plan; a double click makes one."""
    context = {"campaign": campaign, "tab": "campaign"}
    if request.method != "POST":
        context["form"] = DuplicateForm(campaign)
        return render(request, "staff/duplicate.html", context)
    form = DuplicateForm(campaign, request.POST)
    if not form.is_valid():
        return bad_form(request, "staff/duplicate.html", context | {"form": form})
    now = clock.now()
    draft = duplicates.duplicate(campaign=campaign, by=request.user, now=now, **form.values())
    messages.success(request, _("This is the duplicate. Rehearse its systems before the launch."))
    return redirect("campaign", draft.pk)


@campaign_page(*WRITE, role=Role.RUNNER)
def archive(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Take a campaign that is not running out of the list."""
    removal.archive(campaign=campaign, by=request.user, now=clock.now())
    messages.success(request, _("The campaign is archived. Its data and results stay."))
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE, role=Role.RUNNER)
def unarchive(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Put an archived campaign back into the list."""
    removal.unarchive(campaign=campaign, by=request.user, now=clock.now())
    messages.success(request, _("The campaign is in the list again."))
    return redirect("campaign", campaign.pk)


@campaign_page(*FORM, role=Role.RUNNER, proof=True)
def delete(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Delete a draft, once its name was typed."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    raw = request.POST.dict()
    context = {"campaign": campaign, "tab": "campaign", "raw": raw}
    if request.method != "POST":
        return render(request, "staff/delete.html", context)
    try:
        removal.read_name(campaign, raw)
        removal.delete(campaign=campaign, by=request.user, now=clock.now())
    except Invalid as problem:
        return bad_form(request, "staff/delete.html", context | {"problems": problem.problems})
    except SystemRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign", campaign.pk)
    messages.success(request, _("The draft %(name)s is deleted.") % {"name": campaign.name})
    return redirect("campaigns")


urlpatterns = [
    path("campaigns/<int:pk>/duplicate/", duplicate, name="duplicate"),
    path("campaigns/<int:pk>/archive/", archive, name="archive"),
    path("campaigns/<int:pk>/unarchive/", unarchive, name="unarchive"),
    path("campaigns/<int:pk>/delete/", delete, name="delete"),
]
