"""The contact for reporting a weakness: /.well-known/security.txt (RFC 9116), where it is set."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.views.audience import Audience, meant_for

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


urlpatterns = [path(".well-known/security.txt", contact, name="security-contact")]
