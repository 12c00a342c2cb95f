"""Several conversations per participation, each with another system (R16, R19, R21)."""

from __future__ import annotations

import uuid
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    meet_bot,
    send_message,
    start,
)
from webapp.models import Assignment, Campaign, Flag, Participation, QuotaCell, Rating, Seat
from webapp.services.campaign import checklist
from webapp.services.conversation import chat, opening
from webapp.services.data import conversation_records, tables
from webapp.services.participation import enrolment, privacy, screens, stopping
from webapp.services.rating import submission
from webapp.services.rating.labels import LabelRefused

pytestmark = pytest.mark.django_db
NAMES = ("alpha", "beta", "gamma", "delta")
EACH = Decimal("2.00")
MINIMUM = 4


def campaign_of(rounds: int, *, systems: int = 4, target: int = 10, **changes: Any) -> Campaign:
    """Return a campaign with bots whose participants may have so many conversations."""
    return make_campaign(
        systems=dict.fromkeys(NAMES[:systems], "parrot"),
        target=target,
        changes={"chat.conversations": rounds, "chat.minimum": [MINIMUM]},
        **changes,
    )


def go_on(person: Participation) -> Participation:
    """Return the person after they pressed start."""
    return enrolment.start(person=person, now=NOW)


def talk(person: Participation, messages: int = MINIMUM) -> None:
    """Let the person and the bot write by turns."""
    for number in range(messages):
        if number % 2:
            bot_says(conversation_of(person), f"answer {number}")
        else:
            send_message(person, f"message {number} of {conversation_of(person).pk}")


def answers_of(person: Participation) -> dict[str, str]:
    """Return complete answers to the form that the person is shown."""
    assignment = submission.current(person)
    assert assignment is not None
    shown = submission.shown_to(assignment)
    (key,) = shown.candidates
    scales = {f"{key}.{name}": "4" for name in ("fluency", "engagingness", "consistency")}
    return scales | {f"{key}.persona": shown.choices["persona"][0]}


def finish(person: Participation) -> dict[str, str]:
    """Let the person finish the chat and rate it; return what was sent."""
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    sent = answers_of(person)
    submission.submit(person=person, answers=sent, now=NOW)
    person.refresh_from_db()
    return sent


def have(person: Participation, rounds: int = 1) -> Participation:
    """Let a person who is ready have so many conversations and rate them."""
    for _ in range(rounds):
        go_on(person)
        talk(person)
        finish(person)
    return person


def paid(person: Participation) -> Decimal | None:
    code = getattr(Participation.objects.get(pk=person.pk), "code", None)
    return None if code is None else code.amount


def systems_of(person: Participation) -> list[str]:
    seats = person.seats.order_by("round").select_related("conversation__system")
    return [seat.conversation.system.name for seat in seats]


# --- the order of systems ---------------------------------------------------------------------


def test_a_person_meets_each_system_once_and_rates_each_by_itself() -> None:
    person = have(join(campaign_of(4)), 3)
    assert person.state == "READY"
    assert paid(person) is None
    have(person)
    assert (person.state, person.outcome) == ("ENDED", "COMPLETED")
    assert sorted(systems_of(person)) == sorted(NAMES)
    assert list(person.seats.order_by("pk").values_list("round", flat=True)) == [0, 1, 2, 3]
    assert list(person.assignments.order_by("pk").values_list("place", flat=True)) == [0, 1, 2, 3]
    assert Rating.objects.filter(assignment__participation=person).count() == 16
    assert set(QuotaCell.objects.values_list("completed", "reserved")) == {(1, 0)}
    assert paid(person) == 4 * EACH


def test_systems_stand_in_each_round_equally_often_and_orders_differ() -> None:
    """After everybody: each system in each round as often as any other, within one."""
    campaign = campaign_of(4, target=50)
    orders = []
    for people in range(1, 12):
        orders.append(tuple(systems_of(have(join(campaign), 4))))
        seats = Seat.objects.exclude(participation=None)
        counts = Counter(seats.values_list("round", "conversation__system__name"))
        assert sum(counts.values()) == 4 * people
        per_cell = [counts[number, name] for number in range(4) for name in NAMES]
        assert max(per_cell) - min(per_cell) <= 1
    assert len(set(orders[:8])) >= 4


