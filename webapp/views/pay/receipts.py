"""The page on which anybody checks a receipt: posted, so that it stands in no server's log."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation
from django.views.decorators.http import require_http_methods, require_safe

from webapp import languages
from webapp.services.receipts import checking, signed_file
from webapp.views.audience import Audience, meant_for


@meant_for(Audience.PUBLIC)
@require_http_methods(["GET", "HEAD", "POST"])
def receipts(request: HttpRequest) -> HttpResponse:
    """Show the form, and the verdict on each receipt that was posted."""
    text = request.POST.get("receipt", "")
    found, keys = checking.check_all(text), signed_file.public_keys()
    context = {"text": text, "found": found, "keys": keys}
    with translation.override(languages.of_request(request, list(languages.NAMES))):
        return render(request, "participant/receipts.html", context)


@meant_for(Audience.PUBLIC)
@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """Tell the public keys by which files of receipts are checked, today's first, one a line."""
    content = "".join(f"{key}\n" for key in signed_file.public_keys())
    return HttpResponse(content, content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("receipts/", receipts, name="receipts"),
    path("receipts/key", keys, name="receipt-keys"),
]
