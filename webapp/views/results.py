"""A researcher's pages of results: findings, named reports, also as PDF, numbers, export.

A campaign has them, and a study whose campaigns are read together: the same views answer at both
addresses. They show what was computed elsewhere and stored; what is not there yet is waited for on
a page that looks again by itself.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy

from analysis.arguments import TOKENIZERS
from analysis.registry import report_names
from webapp import clock, exporters
from webapp.forms.datasheet_form import DatasheetForm
from webapp.services.results import datasheets, shown, stored
from webapp.services.results.stored import Found
from webapp.services.rules.access import Role, StaffCampaign, StaffStudy
from webapp.views.file_parts import FileParts
from webapp.views.staff.access import FORM, READ, WRITE, NavLink, View, campaign_page, study_page

Evaluated = StaffCampaign | StaffStudy
WAIT = 202  # accepted: it is being computed
FAILED = 503


def _choice(request: HttpRequest) -> str:
    """Return which rows are wanted; anything unknown is what everybody sees first."""
    wanted = request.GET.get("rows", "")
    return wanted if wanted in shown.CHOICES else "counted"


def _address(of: Evaluated) -> str:
    """Return where the results of a campaign or a study are."""
    name = "study-results" if isinstance(of, StaffStudy) else "results"
    return reverse(name, args=[of.pk])


def _context(of: Evaluated, found: Found, **more: object) -> dict[str, object]:
    kind = "study" if isinstance(of, StaffStudy) else "campaign"
    about = {kind: of, "subject": of, "layout": f"staff/{kind}_base.html", "tab": "results"}
    at = {"at": _address(of).rstrip("/"), "choices": shown.CHOICES.items(), "choice": found.choice}
    return {**about, **at, "found": found, **more}


def _look(request: HttpRequest, of: Evaluated, name: str) -> Found:
    return stored.look(of=of, name=name, choice=_choice(request), now=clock.now())


def _waiting(request: HttpRequest, of: Evaluated, found: Found) -> HttpResponse:
    """Say that a result is being computed, or why it is not."""
    status = FAILED if found.problem else WAIT
    return render(request, "results/waiting.html", _context(of, found), status=status)


def page(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Show the results of the ratings."""
    found = _look(request, of, "page")
    if found.content is None:
        return _waiting(request, of, found)
    beside = [shown.report(each) for each in found.content["beside"]]
    context = _context(of, found, page=shown.page(found.content), side_by_side=beside)
    return render(request, "results/page.html", context)


