"""The webhook of a chat service: one update per request, from nobody who lacks the secret (S5).

The updates have the shape of Telegram's Bot API, of which only the fields below are read. Off until
CHAT_SERVICE_TOKEN is set.
"""

from __future__ import annotations

import secrets
from typing import Annotated

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from msgspec import Meta, Struct, ValidationError, convert

from webapp import clock
from webapp.services.chat_service import incoming
from webapp.services.chat_service.incoming import Incoming
from webapp.sockets import frames
from webapp.views.audience import Audience, meant_for

HEADER = "X-Telegram-Bot-Api-Secret-Token"
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class ServiceSender(Struct):
    """A person, or a bot, there."""

    id: Number
    is_bot: bool = False
    language_code: str = ""


class ServiceChat(Struct):
    """Where a message was written; a private chat has the number of its person."""

    id: Number
    type: str


class ServiceMessage(Struct, rename={"sender": "from"}):
    """A message; what has no text, such as a picture, has "" here."""

    chat: ServiceChat
    sender: ServiceSender | None = None
    text: str = ""


class Press(Struct, rename={"sender": "from"}):
    """A button that was pressed, and the data that it was made with."""

    id: str
    sender: ServiceSender
    data: str = ""


class Update(Struct):
    """One update. Other kinds, such as an edited message, have neither of the last two."""

    update_id: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    message: ServiceMessage | None = None
    callback_query: Press | None = None


@csrf_exempt  # it is no browser, and has no cookie that could be abused
@meant_for(Audience.SERVICE)
@require_POST
def updates(request: HttpRequest) -> JsonResponse:
    """Take an update; whoever lacks the secret gets a 403, and where there is no service a 404."""
    if not settings.CHAT_SERVICE_TOKEN or not settings.CHAT_SERVICE_SECRET:
        raise Http404
    secret = request.headers.get(HEADER, "").encode("utf-8", "surrogateescape")
    if not secrets.compare_digest(secret, settings.CHAT_SERVICE_SECRET.encode()):
        return JsonResponse({"ok": False}, status=403)
    try:
        update = convert(frames.json_object(request.body), Update)
    except (frames.BadFrame, ValidationError, UnicodeEncodeError):
        return JsonResponse({"ok": False}, status=400)
    found = _incoming(update)
    if found is not None:
        incoming.take(found, now=clock.now())
    return JsonResponse({"ok": True})


def _incoming(update: Update) -> Incoming | None:
    """Return what a person wrote or pressed in a chat of their own; all else is left alone."""
    press, message = update.callback_query, update.message
    if press is not None:
        return _from(update, press.sender, press=press.id, data=press.data)
    if message is None or message.sender is None or message.chat.id != message.sender.id:
        return None
    return _from(update, message.sender, text=message.text)


def _from(update: Update, sender: ServiceSender, **what: str) -> Incoming | None:
    if sender.is_bot:
        return None
    return Incoming(
        number=update.update_id, sender=str(sender.id), language=sender.language_code, **what
    )


urlpatterns = [path("chat-service/updates", updates, name="chat-service-updates")]
