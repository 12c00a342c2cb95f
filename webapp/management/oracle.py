"""What the simulated crowd cannot see: whom a person talked to, and who their partner was.

A blinded client does not know its partner's system, so a crowd whose answers are to depend on a
planted quality asks the process that started it, over the pipe between them.
"""

from __future__ import annotations

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
