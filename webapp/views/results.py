"""A researcher's pages: findings, named reports, also as PDF, numbers as JSON and CSV, export.

What they show is imported by the views themselves: pandas and scipy take a second and 150 MB, which
processes that show no results do without.
"""

from __future__ import annotations

from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext_lazy

from webapp.services.rules.access import StaffCampaign
from webapp.views.staff.access import READ, WRITE, NavLink, campaign_page


def _choice(request: HttpRequest) -> str:
    """Return which rows are wanted; anything unknown is what everybody sees first."""
    from webapp.services.results.selection import CHOICES

    wanted = request.GET.get("rows", "")
    return wanted if wanted in CHOICES else "counted"


def _context(campaign: StaffCampaign, **more: object) -> dict[str, object]:
    from webapp.services.results.selection import CHOICES

    choices = CHOICES.items()
    return {"campaign": campaign, "tab": "results", "choices": choices, **more}


@campaign_page(*READ, tab=NavLink(gettext_lazy("Results"), 50))
def page(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show the results of the ratings."""
    from webapp.services.results import page as results_page

    shown = results_page.page(campaign=campaign, choice=_choice(request))
    context = _context(campaign, page=shown, choice=shown.choice)
    return render(request, "results/page.html", context)


@campaign_page(*READ)
def numbers(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Return every number of the page."""
    from webapp.services.results import page as results_page

    try:
        found = results_page.numbers(campaign=campaign, choice=_choice(request))
    except results_page.BadTable as bad:
        return JsonResponse({"problems": [str(problem) for problem in bad.problems]}, status=409)
    return JsonResponse(found, safe=False, json_dumps_params={"ensure_ascii": False})


@campaign_page(*READ)
def values(request: HttpRequest, campaign: StaffCampaign, key: str) -> HttpResponse:
    """Return one table of the page as CSV."""
    from webapp.services.results import page as results_page

    try:
        name = request.GET.get("report", "")
        text = results_page.values(campaign=campaign, key=key, choice=_choice(request), name=name)
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    return _file(text.encode(), "text/csv; charset=utf-8", f"{key}.csv")


@campaign_page(*READ)
def report(request: HttpRequest, campaign: StaffCampaign, name: str) -> HttpResponse:
    """Show a named report in the layout of its paper."""
    from webapp.services.results import page as results_page

    choice = _choice(request)
    try:
        shown = results_page.report(campaign=campaign, name=name, choice=choice)
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    context = _context(campaign, report=shown, parts=results_page.sections(shown), choice=choice)
    return render(request, "results/report.html", context)


@campaign_page(*READ)
def document(request: HttpRequest, campaign: StaffCampaign, name: str) -> HttpResponse:
    """Return a named report as PDF."""
    return _made(request, campaign, name, "document", "application/pdf", "pdf")


@campaign_page(*READ)
def code(request: HttpRequest, campaign: StaffCampaign, name: str) -> HttpResponse:
    """Return a notebook that makes a named report again from the export."""
    return _made(request, campaign, name, "code", "application/x-ipynb+json", "ipynb")


def _made(
    request: HttpRequest,
    campaign: StaffCampaign,
    name: str,
    make: Literal["document", "code"],
    kind: str,
    suffix: str,
) -> HttpResponse:
    from webapp.services.results import page as results_page

    try:
        content: bytes | str = getattr(results_page, make)(
            campaign=campaign, name=name, choice=_choice(request)
        )
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    return _file(content, kind, f"campaign-{campaign.pk}-{name}.{suffix}")


@campaign_page(*WRITE)
def export(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Hand out the export; that it was taken is logged, so this is no GET."""
    from webapp.services.data import exports

    by = request.user.get_username()
    content = exports.download(campaign=campaign, by=by, now=timezone.now())
    return _file(content, "application/zip", f"campaign-{campaign.pk}.zip")


def _file(content: bytes | str, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=kind, headers=headers)


PREFIX = "campaigns/<int:pk>/results"
urlpatterns = [
    path(f"{PREFIX}/", page, name="results"),
    path(f"{PREFIX}.json", numbers, name="results-numbers"),
    path(f"{PREFIX}/export/", export, name="results-export"),
    path(f"{PREFIX}/reports/<slug:name>/", report, name="results-report"),
    path(f"{PREFIX}/reports/<slug:name>.pdf", document, name="results-document"),
    path(f"{PREFIX}/reports/<slug:name>.ipynb", code, name="results-notebook"),
    path(f"{PREFIX}/<str:key>.csv", values, name="results-values"),
]
