"""Knowledge and actions that the simulated crowd lacks: the true partner, and freeing a slot.

A blinded client does not know its partner's system, so a crowd whose answers are to depend on a
planted quality asks the process that started it, over the pipe between them. It also reports
the people who walked off: of real people that is known after half an hour of silence only.
"""

from __future__ import annotations

import json
from datetime import timedelta

from evaluation import Screening
from webapp import clock
from webapp.models import Campaign, Participation, Seat
from webapp.services.participation import admission, stopping
from webapp.services.rating import submission
from webapp.services.rules import states


def let_go(campaign: Campaign, external_id: str) -> bool:
    """Give back the place of a person who has left; False where they held none."""
    person = _find(campaign, external_id)
    if person is None or person.state not in states.ACTIVE:
        return False
    try:
        stopping.give_away(person=person, now=clock.now(), silent=timedelta(0))
    except stopping.CameBack:
        return False
    return True


def truth(campaign: Campaign, external_id: str) -> dict[str, str]:
    """Return the system, the key of the true persona, and what was intended, of what is judged now.

    The system of each candidate on the page stands under the candidate's key.
    """
    person = _find(campaign, external_id)
    if person is None:
        return {}
    if person.state == Participation.State.ADMISSION:
        return _passing(person)
    assignment = submission.current(person)
    if assignment is not None:
        candidates = list(assignment.item.candidates.select_related("system", "conversation"))
        first = candidates[0]
        judged = Seat.objects.filter(conversation=first.conversation, side=first.side)
        systems = {candidate.key: candidate.system.name for candidate in candidates}
        return {
            "system": first.system.name,
            "persona": _persona(judged.first()),
            "intended": first.conversation.intended,
            **systems,
        }
    seat = person.seats.filter(active=True).select_related("conversation__system").first()
    if seat is None:
        return {}
    partner = Seat.objects.filter(conversation=seat.conversation, side=1 - seat.side)
    return {"system": seat.conversation.system.name, "persona": _persona(partner.first())}


def _passing(person: Participation) -> dict[str, str]:
    """Return the answers that pass, as a list of JSON, by the field of what is to be answered."""
    step = admission.pending(person)
    known = step.passes if isinstance(step, Screening) else step.answers if step else ()
    prefix = step.prefix if step else ""
    return {f"{prefix}.{each.question}": json.dumps([*map(str, each.values)]) for each in known}


def _find(campaign: Campaign, external_id: str) -> Participation | None:
    return Participation.objects.filter(campaign=campaign, external__value=external_id).first()


def _persona(seat: Seat | None) -> str:
    return seat.persona.key if seat is not None and seat.persona is not None else ""
