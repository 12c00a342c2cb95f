"""The webhook of a panel: a hint that a submission or a study has changed, signed (S5).

Off until something is subscribed. Nothing in the body is believed but which row to look at.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from msgspec import Struct, ValidationError, convert

from webapp import clock
from webapp.services.recruiting import hooks, submissions
from webapp.sockets import frames
from webapp.views.audience import Audience, meant_for

LONGEST_ID = 100


class PanelMessage(Struct):
    """What is read of an event."""

    event_type: str
    resource_id: str


@csrf_exempt  # it is no browser, and has no cookie that could be abused
@meant_for(Audience.SERVICE)
@require_POST
def events(request: HttpRequest) -> JsonResponse:
    """Take an event; what is not signed gets a 403, a repeat the same answer as the first."""
    if not hooks.is_subscribed():
        raise Http404
    now, headers = clock.now(), request.headers
    timestamp = headers.get("X-Prolific-Request-Timestamp", "")
    signature = headers.get("X-Prolific-Request-Signature", "")
    if not submissions.is_signed(
        body=request.body, timestamp=timestamp, signature=signature, now=now
    ):
        return JsonResponse({"ok": False}, status=403)
    event_id = headers.get("X-Event-ID", "")
    try:
        message = convert(frames.json_object(request.body), PanelMessage)
    except (frames.BadFrame, ValidationError, UnicodeEncodeError):
        return JsonResponse({"ok": False}, status=400)
    if not 0 < len(event_id) <= LONGEST_ID or not event_id.isascii():
        return JsonResponse({"ok": False}, status=400)
    submissions.take_event(
        event_id=event_id, kind=message.event_type, resource_id=message.resource_id, now=now
    )
    return JsonResponse({"ok": True})


urlpatterns = [path("panel/events", events, name="panel-events")]
