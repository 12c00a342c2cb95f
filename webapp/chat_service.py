"""The loop of a chat service: tell what is new, send what is due. A thread, or a command's work."""

from __future__ import annotations

import logging
import threading
from datetime import datetime

from django.db import Error, connection

from webapp import clock
from webapp.services.chat_service import incoming, outgoing, telling

log = logging.getLogger(__name__)
PAUSE = 0.5  # seconds between two looks, so much later is a reply there
HOUR = 3600.0


def serve(ended: threading.Event) -> None:
    """Work until `ended` is set; trouble of the database or a call costs a pause."""
    forgot = float("-inf")
    while not ended.is_set():
        try:
            now = clock.now()
            turn(now)
            if now.timestamp() - forgot > HOUR:
                incoming.forget_old(now=now)
                forgot = now.timestamp()
        except Error as problem:
            log.warning("chat service: database trouble: %s", type(problem).__name__)
            connection.close()
        except Exception:  # the loop must not end silently
            log.exception("chat service")
        ended.wait(PAUSE)


def turn(now: datetime, send: outgoing.Send = outgoing.post) -> int:
    """Queue what is new and send all that is due; return how many calls were tried."""
    telling.tell_all(now=now)
    tried = 0
    while count := outgoing.send_due(send, now=now):
        tried += count
    return tried
