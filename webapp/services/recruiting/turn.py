"""One turn with the panel: send what is queued, read what changed, pay what is owed.

Any number of processes may take turns: each step is claimed by a conditional UPDATE.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime

from django.db import Error, connection

from webapp import clock
from webapp.services.recruiting import client, paying, reviewing, studies, submissions

log = logging.getLogger(__name__)
PAUSE = 5.0  # seconds between two turns


def turn(now: datetime) -> dict[str, int]:
    """Do what is due; return how much of each kind was done."""
    if not client.is_on():
        return {}
    done = {"studies": studies.send_due(now), "persons": reviewing.send_due(now)}
    done["approved"] = paying.approve_due(now)
    changed = submissions.read_due(now)
    done["read"] = len(changed)
    paying.settle_batches(now)
    done["intended"] = sum(paying.intend(study, now) for study in changed)
    done["set_up"] = paying.set_up_due(now)
    done["paid"] = paying.pay_due(now)
    done["forgotten"] = submissions.forget_old(now=now)
    return done


def serve(ended: threading.Event) -> None:
    """Take turns until `ended` is set; trouble of the database or a call costs a pause."""
    while not ended.is_set():
        try:
            turn(clock.now())
        except Error as problem:
            log.warning("panel: database trouble: %s", type(problem).__name__)
            connection.close()
        except Exception:  # the loop must not end silently
            log.exception("panel")
        ended.wait(PAUSE)