def test_a_system_that_lost_conversations_gets_them_back() -> None:
    """Conversations that were left do not count as places taken."""
    campaign = campaign_of(2, systems=2, target=50)
    for _ in range(3):
        person = start(campaign)
        stopping.stop(person=person, now=after(1))
    first = Counter(systems_of(have(join(campaign), 2))[0] for _ in range(6))
    assert first == {"alpha": 3, "beta": 3}


def test_two_of_four_systems_are_shared_out_evenly() -> None:
    campaign = campaign_of(2, target=50)
    for _ in range(10):
        have(join(campaign), 2)
    assert set(QuotaCell.objects.values_list("completed", flat=True)) == {5}


# --- the end ----------------------------------------------------------------------------------


def test_with_one_conversation_nothing_follows() -> None:
    person = have(join(campaign_of(1)))
    assert (person.state, paid(person)) == ("ENDED", EACH)


def test_who_has_met_all_systems_that_are_open_is_done() -> None:
    campaign = campaign_of(3)
    QuotaCell.objects.exclude(system__name__in=("alpha", "beta")).update(completed=10)
    person = have(join(campaign), 2)
    assert (person.state, person.outcome, paid(person)) == ("ENDED", "COMPLETED", 2 * EACH)


def test_a_campaign_that_fills_between_two_rounds_pays_for_what_is_done() -> None:
    person = have(join(campaign_of(4)))
    QuotaCell.objects.update(completed=10)
    go_on(person)
    person.refresh_from_db()
    assert (person.state, person.outcome, paid(person)) == ("ENDED", "COMPLETED", EACH)


def test_a_paused_campaign_ends_with_the_round() -> None:
    campaign = campaign_of(4)
    person = go_on(join(campaign))
    talk(person)
    Campaign.objects.update(state=Campaign.State.PAUSED)
    finish(person)
    assert (person.state, paid(person)) == ("ENDED", EACH)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_stopping_between_rounds_is_no_quitting(rounds: int) -> None:
    person = have(join(campaign_of(4)), rounds)
    told = screens.show(person=person, now=NOW).stop
    ended = stopping.stop(person=person, now=NOW)
    assert (ended.outcome, paid(person)) == ("COMPLETED", rounds * EACH)
    assert f"{rounds * EACH} USD" in told
    assert not Flag.objects.filter(kind="stopped_early").exists()


@pytest.mark.parametrize(
    ("rule", "messages", "part"),
    [
        ("SHARE", 1, "0.00"),  # below the least work, which is two messages here
        ("SHARE", 2, "1.00"),
        ("SHARE", 3, "1.50"),
        ("SHARE", 4, "2.00"),
        ("SHARE", 5, "2.00"),
        ("FULL", 1, "0.00"),
        ("FULL", 2, "2.00"),
        ("MINIMUM", 3, "0.00"),
        ("MINIMUM", 4, "2.00"),
    ],
)
def test_stopping_within_a_round_adds_what_the_rule_says(
    rule: str, messages: int, part: str
) -> None:
    person = have(join(campaign_of(4, quit_rule=rule, least_work=2)), 2)
    go_on(person)
    talk(person, messages)
    ended = stopping.stop(person=person, now=NOW)
    assert (ended.outcome, paid(person)) == ("QUIT", 2 * EACH + Decimal(part))
    assert ended.code.kind == ("FULL" if part == "2.00" else "PART")


def test_who_goes_away_is_paid_for_the_rounds_that_are_over() -> None:
    campaign = campaign_of(4)
    away, fresh = have(join(campaign), 2), start(campaign)
    for person in (away, fresh):
        stopping.give_away(person=person, now=after(3600))
    assert (paid(away), paid(fresh)) == (2 * EACH, None)
    away.refresh_from_db()
    end = screens.show(person=away, now=NOW).end
    assert end is not None
    assert "paid 4.00 USD" in end.text


