"""The page on which anybody checks a receipt: posted, so that it stands in no server's log."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation
from django.views.decorators.http import require_http_methods

from webapp import languages
from webapp.services.receipts import checking
from webapp.views.audience import Audience, meant_for


@meant_for(Audience.PUBLIC)
@require_http_methods(["GET", "HEAD", "POST"])
def receipts(request: HttpRequest) -> HttpResponse:
    """Show the form, and the verdict on each receipt that was posted."""
    text = request.POST.get("receipt", "")
    context = {"text": text, "found": checking.check_all(text)}
    with translation.override(languages.of_request(request, list(languages.NAMES))):
        return render(request, "participant/receipts.html", context)


urlpatterns = [path("receipts/", receipts, name="receipts")]
