"""The pay sheet: sums for all payers, and the people with their ids once they say who they are.

Whoever is searched for is posted: an id in an address would stand in the server's logs.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.services.data import csv_format
from webapp.services.monitoring import pay_holds, pay_sheet
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, WRITE, bad_form, campaign_page


@campaign_page(*FORM, role=Role.PAYER, proof=True)
def sheet(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show the sums; to a POST also the people, all or those who are searched for."""
    context = _context(campaign)
    if request.method == "POST":
        search = request.POST.get("search", "")
        context["search"] = search
        context["page"] = pay_sheet.look(
            campaign=campaign,
            search=search,
            page=request.POST.get("page"),
            by=request.user.get_username(),
            now=clock.now(),
        )
    return render(request, "staff/pay_sheet.html", context)


def _context(campaign: StaffCampaign) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "live",
        "sums": pay_sheet.sums(campaign),
        "holds": pay_holds.listed(campaign),
    }


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def hold(request: HttpRequest, campaign: StaffCampaign, hold: int) -> HttpResponse:
    """Let a payment be made, or refuse it with a reason."""
    about: dict[str, Any] = {"campaign": campaign, "pk": hold, "by": request.user}
    try:
        if request.POST.get("decision") == "refuse":
            reason = pay_holds.read_reason(request.POST.get("reason", ""))
            pay_holds.refuse(**about, reason=reason, now=clock.now())
        else:
            pay_holds.release(**about, now=clock.now())
    except Invalid as problem:
        context = _context(campaign) | {"problems": problem.problems, "refused_pk": hold}
        context["reason"] = request.POST.get("reason", "")
        return bad_form(request, "staff/pay_sheet.html", context)
    except pay_holds.AlreadyDecided:
        messages.warning(request, _("It was decided meanwhile."))
    else:
        messages.success(request, _("Done. It is in the log."))
    return redirect("pay-sheet", campaign.pk)


@campaign_page(*WRITE, role=Role.PAYER, proof=True)
def file(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Hand out the sheet as CSV."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="pay-{campaign.pk}.csv"'
    by, now = request.user.get_username(), clock.now()
    lines = pay_sheet.taken(campaign=campaign, by=by, now=now)
    csv_format.write(answer, pay_sheet.COLUMNS, (line.cells() for line in lines))  # type: ignore[arg-type]
    return answer


urlpatterns = [
    path("campaigns/<int:pk>/pay-sheet/", sheet, name="pay-sheet"),
    path("campaigns/<int:pk>/pay-sheet/holds/<int:hold>/", hold, name="pay-hold"),
    path("campaigns/<int:pk>/pay-sheet/file/", file, name="pay-sheet-file"),
]