@pytest.mark.parametrize(("in_chat", "amount"), [(False, EACH), (True, 2 * EACH)])
def test_the_end_of_the_campaign_pays_what_was_begun(in_chat: bool, amount: Decimal) -> None:
    person = have(join(campaign_of(4)))
    if in_chat:
        go_on(person)
    stopping.end_with_campaign(person=person, now=NOW)
    assert paid(person) == amount


def test_a_partner_who_leaves_ends_a_round_and_not_the_participation() -> None:
    campaign = make_campaign(
        systems={"humans": "people", "alpha": "parrot"},
        changes={"chat.conversations": 2, "chat.minimum": [MINIMUM]},
    )
    QuotaCell.objects.filter(system__name="alpha").update(completed=10)
    one, two = start(campaign), start(campaign)
    for person in (one, two):
        opening.meet(person=person, now=NOW)
    QuotaCell.objects.filter(system__name="alpha").update(completed=0)
    send_message(one, "hello there")
    stopping.stop(person=two, now=NOW)
    one.refresh_from_db()
    assert one.state == "RATING"
    submission.submit(person=one, answers=answers_of(one), now=NOW)
    one.refresh_from_db()
    assert one.state == "READY"
    meet_bot(go_on(one))
    bot_says(conversation_of(one), "hello")
    talk(one)
    finish(one)
    assert (one.outcome, paid(one)) == ("COMPLETED", 2 * EACH)
    assert QuotaCell.objects.get(system__name="humans").completed == 0, "as the campaign says"


# --- forms, screens, data ---------------------------------------------------------------------


def test_a_form_that_is_sent_twice_is_stored_once_and_never_for_the_next_round() -> None:
    person = go_on(join(campaign_of(2)))
    talk(person)
    first = finish(person)
    assert submission.submit(person=person, answers=first, now=NOW) is None
    go_on(person)
    talk(person)
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    assert submission.submit(person=person, answers=first, now=NOW) is None
    assert person.assignments.filter(state=Assignment.State.DONE).count() == 1
    second = answers_of(person)
    assert not set(first) & set(second)
    code = submission.submit(person=person, answers=second, now=NOW)
    assert code is not None
    assert submission.submit(person=person, answers=second, now=NOW) == code
    assert Rating.objects.count() == 8


def test_a_form_of_nobody_is_refused_between_rounds() -> None:
    person = have(join(campaign_of(2)))
    with pytest.raises(LabelRefused):
        submission.submit(person=person, answers={"p7.fluency": "3"}, now=NOW)


def test_the_page_between_rounds_says_what_comes_and_what_is_earned() -> None:
    person = join(campaign_of(3))
    assert screens.show(person=person, now=NOW).round == ""
    have(person, 2)
    told = screens.show(person=person, now=NOW).round
    assert "conversation 3 of up to 3" in told
    assert "4.00 USD" in told


def test_answers_count_round_by_round_however_the_participation_ends() -> None:
    campaign = campaign_of(4, least_work=2)
    person = have(join(campaign), 2)
    go_on(person)
    talk(person, 3)
    stopping.stop(person=person, now=NOW)
    found = tables.ratings(campaign)
    assert len(found) == 8
    assert set(found["system"]) == set(systems_of(person)[:2])
    assert sorted(set(found["place"])) == [0, 1]
    assert set(found["outcome"]) == {"COMPLETED"}
    (row,) = conversation_records.participants(campaign)
    assert row["system"] == ";".join(systems_of(person))
    assert (row["conversations"], row["outcome"], row["pay"]) == (2, "QUIT", "5.50")


def test_who_withdraws_gives_every_round_back() -> None:
    campaign = campaign_of(4)
    person = have(join(campaign), 4)
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    assert set(QuotaCell.objects.values_list("completed", flat=True)) == {0}
    assert len(tables.ratings(campaign, include_excluded=True)) == 0
    assert paid(person) == 4 * EACH


@pytest.mark.parametrize(("rounds", "passes"), [(1, True), (4, True), (5, False)])
def test_a_launch_wants_a_system_for_every_round(rounds: int, passes: bool) -> None:
    campaign = campaign_of(rounds)
    campaign.refresh_from_db()
    failed = [check.name for check in checklist.checklist(campaign, NOW) if not check.ok]
    assert ("Conversations per participant" in failed) is not passes
