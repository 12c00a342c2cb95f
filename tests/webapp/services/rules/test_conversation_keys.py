"""Names of conversations in addresses: keyed, compared as a whole, valid after a change of key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from django.test import override_settings

from tests.webapp.services.people import pair, people_campaign
from webapp.models import Participation, Seat
from webapp.services.rules import access

pytestmark = pytest.mark.django_db
OLD_KEY, NEW_KEY = "the key of last year, " * 3, "the key of this year, " * 3
LENGTH = 16
Form = Callable[[Seat, str], str]


@pytest.fixture
def person() -> Participation:
    person, _ = pair(people_campaign())
    return person


def former(seat: Seat, key: str) -> str:
    """What pages were told by the release before."""
    return hashlib.sha256(f"{key}:seat:{seat.pk}".encode()).hexdigest()[:LENGTH]


FORMS = pytest.mark.parametrize(
    "form", [access.conversation_key, former], ids=["present", "former"]
)


def is_found(person: Participation, name: str) -> bool:
    try:
        return access.seat_by_key(person, name).participation == person
    except access.NotFound:
        return False


def with_another(name: str, position: int) -> str:
    other = "0" if name[position] != "0" else "1"
    return name[:position] + other + name[position + 1 :]


@FORMS
@override_settings(SECRET_KEY=NEW_KEY)
def test_every_character_of_a_name_counts(person: Participation, form: Form) -> None:
    """A page with another first, last or middle character is of no conversation."""
    name = form(person.seats.get(), NEW_KEY)
    assert len(name) == LENGTH
    assert is_found(person, name)
    for position in range(LENGTH):
        assert not is_found(person, with_another(name, position)), position
    for wrong in (name[:-1], name[1:], name + "0", name[0], name[-1], f"{name} "):
        assert not is_found(person, wrong), wrong


@FORMS
@override_settings(SECRET_KEY=NEW_KEY, SECRET_KEY_FALLBACKS=[OLD_KEY])
def test_a_page_that_was_drawn_before_a_change_of_key_is_known(
    person: Participation, form: Form
) -> None:
    seat = person.seats.get()
    assert is_found(person, form(seat, OLD_KEY))
    assert is_found(person, form(seat, NEW_KEY))
    assert not is_found(person, form(seat, "a key that was never ours"))
    with override_settings(SECRET_KEY_FALLBACKS=[]):
        assert not is_found(person, form(seat, OLD_KEY))


def test_a_name_depends_on_the_seat_and_on_the_key(person: Participation) -> None:
    seats = list(Seat.objects.all())
    names = {access.conversation_key(seat, key) for seat in seats for key in (OLD_KEY, NEW_KEY)}
    assert len(names) == 2 * len(seats) == 4
    assert names.isdisjoint(former(seat, key) for seat in seats for key in (OLD_KEY, NEW_KEY))
    with override_settings(SECRET_KEY=OLD_KEY):
        assert access.conversation_key(seats[0]) == access.conversation_key(seats[0], OLD_KEY)


def test_the_partner_s_name_is_not_ones_own(person: Participation) -> None:
    other = Seat.objects.exclude(participation=person).get()
    assert not is_found(person, access.conversation_key(other))
    with override_settings(SECRET_KEY=NEW_KEY):
        assert not is_found(person, former(other, NEW_KEY))
