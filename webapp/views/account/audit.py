"""The audit log as a page, for administrators: sentences, filters and the state of the chain."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.services.monitoring import audit_log
from webapp.services.rules import audit
from webapp.services.rules.access import Role
from webapp.views.staff.access import READ, WRITE, staff_page


@staff_page(*READ, role=Role.ADMINISTRATOR)
def log(request: HttpRequest) -> HttpResponse:
    """List what was done, those entries that a filter leaves."""
    chosen = audit_log.read_filter(request.GET.dict())
    context = {
        "page": audit_log.entries(request.user, chosen, request.GET.get("page")),
        "campaigns": audit_log.campaigns(request.user),
        "kinds": list(audit_log.SENTENCES),
        "chosen": chosen,
        "query": urlencode({name: value for name, value in asdict(chosen).items() if value}),
        "chain": audit_log.chain(),
    }
    return render(request, "staff/audit.html", context)


@staff_page(*WRITE, role=Role.ADMINISTRATOR)
def check(request: HttpRequest) -> HttpResponse:
    """Check the whole chain now."""
    audit.check_whole(now=clock.now())
    messages.info(request, _("The log was checked from its first entry."))
    return redirect("audit")


urlpatterns = [
    path("audit/", log, name="audit"),
    path("audit/check/", check, name="audit-check"),
]