def numbers(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Return every number of the page."""
    found = _look(request, of, "page")
    if found.content is None:
        state = {"problem": found.problem} if found.problem else {"computing": True}
        return JsonResponse(state, status=FAILED if found.problem else WAIT)
    if found.content["numbers"] is None:
        return JsonResponse({"problems": found.content["problems"]}, status=409)
    content = found.content["numbers"]
    return JsonResponse(content, safe=False, json_dumps_params={"ensure_ascii": False})


def values(request: HttpRequest, of: Evaluated, key: str) -> HttpResponse:
    """Return one table of the page, or of a named report, as CSV."""

    def table(found: Found) -> HttpResponse:
        part = next((each for each in found.content["parts"] if each["key"] == key), None)
        if part is None:
            raise Http404(key)
        return _file(part["csv"].encode(), "text/csv; charset=utf-8", f"{key}.csv")

    name = request.GET.get("report", "")
    return _shown(request, of, _named(request, "report", name) if name else "page", table)


def report(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Show a named report in the layout of its paper."""

    def drawn(found: Found) -> HttpResponse:
        report, parts = shown.report(found.content)
        counted = {
            "tokenizers": found.content.get("tokenizers", ()),
            "tokenizer": _counted(request),
        }
        context = _context(of, found, report=report, parts=parts, **counted)
        return render(request, "results/report.html", context)

    return _shown(request, of, _named(request, "report", name), drawn)


def document(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return a named report as PDF."""

    def pdf(found: Found) -> HttpResponse:
        made = base64.b64decode(found.content["pdf"])
        return _file(made, "application/pdf", f"{_stem(of)}-{name}.pdf")

    return _shown(request, of, _named(request, "document", name), pdf)


def code(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return a notebook that makes a named report again from the export."""

    def notebook(found: Found) -> HttpResponse:
        kind, file = "application/x-ipynb+json", f"{_stem(of)}-{name}.ipynb"
        return _file(found.content["notebook"], kind, file)

    return _shown(request, of, f"report/{_known(name)}", notebook)


def references(request: HttpRequest, of: Evaluated, name: str) -> HttpResponse:
    """Return what a named report cites, as BibTeX."""

    def cited(found: Found) -> HttpResponse:
        kind, file = "application/x-bibtex; charset=utf-8", f"{_stem(of)}-{name}.bib"
        return _file(found.content["references"], kind, file)

    return _shown(request, of, f"report/{_known(name)}", cited)


def heds(request: HttpRequest, of: StaffCampaign) -> HttpResponse:
    """Return the datasheet as the file that the form of HEDS 3.0 loads."""

    def file(found: Found) -> HttpResponse:
        if found.content.get("heds_own") != of.datasheet:  # one with these answers is on its way
            return _waiting(request, of, found)
        return _file(found.content["heds"], "application/json", f"{_stem(of)}-heds.json")

    return _shown(request, of, datasheets.REPORT, file)


def datasheet(request: HttpRequest, of: StaffCampaign) -> HttpResponse:
    """Show the datasheet's questions with what Parley says, and keep a researcher's own answers."""

    def questions(found: Found) -> HttpResponse:
        content = found.content
        if "heds_known" not in content:  # stored before there was a form: as above
            return _waiting(request, of, found)
        typed = request.POST if request.method == "POST" else None
        form = DatasheetForm(typed, known=content["heds_known"], own=of.datasheet)
        if form.is_bound and form.is_valid():
            by, now = request.user.get_username(), clock.now()
            answers, choice = form.answers(), _choice(request)
            datasheets.keep(campaign=of, answers=answers, choice=choice, by=by, now=now)
            return redirect(f"{reverse('results-datasheet', args=[of.pk])}?rows={choice}")
        filled, whole = content["heds_counts"]
        context = _context(of, found, form=form, filled=filled, whole=whole)
        status = 422 if form.is_bound else 200
        return render(request, "results/datasheet.html", context, status=status)

    return _shown(request, of, datasheets.REPORT, questions)


def _counted(request: HttpRequest) -> str:
    """Return the tokenizer that is wanted; anything unknown is what the report's paper counts."""
    wanted = request.GET.get("tokenizer", "")
    return wanted if wanted in TOKENIZERS else ""


def _named(request: HttpRequest, kind: str, name: str) -> str:
    """Return what a report or its PDF is stored under, by the tokenizer that was chosen."""
    return f"{kind}/{shown.with_tokenizer(_known(name), _counted(request))}"


def _known(name: str) -> str:
    if name not in report_names():
        raise Http404(name)
    return name


def _shown(
    request: HttpRequest, of: Evaluated, name: str, answer: Callable[[Found], HttpResponse]
) -> HttpResponse:
    """Answer with a stored result, or with the page that waits for it."""
    found = _look(request, of, name)
    if found.content is None:
        return _waiting(request, of, found)
    if found.content.get("unknown"):
        raise Http404(name)
    if found.content.get("bad"):
        return redirect(_address(of))  # which tells what is wrong
    response = answer(found)
    if found.made_at is not None:
        response.headers["Last-Modified"] = f"{found.made_at:%a, %d %b %Y %H:%M:%S GMT}"
    return response


def progress(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Say how a result stands; once it is there the page that asks is drawn anew."""
    name, since = request.GET.get("name", "page"), request.GET.get("since", "")
    found = stored.status(of=of, name=name, choice=_choice(request))
    response = render(request, "results/_progress.html", _context(of, found, since=since))
    if found.made_at is not None and found.made_at.isoformat() != since:
        response.headers["HX-Refresh"] = "true"
    return response


def again(request: HttpRequest, of: Evaluated) -> HttpResponse:
    """Compute a result anew: it failed, or there are newer answers."""
    name, choice = request.POST.get("name", "page"), request.POST.get("rows", "")
    kind, _, wanted = name.partition("/")
    if choice not in shown.CHOICES or (name != "page" and kind not in ("report", "document")):
        raise Http404(name)
    report, tokenizer = shown.without_tokenizer(wanted)
    if name != "page":
        _known(report)
    stored.want(of=of, name=name, choice=choice, now=clock.now())
    ends = {"page": "/", "report": f"/reports/{report}/", "document": f"/reports/{report}.pdf"}
    query = f"rows={choice}" + (f"&tokenizer={tokenizer}" if tokenizer else "")
    return redirect(f"{_address(of).rstrip('/')}{ends[kind]}?{query}")


def export(request: HttpRequest, of: Evaluated) -> FileParts:
    """Hand out the export; that it was taken is logged, so this is no GET."""
    file = exporters.download(of=of, by=request.user.get_username(), now=clock.now())
    return FileParts(file, "application/zip", f"{_stem(of)}.zip")


def _stem(of: Evaluated) -> str:
    return f"{'study' if isinstance(of, StaffStudy) else 'campaign'}-{of.pk}"


def _file(content: bytes | str, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=kind, headers=headers)


TAB = NavLink(gettext_lazy("Results"), 50)
LOOK: dict[str, Any] = {"role": Role.VIEWER}
TAKE: dict[str, Any] = {"role": Role.EXPORTER, "proof": True}
PAGES: tuple[tuple[str, str, View, tuple[str, ...], dict[str, Any]], ...] = (
    (".json", "-numbers", numbers, READ, LOOK),
    ("/progress/", "-progress", progress, READ, LOOK),
    ("/again/", "-again", again, WRITE, LOOK),
    ("/export/", "-export", export, WRITE, TAKE),
    ("/reports/<slug:name>/", "-report", report, READ, LOOK),
    ("/reports/<slug:name>.pdf", "-document", document, READ, LOOK),
    ("/reports/<slug:name>.ipynb", "-notebook", code, READ, LOOK),
    ("/reports/<slug:name>.bib", "-references", references, READ, LOOK),
    ("/<str:key>.csv", "-values", values, READ, LOOK),
)
PREFIX, OF_STUDY = "campaigns/<int:pk>/results", "studies/<int:study>/results"
urlpatterns = [
    path(f"{PREFIX}/", campaign_page(*READ, tab=TAB, **LOOK)(page), name="results"),
    # Of a campaign alone: a datasheet is of one experiment.
    path(f"{PREFIX}/heds.json", campaign_page(*READ, **LOOK)(heds), name="results-heds"),
    path(
        f"{PREFIX}/datasheet/",
        campaign_page(*FORM, change=Role.RUNNER, **LOOK)(datasheet),
        name="results-datasheet",
    ),
    path(f"{OF_STUDY}/", study_page(*READ, **LOOK)(page), name="study-results"),
    *(
        path(f"{PREFIX}{end}", campaign_page(*methods, **need)(view), name=f"results{name}")
        for end, name, view, methods, need in PAGES
    ),
    *(
        path(f"{OF_STUDY}{end}", study_page(*methods, **need)(view), name=f"study-results{name}")
        for end, name, view, methods, need in PAGES
    ),
]
