"""Two people of whom one rates: a campaign ends when its ratings are there (R16, R21, V7).

Everybody acts by their own pages; who is away is found by the sweeper.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.webapp.views.visiting import Visit, campaign_of, good_answers
from webapp import clock, notices
from webapp.models import Campaign, CompletionCode, Event, Participation, QuotaCell, Rating
from webapp.services.ops import sweeper

pytestmark = pytest.mark.django_db
Pair = tuple[Visit, Visit]  # who rates comes first


def people(target: int, **changes: Any) -> Campaign:
    """Return a campaign of people with the shortest chats."""
    wanted: dict[str, Any] = {"changes": {"chat.minimum": [2]}, "budget": "100.00"}
    systems = {"alphasystem": "people"}
    return campaign_of("personachat_human", systems=systems, target=target, **wanted | changes)


def met(campaign: Campaign) -> Pair:
    """Return two people in a conversation."""
    two = (Visit(campaign), Visit(campaign))
    for each in two:
        each.join()
        each.post("start")
    for each in two:
        each.post("meet")
    first, second = sorted(two, key=lambda each: not each.person.seats.get().rates)
    return first, second


def speak(*visits: Visit) -> None:
    for each in visits:
        (ack,) = each.send(type="message", id=str(uuid4()), text="Hello there.")
        assert ack["type"] == "ack"


def chatted(campaign: Campaign) -> Pair:
    """Return two people whose conversation is over."""
    two = met(campaign)
    first_side = two[0].person.seats.get().conversation.first_side
    speak(*sorted(two, key=lambda each: each.person.seats.get().side != first_side))
    two[0].send(type="finish", id=str(uuid4()))
    return two


def rate(visit: Visit) -> None:
    visit.post("rate", good_answers(visit.get()))


def stop(visit: Visit) -> None:
    visit.post("stop")


def vanish(visit: Visit) -> None:
    """Let somebody be away until the sweeper gives their place away."""
    away = clock.now() - timedelta(hours=1)
    Participation.objects.filter(pk=visit.person.pk).update(seen_at=away)
    Event.objects.filter(conversation__seats__participation=visit.person).update(made_at=away)
    sweeper.tick(clock.now())
    assert visit.person.outcome == "LEFT"


def withdraw(visit: Visit) -> None:
    visit.post(f"withdraw/{visit.get().context['screen'].private}")


def rate_and_withdraw(visit: Visit) -> None:
    rate(visit)
    withdraw(visit)


def cell() -> tuple[int, int]:
    """Return what is reserved and what is completed."""
    found = QuotaCell.objects.get()
    return found.reserved, found.completed


def state_after(campaign: Campaign) -> str:
    """Return the campaign's state after the sweeper's turn."""
    sweeper.tick(clock.now())
    campaign.refresh_from_db()
    return campaign.state


def rated() -> int:
    """Return how many conversations are rated."""
    return Rating.objects.values("assignment").distinct().count()


def is_paid(person: Participation) -> bool:
    return CompletionCode.objects.filter(participation=person, amount=2).exists()


@pytest.mark.parametrize("fate", [vanish, stop, rate_and_withdraw])
def test_a_campaign_goes_on_until_its_rating_is_there(fate: Callable[[Visit], None]) -> None:
    """The first who rates leaves, stops, or withdraws: none of that is the rating asked for."""
    campaign = people(2)
    rater, other = chatted(campaign)
    assert (cell(), other.person.outcome) == ((2, 0), "COMPLETED")
    assert is_paid(other.person)
    fate(rater)
    assert (cell(), rated(), state_after(campaign)) == ((0, 0), 0, "OPEN")
    rater, other = chatted(campaign)
    assert notices.text("full") in Visit(campaign).join().content.decode()
    assert (cell(), state_after(campaign)) == ((2, 0), "OPEN")
    rate(rater)
    assert (cell(), rated(), state_after(campaign)) == ((0, 2), 1, "CLOSED")
    assert is_paid(rater.person)
    assert is_paid(other.person)


@pytest.mark.parametrize(("target", "wanted"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_as_many_rate_as_were_asked_for(target: int, wanted: int) -> None:
    """One more cannot come: a single slot would keep somebody waiting for nobody."""
    campaign = people(target)
    for number in range(wanted):
        assert (rated(), state_after(campaign)) == (number, "OPEN")
        rate(chatted(campaign)[0])
    refused = Visit(campaign).join().content.decode()
    assert notices.text("full") in refused
    assert (rated(), state_after(campaign), cell()) == (wanted, "CLOSED", (0, 2 * wanted))


def test_who_comes_back_to_rate_takes_both_slots_again_or_begins_anew() -> None:
    campaign = people(2)
    rater, _ = chatted(campaign)
    vanish(rater)
    rater.join()
    assert (rater.person.state, cell()) == ("RATING", (2, 0))
    vanish(rater)
    waits = Visit(campaign)
    waits.join()
    waits.post("start")
    rater.join()
    assert (rater.person.state, cell()) == ("READY", (1, 0))
    vanish(waits)
    rater.post("start")
    assert (rater.person.state, cell()) == ("WAITING", (1, 0))


@pytest.mark.parametrize("counts", [True, False])
def test_of_a_conversation_that_was_left_only_a_rating_counts(counts: bool) -> None:
    campaign = people(2, partner_left_counts=counts)
    for gone in (0, 1):
        two = met(campaign)
        first_side = two[0].person.seats.get().conversation.first_side
        speak(*sorted(two, key=lambda each: each.person.seats.get().side != first_side))
        two[gone].post("stop")
        stayed = two[1 - gone]
        if gone == 0:
            assert (stayed.person.outcome, cell()) == ("PARTNER_LEFT", (0, 0))
            continue
        assert (stayed.person.state, cell()) == ("RATING", (2 if counts else 1, 0))
        rate(stayed)
        assert is_paid(stayed.person)
    assert (cell(), rated()) == ((0, 2 if counts else 0), 1)
    assert state_after(campaign) == ("CLOSED" if counts else "OPEN")


def test_a_rating_outlives_the_withdrawal_of_who_was_rated() -> None:
    rater, other = chatted(people(4))
    rate(rater)
    withdraw(other)
    assert (cell(), rated()) == ((0, 2), 1)
    withdraw(rater)
    assert (cell(), rated()) == ((0, 0), 0)
