"""Joining, resuming and getting a place (R1, R16, R21, R22)."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import F

from tests.factories import NOW, make_campaign, make_participation, make_system
from tests.webapp.admitted import QUIZ, campaign_with
from tests.webapp.services.people import (
    after,
    conversation_of,
    join,
    people_campaign,
    start,
)
from webapp.models import (
    Assignment,
    Campaign,
    CompletionCode,
    Consent,
    Conversation,
    ExternalId,
    Item,
    Participation,
    PayLedger,
    QuotaCell,
    Seat,
)
from webapp.services.conversation import opening
from webapp.services.participation import consents, enrolment, waiting_list
from webapp.services.rules import access, ledger, payment

pytestmark = pytest.mark.django_db
V, P = Campaign.State, Participation.State


def test_joining_creates_one_participation_and_again_resumes_it_and_both_cookies_hold() -> None:
    """R38: an id that is proven lets another browser in, and shuts the first one not out."""
    campaign = make_campaign()
    coming: dict[str, Any] = {
        "campaign": campaign,
        "platform": "mturk",
        "external_id": "A1",
        "language": "de",
    }
    first, old = enrolment.join(**coming, now=NOW)
    with pytest.raises(consents.Closed, match="claimed"):
        enrolment.join(**coming, now=after(5))
    again, new = enrolment.join(**coming, now=after(5), is_proven=True)
    assert first == again
    assert old != new
    assert Participation.objects.count() == 1
    assert access.participation(campaign.slug, new) == first
    assert access.participation(campaign.slug, old) == first
    _, kept = enrolment.join(**coming, now=after(6), browser=["a foreign one", old])
    assert kept == old
    consent = Consent.objects.get(participation=first)
    assert (consent.language, len(consent.text_hash)) == ("de", 64)


def test_the_outside_id_is_in_its_own_table_only() -> None:
    person = join(make_campaign(), "PROLIFIC-4711")
    assert ExternalId.objects.get(participation=person).value == "PROLIFIC-4711"
    assert "4711" not in person.pseudonym
    assert len(person.pseudonym) == 64


def test_the_same_id_of_another_platform_or_campaign_is_another_person() -> None:
    campaign, other = make_campaign(), make_campaign()
    names = {
        enrolment.join(campaign=c, platform=p, external_id="1", language="en", now=NOW)[0].pseudonym
        for c, p in ((campaign, "mturk"), (campaign, "prolific"), (other, "mturk"))
    }
    assert len(names) == 3


def test_volunteers_without_an_id_are_each_somebody_else() -> None:
    campaign = make_campaign()
    for _ in range(2):
        enrolment.join(
            campaign=campaign, platform="prolific", external_id="", language="en", now=NOW
        )
    assert set(ExternalId.objects.values_list("platform", flat=True)) == {"volunteer"}
    assert Participation.objects.count() == 2


@pytest.mark.parametrize(
    ("state", "notice"),
    [(V.DRAFT, "bad_link"), (V.PAUSED, "paused"), (V.STOPPED, "over"), (V.CLOSED, "over")],
)
def test_nobody_new_joins_a_campaign_that_is_not_open(state: str, notice: str) -> None:
    with pytest.raises(consents.Closed) as refusal:
        join(make_campaign(state=state))
    assert refusal.value.notice == notice
    assert not Participation.objects.exists()


def test_nobody_new_joins_while_odd_endings_are_looked_at() -> None:
    campaign = make_campaign()
    ledger.begin(campaign)
    PayLedger.objects.update(held_at=NOW)
    with pytest.raises(consents.Closed, match="paused"):
        join(campaign)
    assert not Participation.objects.exists()


def test_who_was_shown_more_pay_than_there_is_leaves_no_row() -> None:
    campaign = make_campaign(pay="2.00")
    coming: dict[str, Any] = {"campaign": campaign, "platform": "panel", "language": "en"}
    with pytest.raises(consents.PayChanged):
        enrolment.join(**coming, external_id="A1", now=NOW, shown_pay=Decimal("2.01"))
    assert not Participation.objects.exists()
    enrolment.join(**coming, external_id="A1", now=NOW, shown_pay=Decimal("2.00"))


def test_a_full_campaign_refuses_before_any_work() -> None:
    campaign = make_campaign(target=1)
    start(campaign)
    with pytest.raises(consents.Closed) as refusal:
        join(campaign)
    assert refusal.value.notice == "full"


def test_a_resumed_participation_is_let_in_though_the_campaign_is_over() -> None:
    campaign = make_campaign()
    person = start(campaign, "A1")
    Campaign.objects.update(state=V.STOPPED)
    campaign.refresh_from_db()
    assert join(campaign, "A1") == person


@pytest.mark.parametrize("wrong", ["x" * 129, "a\0b"])
def test_an_outside_id_that_cannot_be_stored_is_a_bad_link(wrong: str) -> None:
    with pytest.raises(consents.Closed) as refusal:
        join(make_campaign(), wrong)
    assert refusal.value.notice == "bad_link"


def test_starting_reserves_a_place_and_opens_the_conversation() -> None:
    campaign = make_campaign()
    person = start(campaign)
    assert person.state == "CHATTING"
    assert QuotaCell.objects.get().reserved == 1
    assert conversation_of(person).system == person.system
    assert conversation_of(person).seats.count() == 2


def test_starting_twice_takes_one_place() -> None:
    person = start(make_campaign())
    again = enrolment.start(person=person, now=after(1))
    assert again.state == "CHATTING"
    assert QuotaCell.objects.get().reserved == 1
    assert person.seats.count() == 1


def test_who_joined_but_finds_no_place_is_told_and_nothing_is_owed() -> None:
    campaign = make_campaign(target=1)
    late = join(campaign)
    start(campaign)
    ended = enrolment.start(person=late, now=after(1))
    assert (ended.state, ended.outcome) == ("ENDED", "FULL")
    assert not CompletionCode.objects.exists()
    QuotaCell.objects.update(target=2)
    ended = Participation.objects.get(pk=late.pk)
    external = ExternalId.objects.get(participation=late).value
    assert join(campaign, external).state == "READY"


def test_systems_fill_evenly() -> None:
    campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"}, target=4)
    make_system(campaign, "gamma", target=1)
    got = [start(campaign).system for _ in range(6)]
    assert Counter(system.name for system in got if system) == {"alpha": 3, "beta": 3}


def test_ties_between_systems_are_drawn() -> None:
    campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"})
    names = set()
    for _ in range(20):
        QuotaCell.objects.update(reserved=0)
        names.add(str(start(campaign).system))
    assert names == {"alpha", "beta"}


def test_a_paused_campaign_lets_who_is_ready_wait_and_nobody_start() -> None:
    campaign = make_campaign()
    person = join(campaign)
    Campaign.objects.update(state=V.PAUSED)
    with pytest.raises(consents.Closed) as refusal:
        enrolment.start(person=person, now=NOW)
    assert refusal.value.notice == "paused"
    person.refresh_from_db()
    assert person.state == "READY"


def test_status_shows_the_place_in_the_queue_and_the_countdown() -> None:
    campaign = make_campaign("personachat_human", systems={"humans": "people"}, wait_seconds=60)
    person = start(campaign)
    shown = enrolment.status(person=person, now=after(20))
    assert shown["screen"] == "waiting"
    assert (shown["position"], shown["seconds_waiting"], shown["seconds_left"]) == (1, 20.0, 40.0)
    assert shown["choices"] == []
    late = enrolment.status(person=person, now=after(60))
    assert late["choices"] == ["give_up"]
    assert late["stamp"] != shown["stamp"]


def test_a_sign_of_life_is_kept() -> None:
    person = join(make_campaign())
    enrolment.note_sign_of_life(person=person, now=after(1))
    person.refresh_from_db()
    assert person.seen_at == NOW
    enrolment.note_sign_of_life(person=person, now=after(30))
    person.refresh_from_db()
    assert person.seen_at == after(30)


def test_who_comes_back_gives_a_sign_of_life() -> None:
    person = start(make_campaign(), "A1")
    join(person.campaign, "A1", after(40))
    person.refresh_from_db()
    assert person.seen_at == after(40)


def test_a_page_that_waits_lets_the_bot_come_whose_time_it_is() -> None:
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"})
    QuotaCell.objects.filter(system__bot="people").update(target=0)
    person = start(campaign)
    person.seats.update(active=False)  # where the wait that was drawn was none
    waits = {"state": P.WAITING, "state_at": NOW, "partner_at": after(20), "seen_at": after(19)}
    Participation.objects.filter(pk=person.pk).update(**waits)
    for seconds, state in ((19, P.WAITING), (20, P.MATCHED)):
        person = Participation.objects.select_related("campaign", "system").get(pk=person.pk)
        assert enrolment.status(person=person, now=after(seconds))["state"] == state


def test_who_comes_back_while_at_work_is_bound_to_the_better_pay() -> None:
    campaign = make_campaign(pay="2.00")
    person = start(campaign, "A1")
    for now_paid, bound in (("1.00", "2.00"), ("3.00", "3.00")):
        Campaign.objects.update(pay=now_paid)
        join(Campaign.objects.get(), "A1")
        person.refresh_from_db()
        assert str(person.pay) == bound


def test_who_was_paid_keeps_what_was_promised() -> None:
    campaign = make_campaign(pay="2.00")
    person = start(campaign, "A1")
    payment.settle(person=person, outcome="COMPLETED", now=NOW)
    Campaign.objects.update(pay="3.00")
    join(Campaign.objects.get(), "A1")
    person.refresh_from_db()
    assert str(person.pay) == "2.00"


def started_with(campaign: Campaign, cents: int) -> Participation:
    """Return somebody who starts when the budget has so many cents left."""
    person = join(campaign)
    ledger.begin(campaign)
    PayLedger.objects.update(budget=F("reserved") + cents)
    enrolment.start(person=person, now=NOW)
    person.refresh_from_db()
    return person


@pytest.mark.parametrize(("cents", "outcome"), [(29, "FULL"), (30, ""), (31, "")])
def test_who_is_to_pass_a_quiz_first_has_the_pay_of_failing_it_reserved(
    cents: int, outcome: str
) -> None:
    """R37."""
    campaign = campaign_with(QUIZ, budget="9.00", waiting_pay="0.00", screening_pay="0.30")
    person = started_with(campaign, cents)
    held = "0.00" if outcome else "0.30"
    assert (person.outcome, str(person.reserved_pay)) == (outcome, held)
    assert person.state == (P.ENDED if outcome else P.ADMISSION)
    assert not person.holds_slot


@pytest.mark.parametrize(("cents", "state"), [(199, P.ENDED), (200, P.CHATTING)])
def test_a_place_without_its_pay_is_given_back(cents: int, state: str) -> None:
    """R37: both are reserved, or neither."""
    campaign = make_campaign(waiting_pay="0.00", budget="9.00")
    person = started_with(campaign, cents)
    assert (person.state, QuotaCell.objects.get().reserved) == (state, int(state == P.CHATTING))
    assert person.holds_slot is (state == P.CHATTING)


def test_a_form_is_about_the_seat_of_its_own_conversation() -> None:
    campaign = make_campaign()
    person = make_participation(campaign)
    rooms = [
        Conversation.objects.create(
            campaign=campaign, system=campaign.systems.get(), seed=n, started_at=NOW
        )
        for n in range(2)
    ]
    seats = [
        Seat.objects.create(conversation=room, side=0, participation=person, active=False)
        for room in rooms
    ]
    item = Item.objects.create(campaign=campaign, key="i", conversation=rooms[0], target=1)
    form = Assignment.objects.create(item=item, participation=person, place=0)
    assert enrolment._seat_of(form) == seats[0]


@pytest.mark.parametrize(("cents", "is_open"), [(199, False), (200, True), (201, True)])
def test_who_comes_is_let_in_where_the_budget_has_their_pay_to_the_cent(
    cents: int, is_open: bool
) -> None:
    """R37."""
    campaign = make_campaign(waiting_pay="0.00", pay="2.00", budget="9.00")
    ledger.begin(campaign)
    PayLedger.objects.update(budget=F("reserved") + cents)
    if is_open:
        enrolment.check_open(campaign, NOW)
        return
    with pytest.raises(consents.Closed) as refused:
        enrolment.check_open(campaign, NOW)
    assert refused.value.notice == "full"


def test_status_names_the_persona_that_the_page_shows() -> None:
    """So that the page is drawn anew when another one is drawn."""
    person = start(people_campaign())
    assert person.state == P.WAITING
    assert person.persona_id
    assert enrolment.status(person=person, now=NOW)["character"] == person.persona_id
    start(person.campaign)
    person.refresh_from_db()
    matched = enrolment.status(person=person, now=NOW)
    assert matched["state"] == P.MATCHED
    assert matched["character"] == person.seats.get().persona_id
    Seat.objects.update(persona=None)
    assert enrolment.status(person=person, now=NOW)["character"] == 0
    reader = join(make_campaign("meena_interactive", personas=0))
    assert enrolment.status(person=reader, now=NOW)["character"] == 0


@pytest.mark.parametrize(("seconds", "state"), [(3.9, P.MATCHED), (4.0, P.CHATTING)])
def test_a_page_that_waits_lets_the_bot_answer_whose_time_it_is(seconds: float, state: str) -> None:
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"})
    QuotaCell.objects.filter(system__bot="people").update(target=0)
    person = start(campaign)
    alpha = campaign.systems.get(bot="parrot")
    Seat.objects.all().delete()
    Participation.objects.filter(pk=person.pk).update(state=P.MATCHED)
    opening.ask_before_bot(person=person, system=alpha, at=NOW)
    Seat.objects.filter(side=1).update(answers_at=after(4))
    opening.meet(person=person, now=after(1))
    person = Participation.objects.select_related("campaign", "system").get(pk=person.pk)
    assert enrolment.status(person=person, now=after(seconds))["state"] == state


@pytest.mark.parametrize(
    ("left", "shown"), [(None, {}), (-2.0, {"seconds_left": 0.0}), (0.4, {"seconds_left": 0.4})]
)
def test_no_less_than_no_time_is_left(left: float | None, shown: dict[str, float]) -> None:
    found = enrolment._on_list(waiting_list.Position(2, 7.0, left))
    assert found == {"position": 2, "seconds_waiting": 7.0, **shown}
