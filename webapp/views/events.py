"""The conversation over plain HTTP: one frame in, frames out; everything that the socket does (R8).

GET is what `sync` is on the socket. docs/protocol.md describes both.
"""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import path
from django.utils import translation
from django.views.decorators.http import require_http_methods

from webapp import clock, languages
from webapp.services.conversation.page_session import PageSession, page_session
from webapp.services.participation import limits
from webapp.services.rules import access
from webapp.sockets import exchange, frames, handshake, version_1
from webapp.views.audience import Audience, meant_for


@meant_for(Audience.PARTICIPANT)
@require_http_methods(["GET", "POST"])
def conversation(request: HttpRequest, slug: str) -> JsonResponse:
    """Answer a frame, or return what is new."""
    try:
        secret = request.COOKIES.get(f"{settings.PARTICIPANT_COOKIE}-{slug}", "")
        key = request.GET.get("conversation") or request.GET.get(version_1.CONVERSATION, "")
        page = page_session(slug, secret, key=key, tab=request.headers.get("X-Tab", "")[:36])
    except access.NotFound:
        raise Http404 from None
    try:
        version = frames.check_version(request.GET.get("version", ""))
        frame = _frame(request, version)
    except frames.BadFrame as bad:
        return JsonResponse({"frames": [frames.answer_to(bad)]}, status=400)
    with translation.override(languages.of_request(request, page.languages)):
        if not handshake.allow(page.person_pk, frame):
            return _too_fast()
        answers = _answers(page, frame)
    if version == "1":
        answers = [version_1.answer(each) for each in answers]
    return JsonResponse({"frames": answers})


def _too_fast() -> JsonResponse:
    response = JsonResponse({"frames": [frames.error("too_fast")]}, status=429)
    response.headers["Retry-After"] = str(limits.seconds_left())
    return response


def _answers(page: PageSession, frame: frames.Frame) -> list[frames.Answer]:
    now = clock.now()
    page.note_sign_of_life(now)
    return exchange.act(page=page, frame=frame, now=now)


def _frame(request: HttpRequest, version: str) -> frames.Frame:
    if request.method == "POST":
        return frames.parse(request.body, version)
    after = request.GET.get("after", "0")
    if not (after.isascii() and after.isdigit() and len(after) < 10):
        raise frames.BadFrame(f"after: {after[:20]!r} is not a whole number")
    return frames.Sync(last_seq=int(after))


urlpatterns = [path("c/<slug:slug>/frames", conversation, name="frames")]
