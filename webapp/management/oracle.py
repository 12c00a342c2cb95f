"""What the simulated crowd cannot see: whom a person talked to; and the process of the crowd.

A blinded client does not know its partner's system, so a crowd whose answers are to depend on a
planted quality asks the process that started it, over the pipe between them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from webapp.crowd.order import Order
from webapp.models import Campaign, Participation, Seat
from webapp.services import rating


def truth(campaign: Campaign, external_id: str) -> dict[str, str]:
    """Return the system, and the key of the true persona, of what a person judges now."""
    person = Participation.objects.filter(campaign=campaign, external__value=external_id).first()
    if person is None:
        return {}
    assignment = rating.current(person)
    if assignment is not None:
        candidate = assignment.item.candidates.select_related("system").get()
        judged = Seat.objects.filter(conversation=assignment.item.conversation, side=candidate.side)
        return {"system": candidate.system.name, "persona": _persona(judged.first())}
    seat = person.seats.filter(active=True).select_related("conversation__system").first()
    if seat is None:
        return {}
    partner = Seat.objects.filter(conversation=seat.conversation, side=1 - seat.side)
    return {"system": seat.conversation.system.name, "persona": _persona(partner.first())}


def _persona(seat: Seat | None) -> str:
    return seat.persona.key if seat is not None and seat.persona is not None else ""


class Crowd:
    """A crowd in a process of its own, with this one as its oracle."""

    def __init__(self, order: Order, campaign: Campaign, ledger: Path) -> None:
        self.order, self.campaign = order, campaign
        self.ended: list[str] = []
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-m", "webapp.crowd", str(ledger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=settings.BASE_DIR,
        )
        self._tell(order.line())
        self._listener = threading.Thread(target=self._listen, name="oracle", daemon=True)
        self._listener.start()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> int:
        """Wait for the last person; return the exit status."""
        status = self._process.wait(seconds)
        self._listener.join(5)
        return status

    def end(self) -> None:
        """Send everybody home."""
        self._process.kill()
        self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            said: Mapping[str, Any] = json.loads(line)
            if "ask" in said:
                known = truth(self.campaign, said["person"])
                self._tell(json.dumps({"answer": said["ask"], **known}))
            else:
                self.ended.append(said["ended"])
        connection.close()
