"""A researcher's pages: findings, named reports, also as PDF, numbers as JSON and CSV, export."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone

from webapp.services import exports, results
from webapp.services.campaigns import Campaign
from webapp.services.choices import CHOICES
from webapp.views.staffed import READ, WRITE, campaign_page


def _choice(request: HttpRequest) -> str:
    """Return which rows are asked for; anything unknown is what everybody sees first."""
    asked = request.GET.get("rows", "")
    return asked if asked in CHOICES else "counted"


def _context(campaign: Campaign, **more: object) -> dict[str, object]:
    choices = CHOICES.items()
    return {"campaign": campaign, "tab": "results", "choices": choices, **more}


@campaign_page(*READ)
def page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show what the ratings say."""
    shown = results.page(campaign=campaign, choice=_choice(request))
    context = _context(campaign, page=shown, choice=shown.choice)
    return render(request, "results/page.html", context)


@campaign_page(*READ)
def numbers(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Return every number of the page."""
    try:
        found = results.numbers(campaign=campaign, choice=_choice(request))
    except results.BadTable as bad:
        return JsonResponse({"problems": [str(problem) for problem in bad.problems]}, status=409)
    return JsonResponse(found, safe=False, json_dumps_params={"ensure_ascii": False})


@campaign_page(*READ)
def values(request: HttpRequest, campaign: Campaign, key: str) -> HttpResponse:
    """Return one table of the page as CSV."""
    try:
        name = request.GET.get("report", "")
        text = results.values(campaign=campaign, key=key, choice=_choice(request), name=name)
    except results.Unknown:
        raise Http404 from None
    except results.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    return _file(text.encode(), "text/csv; charset=utf-8", f"{key}.csv")


@campaign_page(*READ)
def report(request: HttpRequest, campaign: Campaign, name: str) -> HttpResponse:
    """Show a named report in the layout of its paper."""
    choice = _choice(request)
    try:
        shown = results.report(campaign=campaign, name=name, choice=choice)
    except results.Unknown:
        raise Http404 from None
    except results.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    context = _context(campaign, report=shown, parts=results.sections(shown), choice=choice)
    return render(request, "results/report.html", context)


@campaign_page(*READ)
def document(request: HttpRequest, campaign: Campaign, name: str) -> HttpResponse:
    """Return a named report as PDF."""
    return _made(request, campaign, name, results.document, "application/pdf", "pdf")


@campaign_page(*READ)
def code(request: HttpRequest, campaign: Campaign, name: str) -> HttpResponse:
    """Return a notebook that makes a named report again from the export."""
    return _made(request, campaign, name, results.code, "application/x-ipynb+json", "ipynb")


def _made(
    request: HttpRequest,
    campaign: Campaign,
    name: str,
    make: Callable[..., bytes | str],
    kind: str,
    suffix: str,
) -> HttpResponse:
    try:
        content = make(campaign=campaign, name=name, choice=_choice(request))
    except results.Unknown:
        raise Http404 from None
    except results.BadTable:
        return redirect("results", campaign.pk)  # which tells what is wrong
    return _file(content, kind, f"campaign-{campaign.pk}-{name}.{suffix}")


@campaign_page(*WRITE)
def export(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Hand out the export; that it was taken is logged, so this is no GET."""
    by = request.user.get_username()
    content = exports.download(campaign=campaign, by=by, now=timezone.now())
    return _file(content, "application/zip", f"campaign-{campaign.pk}.zip")


def _file(content: bytes | str, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=kind, headers=headers)


PLACE = "campaigns/<int:pk>/results"
urlpatterns = [
    path(f"{PLACE}/", page, name="results"),
    path(f"{PLACE}.json", numbers, name="results-numbers"),
    path(f"{PLACE}/export/", export, name="results-export"),
    path(f"{PLACE}/reports/<slug:name>/", report, name="results-report"),
    path(f"{PLACE}/reports/<slug:name>.pdf", document, name="results-document"),
    path(f"{PLACE}/reports/<slug:name>.ipynb", code, name="results-notebook"),
    path(f"{PLACE}/<str:key>.csv", values, name="results-values"),
]
