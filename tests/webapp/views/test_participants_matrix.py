"""Participants' addresses and frames by every kind of visitor: nobody reaches another's (G11).

What is tried is derived from the addresses and from the frames' schema; what is whose, from the
models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.webapp.services.people import bot_says
from tests.webapp.views.matrix import Attempt, Claims, actors, attempts, owned, told_to_nobody
from tests.webapp.views.visiting import Visit, campaign_of, good_answers
from webapp.models import Participation
from webapp.services.replies import delivery
from webapp.services.rules import access
from webapp.sockets import frames

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]


def chatting() -> Visit:
    """Return who wrote, and was told, what stands nowhere else."""
    visit = Visit(campaign_of(changes={"chat.minimum": [2]}, target=20))
    visit.join()
    visit.post("start")
    visit.send(type="message", id=str(uuid4()), text="My otter is called Zebedee.")
    conversation = visit.person.seats.get(active=True).conversation
    delivery.drop(conversation)
    bot_says(conversation, "Mine plays the euphonium.")
    return visit


def rating() -> Visit:
    visit = chatting()
    visit.send(type="finish", id=str(uuid4()))
    return visit


def ended() -> Visit:
    visit = rating()
    visit.post("rate", good_answers(visit.get()))
    return visit


STEPS = {"chat": chatting, "rate": rating, "ended": ended}


def tried(victim: Visit) -> dict[str, list[Attempt]]:
    """Return all attempts by each kind of visitor."""
    found = {}
    for actor in actors(victim):
        found[actor.name] = [*attempts(actor, Claims(victim))]
    return found


def holes(found: dict[str, list[Attempt]]) -> list[Attempt]:
    return [one for each in found.values() for one in each if one.told or one.changed]


@pytest.mark.parametrize("step", STEPS)
def test_nobody_reaches_what_is_another_person_s(step: str) -> None:
    victim = STEPS[step]()
    assert len(told_to_nobody(victim.person)) >= 4
    assert {"Participation", "Conversation", "Event"} <= {name for name, _ in owned(victim.person)}
    found = tried(victim)
    assert holes(found) == []
    assert len(found) >= 10
    assert all(len(each) > 100 for each in found.values())
    assert not [one for each in found.values() for one in each if one.status >= 500]
    assert victim.get().status_code == 200


def test_every_frame_there_is_is_tried() -> None:
    assert [frame["type"] for frame in Claims(chatting()).frames()] == [*frames.TYPES]


def by_number(know: Callable[..., Participation]) -> Callable[..., Participation]:
    """Believe a cookie that is the number of a participation."""

    def believing(slug: str, secret: str, *rest: Any, **more: Any) -> Participation:
        found = Participation.objects.filter(pk=secret) if secret.isdigit() else None
        return (
            found.select_related("campaign").get() if found else know(slug, secret, *rest, **more)
        )

    return believing


@pytest.mark.parametrize("step", ["chat", "ended"])
def test_a_door_that_is_left_open_is_found(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Planted: a cookie that is a participation's number is believed."""
    victim = STEPS[step]()
    monkeypatch.setattr(access, "participation", by_number(access.participation))
    (forged,) = [each for each in actors(victim) if each.name == "with a forged cookie"]
    found = [one for one in attempts(forged, Claims(victim)) if one.told or one.changed]
    assert any(one.told for one in found)
    assert any("Participation" in one.changed for one in found) or step == "ended"
