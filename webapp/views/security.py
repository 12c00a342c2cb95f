"""Contact for reporting a weakness (RFC 9116), and what browsers report of the content policy."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, path, resolve
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from webapp.services.participation import limits
from webapp.sockets import frames
from webapp.views.audience import Audience, meant_for

log = logging.getLogger(__name__)
WORD = re.compile(r"[a-z-]{1,40}")  # a directive, and what a browser says instead of an address
VALID = timedelta(days=90)  # RFC 9116 asks for less than a year


@meant_for(Audience.PUBLIC)
@require_safe
def contact(request: HttpRequest) -> HttpResponse:
    """Return the contact that SECURITY_CONTACT names, a mailto: or https: address."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + VALID).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = (f"Contact: {settings.SECURITY_CONTACT}", f"Expires: {expires}")
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain")


@csrf_exempt  # a browser sends it by itself, and it changes nothing
@meant_for(Audience.PUBLIC)
@require_POST
def violation(request: HttpRequest) -> HttpResponse:
    """Log that a page broke its content policy: which directive, which page, what host (S7).

    Nothing else of the report, which strangers can send as well, is read: no address with an id, no
    sample of a script. More than some in a minute are not logged.
    """
    try:
        report = frames.json_object(request.body).get("csp-report")
    except frames.BadFrame:
        return HttpResponse(status=400)
    if not isinstance(report, dict):
        return HttpResponse(status=400)
    if limits.allow(limits.REPORTS, "all"):
        directive = _word(report.get("effective-directive") or report.get("violated-directive"))
        page, blocked = _page(report.get("document-uri")), _host(report.get("blocked-uri"))
        log.warning("content policy: %s of the page %s refused %s", directive, page, blocked)
    return HttpResponse(status=204)


def _word(text: Any) -> str:
    first = str(text or "").split(" ")[0]
    return first if WORD.fullmatch(first) else "?"


def _page(address: Any) -> str:
    """Return the name of the page, without the campaign that is in its address."""
    try:
        return str(resolve(urlsplit(str(address)).path).url_name)
    except (Resolver404, ValueError):
        return "?"


def _host(address: Any) -> str:
    """Return a host, or a word such as inline."""
    try:
        host = urlsplit(str(address)).hostname
    except ValueError:
        return "?"
    return host if host and re.fullmatch(r"[a-z0-9.:-]{1,100}", host) else _word(address)


urlpatterns = [
    path("csp-reports", violation, name="csp-reports"),
    path(".well-known/security.txt", contact, name="security-contact"),
]
