"""The file of all receipts of a participation: of its end, and of each acknowledged item.

Apart because it asks the database, as what an acknowledgment is made by must not.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F

from webapp.models import Assignment, Event, Participation
from webapp.services.receipts import acknowledging, issuing


def lines(person: Participation) -> list[str]:
    """Return a person's receipts: of the latest end, if any, then of messages, labels and forms.

    Those of items are made anew each time; what a withdrawal deleted has none any more.
    """
    end = issuing.latest(person)
    return [*([end] if end else []), *_entries(person), *_forms(person)]


def _entries(person: Participation) -> Iterator[str]:
    own = {"conversation__seats__participation": person, "conversation__seats__side": F("side")}
    rows = Event.objects.filter(kind__in=acknowledging.KINDS, client_id__isnull=False, **own)
    for event in rows.order_by("pk"):
        if not event.content.get("withdrawn"):
            yield acknowledging.of_event(event)


def _forms(person: Participation) -> Iterator[str]:
    if person.withdrawn_at is None:
        rows = Assignment.objects.filter(participation=person, state=Assignment.State.DONE)
        for assignment in rows.exclude(item__key__endswith=":live").order_by("pk"):
            yield acknowledging.of_assignment(assignment)
