"""/metrics: what Prometheus reads. Off until METRICS_TOKEN is set."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST

from webapp import clock
from webapp.services.accounts import sessions
from webapp.services.monitoring import gauges
from webapp.services.rules import access
from webapp.views.audience import Audience, meant_for


@meant_for(Audience.OPERATOR)
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Serve metrics to token holders and staff; everybody else gets a 404."""
    if not (settings.METRICS_TOKEN and (_has_token(request) or _is_staff(request))):
        raise Http404
    return HttpResponse(gauges.text(clock.now()), content_type=CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return secrets.compare_digest(token.encode(), settings.METRICS_TOKEN.encode())


def _is_staff(request: HttpRequest) -> bool:
    return access.is_staff(request.user) and not sessions.page_before(request.session)


urlpatterns = [path("metrics", metrics, name="metrics")]
