"""Images of protocols, for participants and staff: public to whoever knows the SHA-256.

It names the bytes, so browsers may keep them for ever; nobody can guess one.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, register_converter
from django.views.decorators.http import require_safe

from webapp.services.rules import access
from webapp.services.staff_forms import protocol_images
from webapp.views.audience import Audience, meant_for

HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'",
}


class Digest:
    """A SHA-256 in an address."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


@meant_for(Audience.PUBLIC)
@require_safe
def image(request: HttpRequest, sha256: str) -> HttpResponse:
    """Return the bytes of an image."""
    try:
        content = protocol_images.content(sha256)
    except access.NotFound:
        raise Http404(sha256) from None
    return HttpResponse(content, content_type="image/webp", headers=HEADERS)


register_converter(Digest, "sha256")
urlpatterns = [path("images/<sha256:sha256>.webp", image, name="protocol-image")]
