"""The pages on which people review a ranker's whitelist."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy, ngettext

from webapp import clock
from webapp.services.accounts import projects
from webapp.services.campaign import whitelists
from webapp.services.rules.access import Role, StaffWhitelist
from webapp.services.staff_forms import pasted
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import FORM, READ, NavLink, bad_form, staff_page, whitelist_page


@staff_page(
    *FORM, role=Role.VIEWER, change=Role.RUNNER, link=NavLink(gettext_lazy("Whitelists"), 20)
)
def index(request: HttpRequest) -> HttpResponse:
    """List the whitelists, and put up another."""
    context: dict[str, Any] = {
        "lists": whitelists.listed(request.user),
        "projects": projects.open_to(request.user),
    }
    if request.method != "POST":
        return render(request, "staff/whitelists.html", context)
    raw = {name: request.POST.get(name, "") for name in ("name", "text", "project")}
    try:
        upload = request.FILES.get("file")
        if upload is not None:
            raw["text"] = pasted.decode(upload.read(pasted.LARGEST + 1))
        found = whitelists.upload(**raw, by=request.user, now=clock.now())
    except Invalid as problem:
        context |= {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/whitelists.html", context)
    return redirect("whitelist", found)


@whitelist_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def review(request: HttpRequest, row: StaffWhitelist) -> HttpResponse:
    """Show a page of replies, and store the decisions on them."""
    params = {name: request.GET.get(name, "")[:200] for name in ("search", "decision", "page")}
    found = whitelists.review(row.pk, params["search"], params["decision"], params["page"])
    query = urlencode({name: params[name] for name in ("search", "decision") if params[name]})
    context = {"whitelist": row, "found": found, "query": query, **params}
    if request.method != "POST":
        return render(request, "staff/whitelist.html", context)
    raw = request.POST.dict()
    try:
        changed = whitelists.decide(whitelist=row.pk, raw=raw, by=request.user, now=clock.now())
    except Invalid as problem:
        context["found"] = whitelists.with_typed(found, raw, problem.problems)
        return bad_form(request, "staff/whitelist.html", context)
    text = ngettext("%(count)d decision is saved.", "%(count)d decisions are saved.", len(changed))
    messages.success(request, text % {"count": len(changed)})
    kept = urlencode({name: value for name, value in params.items() if value})
    return redirect(f"{reverse('whitelist', args=[row.pk])}?{kept}")


@whitelist_page(*READ, role=Role.VIEWER)
def download(request: HttpRequest, row: StaffWhitelist) -> HttpResponse:
    """Give the file as it was reviewed so far."""
    name = f"whitelist-{row.pk}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(
        whitelists.download(row.pk), content_type="application/x-ndjson", headers=headers
    )


urlpatterns = [
    path("whitelists/", index, name="whitelists"),
    path("whitelists/<int:whitelist>/", review, name="whitelist"),
    path("whitelists/<int:whitelist>/download/", download, name="whitelist-download"),
]
