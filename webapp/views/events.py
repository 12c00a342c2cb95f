"""The conversation over plain HTTP: one frame in, frames out; everything that the socket does (R8).

GET is what `sync` is on the socket. docs/protocol.md describes both.
"""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from webapp import exchange, frames
from webapp.services import access, chat


@require_http_methods(["GET", "POST"])
def conversation(request: HttpRequest, slug: str) -> JsonResponse:
    """Answer a frame, or tell what is new."""
    try:
        secret = request.COOKIES.get(f"{settings.PARTICIPANT_COOKIE}-{slug}", "")
        person = access.participation(slug, secret)
        seat = access.seat_of_talk(person, request.GET.get("talk", ""))
    except access.NotFound:
        raise Http404 from None
    try:
        frame = _asked(request)
    except frames.BadFrame as bad:
        return JsonResponse({"frames": [frames.answer_to(bad)]}, status=400)
    page = exchange.Page(person, seat.conversation_id, request.headers.get("X-Tab", "")[:36])
    now = timezone.now()
    chat.seen(person=person, now=now)
    return JsonResponse({"frames": exchange.act(page=page, frame=frame, now=now)})


def _asked(request: HttpRequest) -> frames.Frame:
    if request.method == "POST":
        return frames.parse(request.body)
    after = request.GET.get("after", "0")
    if not (after.isascii() and after.isdigit() and len(after) < 10):
        raise frames.BadFrame(f"after: {after[:20]!r} is not a whole number")
    return {"type": "sync", "last_seen": int(after)}


urlpatterns = [path("c/<slug:slug>/frames", conversation, name="frames")]
