"""The pay sheet: sums for all payers, and the people with their ids once they say who they are.

Whoever is searched for is posted: an id in an address would stand in the server's logs.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from webapp import clock
from webapp.services.data import csv_format
from webapp.services.monitoring import pay_sheet
from webapp.services.rules.access import Role, StaffCampaign
from webapp.views.staff.access import FORM, WRITE, campaign_page


@campaign_page(*FORM, role=Role.PAYER, proof=True)
def sheet(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show the sums; to a POST also the people, all or those who are searched for."""
    context = {"campaign": campaign, "tab": "live", "sums": pay_sheet.sums(campaign)}
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
    path("campaigns/<int:pk>/pay-sheet/file/", file, name="pay-sheet-file"),
]
