"""Probes: /healthz tells that the process answers, /readyz whether people can be sent to it.

They name nobody, and `webapp.middleware.Probes` answers them before anything asks for a host name,
HTTPS or a session: who probes knows an address and a port.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from webapp.services.ops import readiness
from webapp.sockets import draining
from webapp.views.audience import Audience, meant_for


@meant_for(Audience.PUBLIC)
@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    """Answer; without the database, whose outage no restart of this process would end."""
    return JsonResponse({"alive": True})


@meant_for(Audience.PUBLIC)
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Tell whether people can be sent here, and otherwise what is in the way."""
    lacking = [*readiness.lacking()]
    found: dict[str, Any] = {"ready": not lacking, "lacking": lacking}
    if draining.is_draining():
        found = {"ready": False, "lacking": ["draining", *lacking], "open": draining.open_now()}
    response = JsonResponse(found, status=200 if found["ready"] else 503)
    response.__dict__["_has_been_logged"] = True  # a 503 is an answer here, not an error to log
    return response


urlpatterns = [path("healthz", alive, name="healthz"), path("readyz", ready, name="readyz")]
