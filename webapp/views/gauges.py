"""/metrics: what Prometheus reads. Off until METRICS_TOKEN is set."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST

from webapp.services import gauges


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Tell the figures to who has the token, and to staff; to others there is no such page."""
    if not (settings.METRICS_TOKEN and (_has_token(request) or _is_staff(request))):
        raise Http404
    return HttpResponse(gauges.text(timezone.now()), content_type=CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return secrets.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())


def _is_staff(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


urlpatterns = [path("metrics", metrics, name="metrics")]
