"""A researcher's pages of results: findings, named reports, also as PDF, numbers, export.

A campaign has them, and a study whose campaigns are read together: the same views answer at both
addresses. What they show is imported by the views themselves: pandas and scipy take a second and
150 MB, which processes that show no results do without.
"""

from __future__ import annotations

from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy

from webapp import clock
from webapp.services.rules.access import StaffCampaign, StaffStudy
from webapp.views.staff.access import READ, WRITE, NavLink, View, campaign_page, study_page

Evaluated = StaffCampaign | StaffStudy


def _choice(request: HttpRequest) -> str:
    """Return which rows are wanted; anything unknown is what everybody sees first."""
    from webapp.services.results.selection import CHOICES

    wanted = request.GET.get("rows", "")
    return wanted if wanted in CHOICES else "counted"


def _address(of: Evaluated) -> str:
    """Return where the results of a campaign or a study are."""
    name = "study-results" if isinstance(of, StaffStudy) else "results"
    return reverse(name, args=[of.pk])


def _context(of: Evaluated, **more: object) -> dict[str, object]:
    from webapp.services.results.selection import CHOICES

    kind = "study" if isinstance(of, StaffStudy) else "campaign"
    about = {kind: of, "subject": of, "layout": f"staff/{kind}_base.html", "tab": "results"}
    return {**about, "at": _address(of).rstrip("/"), "choices": CHOICES.items(), **more}


def page(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Show the results of the ratings."""
    from webapp.services.results import page as results_page

    choice = _choice(request)
    shown = results_page.page(of=of, choice=choice)
    context = _context(of, page=shown, choice=shown.choice)
    if isinstance(of, StaffStudy) and not shown.problems:
        found = results_page.study_reports(study=of, choice=choice)
        context["side_by_side"] = [(each, results_page.sections(each)) for each in found]
    return render(request, "results/page.html", context)


def numbers(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Return every number of the page."""
    from webapp.services.results import page as results_page

    try:
        found = results_page.numbers(of=of, choice=_choice(request))
    except results_page.BadTable as bad:
        return JsonResponse({"problems": [str(problem) for problem in bad.problems]}, status=409)
    return JsonResponse(found, safe=False, json_dumps_params={"ensure_ascii": False})


def values(request: HttpRequest, of: Evaluated, key: str) -> HttpResponse:
    """Return one table of the page as CSV."""
    from webapp.services.results import page as results_page

    try:
        name = request.GET.get("report", "")
        text = results_page.values(of=of, key=key, choice=_choice(request), name=name)
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect(_address(of))  # which tells what is wrong
    return _file(text.encode(), "text/csv; charset=utf-8", f"{key}.csv")


def report(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Show a named report in the layout of its paper."""
    from webapp.services.results import page as results_page

    choice = _choice(request)
    try:
        shown = results_page.report(of=of, name=name, choice=choice)
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect(_address(of))  # which tells what is wrong
    context = _context(of, report=shown, parts=results_page.sections(shown), choice=choice)
    return render(request, "results/report.html", context)


def document(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return a named report as PDF."""
    return _made(request, of, name, "document", "application/pdf", "pdf")


def code(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return a notebook that makes a named report again from the export."""
    return _made(request, of, name, "code", "application/x-ipynb+json", "ipynb")


def references(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return what a named report cites, as BibTeX."""
    return _made(request, of, name, "bibliography", "application/x-bibtex; charset=utf-8", "bib")


def _made(
    request: HttpRequest,
    of: Evaluated,
    name: str,
    make: Literal["document", "code", "bibliography"],
    kind: str,
    suffix: str,
) -> HttpResponse:
    from webapp.services.results import page as results_page

    try:
        content: bytes | str = getattr(results_page, make)(
            of=of, name=name, choice=_choice(request)
        )
    except results_page.Unknown:
        raise Http404 from None
    except results_page.BadTable:
        return redirect(_address(of))  # which tells what is wrong
    return _file(content, kind, f"{_stem(of)}-{name}.{suffix}")


def export(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Hand out the export; that it was taken is logged, so this is no GET."""
    from webapp.services.data import exports, study_exports

    by, now = request.user.get_username(), clock.now()
    if isinstance(of, StaffStudy):
        content = study_exports.download(study=of, by=by, now=now)
    else:
        content = exports.download(campaign=of, by=by, now=now)
    return _file(content, "application/zip", f"{_stem(of)}.zip")


def _stem(of: Evaluated) -> str:
    return f"{'study' if isinstance(of, StaffStudy) else 'campaign'}-{of.pk}"


def _file(content: bytes | str, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=kind, headers=headers)


TAB = NavLink(gettext_lazy("Results"), 50)
PAGES: tuple[tuple[str, str, View, tuple[str, ...]], ...] = (
    (".json", "-numbers", numbers, READ),
    ("/export/", "-export", export, WRITE),
    ("/reports/<slug:name>/", "-report", report, READ),
    ("/reports/<slug:name>.pdf", "-document", document, READ),
    ("/reports/<slug:name>.ipynb", "-notebook", code, READ),
    ("/reports/<slug:name>.bib", "-references", references, READ),
    ("/<str:key>.csv", "-values", values, READ),
)
PREFIX, OF_STUDY = "campaigns/<int:pk>/results", "studies/<int:study>/results"
urlpatterns = [
    path(f"{PREFIX}/", campaign_page(*READ, tab=TAB)(page), name="results"),
    path(f"{OF_STUDY}/", study_page(*READ)(page), name="study-results"),
    *(
        path(f"{PREFIX}{end}", campaign_page(*methods)(view), name=f"results{name}")
        for end, name, view, methods in PAGES
    ),
    *(
        path(f"{OF_STUDY}{end}", study_page(*methods)(view), name=f"study-results{name}")
        for end, name, view, methods in PAGES
    ),
]
