"""One entrance where a campaign has bots and people: same wait, same ready check (R17, R18)."""

from __future__ import annotations

import random
import statistics
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import (
    after,
    conversation_of,
    join,
    meet_bot,
    people_campaign,
    see,
    start,
)
from webapp.models import (
    Assignment,
    Campaign,
    Conversation,
    Participation,
    Persona,
    QuotaCell,
    Seat,
)
from webapp.services.conversation import entrance, matching, opening
from webapp.services.ops import sweeper
from webapp.services.participation import enrolment, stopping
from webapp.services.replies import delivery, pace

pytestmark = pytest.mark.django_db
P = Participation.State


def mixed(**changes: Any) -> Campaign:
    """Return a campaign with people and a bot; the places with people are taken."""
    made = make_campaign(systems={"humans": "people", "alpha": "parrot"}, **changes)
    QuotaCell.objects.filter(system__campaign=made, system__bot="people").update(completed=10)
    return made


def waiter(campaign: Campaign, seconds: float = 20) -> Participation:
    """Return somebody whom a bot is to meet after so many seconds."""
    person = start(campaign)
    if person.state == P.MATCHED:  # the wait that was drawn was none
        person.seats.update(active=False)
        Conversation.objects.filter(seats__participation=person).update(state="ABANDONED")
    changes = {"state": P.WAITING, "state_at": NOW, "partner_at": after(seconds)}
    Participation.objects.filter(pk=person.pk).update(**changes)
    return reread(person)


def asked(campaign: Campaign, answers: float | None = 4) -> Participation:
    """Return somebody who is asked since the beginning, with a bot that answers then."""
    person = waiter(campaign, 0)
    matching.match(campaign=campaign, now=NOW)
    at = None if answers is None else after(answers)
    Seat.objects.filter(side=1).update(answers_at=at)
    return reread(person)


def reread(person: Participation) -> Participation:
    return Participation.objects.select_related("campaign", "system").get(pk=person.pk)


def held(campaign: Campaign) -> int:
    return QuotaCell.objects.get(system__campaign=campaign, system__name="alpha").reserved


# --- the wait ---------------------------------------------------------------------------------


@pytest.mark.parametrize("systems", [{"a": "parrot", "b": "parrot"}, {"a": "parrot"}])
def test_with_bots_only_nobody_waits(systems: dict[str, str]) -> None:
    person = start(make_campaign(systems=systems))
    seats = Seat.objects.filter(conversation=conversation_of(person))
    assert (person.state, person.partner_at) == (P.CHATTING, None)
    assert set(seats.values_list("checked_at", "answers_at")) == {(None, None)}


def test_with_people_only_no_bot_comes() -> None:
    person = start(people_campaign())
    assert (person.state, person.partner_at) == (P.WAITING, None)


def test_where_both_are_a_bots_place_is_held_through_the_wait() -> None:
    campaign = mixed()
    person = start(campaign)
    assert person.state in (P.WAITING, P.MATCHED)
    assert person.waiting_at == NOW
    assert (person.holds_slot, held(campaign)) == (True, 1)
    assert person.partner_at is not None
    assert person.partner_at >= NOW


@pytest.mark.parametrize(("seconds", "state"), [(19, "WAITING"), (20, "MATCHED"), (21, "MATCHED")])
@pytest.mark.parametrize("driver", ["sweeper", "page"])
def test_the_bot_comes_when_the_drawn_wait_is_over(driver: str, seconds: int, state: str) -> None:
    person = waiter(mixed(), 20)
    see(person, now=after(seconds - 3))
    if driver == "sweeper":
        sweeper.tick(after(seconds))
    else:
        enrolment.status(person=reread(person), now=after(seconds))
    person = reread(person)
    assert person.state == state
    if state == P.MATCHED:
        assert person.state_at == after(20), "as of the end of the wait, whoever noticed it"
        assert conversation_of(person).deadline_at == after(35)
        assert person.seats.get(active=True).seconds_waiting == 20


@pytest.mark.parametrize(("silent", "comes"), [(9, True), (10, True), (11, False)])
def test_the_bot_comes_to_nobody_who_is_away(silent: int, comes: bool) -> None:
    campaign = mixed()
    person = waiter(campaign, 5)
    assert len(matching.match(campaign=campaign, now=after(silent))) == comes
    assert reread(person).holds_slot
    see(person, now=after(60))
    matching.match(campaign=campaign, now=after(60))
    person = reread(person)
    assert (person.state, person.state_at) == (P.MATCHED, after(5) if comes else after(60))


@pytest.mark.parametrize(("seconds", "at"), [(14.9, 5), (15.0, 5), (15.1, 15.1)])
def test_a_bot_that_came_too_late_to_be_a_person_comes_when_it_is_noticed(
    seconds: float, at: float
) -> None:
    """Whoever was away when the wait was over is not matched as of then."""
    campaign = mixed()
    person = waiter(campaign, 5)
    see(person, now=after(13))
    assert len(matching.match(campaign=campaign, now=after(seconds))) == 1
    assert reread(person).state_at == after(at)


def test_what_somebody_was_told_is_over_once_a_bot_comes() -> None:
    campaign = mixed()
    person = waiter(campaign, 5)
    Participation.objects.update(notice="partner_missed")
    matching.match(campaign=campaign, now=after(6))
    assert reread(person).notice == ""


def test_a_match_is_made_in_one_campaign() -> None:
    campaign, other = mixed(), mixed()
    person, beside = waiter(campaign, 5), waiter(other, 5)
    assert len(matching.match(campaign=campaign, now=after(6))) == 1
    assert (reread(person).state, reread(beside).state) == (P.MATCHED, P.WAITING)


def test_in_a_paused_campaign_nobody_is_asked() -> None:
    person = waiter(mixed(), 5)
    Campaign.objects.update(state="PAUSED")
    assert enrolment.status(person=reread(person), now=after(6))["state"] == "WAITING"


def test_a_campaign_that_stops_pays_who_waits_and_frees_the_place() -> None:
    campaign = mixed()
    person = waiter(campaign, 20)
    Campaign.objects.update(state="STOPPED")
    for seconds in (5, 6):
        sweeper.tick(after(seconds))
    person = reread(person)
    assert (person.outcome, person.code.kind) == ("STOPPED", "FULL")
    assert (person.holds_slot, held(campaign)) == (False, 0)


def test_the_place_in_the_queue_is_one_for_bots_and_people() -> None:
    campaign = mixed()
    humans, alpha = campaign.systems.order_by("name").reverse()
    ahead = {"state": P.WAITING, "waiting_at": NOW}
    make_participation(campaign, system=humans, **ahead)
    make_participation(campaign, system=alpha, **ahead)
    for system in (humans, alpha):
        person = make_participation(
            campaign, state=P.WAITING, waiting_at=after(1), seen_at=after(1), system=system
        )
        assert enrolment.status(person=person, now=after(2))["position"] == 3
        person.delete()


# --- the ready check --------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "state"), [(3, "MATCHED"), (4, "CHATTING"), (5, "CHATTING")])
@pytest.mark.parametrize("driver", ["sweeper", "page", "press"])
def test_the_chat_opens_when_both_are_there(driver: str, seconds: int, state: str) -> None:
    person = asked(mixed(), answers=4)
    if driver == "press":
        opening.meet(person=person, now=after(seconds))
    else:
        opening.meet(person=person, now=after(1))
        assert reread(person).state == P.MATCHED
        sweeper.tick(after(seconds)) if driver == "sweeper" else enrolment.status(
            person=reread(person), now=after(seconds)
        )
    assert reread(person).state == state
    bots = Seat.objects.get(side=1, active=True, checked_at__isnull=False)
    assert bots.ready_at == (after(4) if state == P.CHATTING else None)


def test_the_bots_answer_alone_opens_nothing() -> None:
    person = asked(mixed(), answers=4)
    sweeper.tick(after(5))
    shown = enrolment.status(person=reread(person), now=after(5))
    assert (shown["state"], shown["ready"]) == ("MATCHED", False)


@pytest.mark.parametrize(("seconds", "state"), [(14, "MATCHED"), (15, "MATCHED"), (16, "READY")])
def test_who_is_away_in_the_check_begins_again(seconds: int, state: str) -> None:
    campaign = mixed()
    person = asked(campaign)
    sweeper.tick(after(seconds))
    person = reread(person)
    assert person.state == state
    if state == P.READY:
        assert (person.notice, person.system, held(campaign)) == ("missed", None, 0)
        assert list(Persona.objects.filter(taken__gt=0)) == [person.persona]  # for the next attempt
        sweeper.tick(after(seconds + 1))
        assert held(campaign) == 0


def test_a_bot_that_misses_the_check_sends_the_person_back_to_their_place() -> None:
    campaign = mixed()
    person = asked(campaign, answers=None)
    opening.meet(person=person, now=after(2))
    sweeper.tick(after(16))
    person = reread(person)
    assert (person.state, person.notice) == (P.WAITING, "partner_missed")
    assert (person.waiting_at, held(campaign)) == (NOW, 1)
    assert person.partner_at is not None
    assert person.partner_at >= after(16)


def test_a_place_is_given_back_once_by_who_stops_in_the_check() -> None:
    campaign = mixed()
    person = asked(campaign)
    for seconds in (3, 4):
        stopping.stop(person=person, now=after(seconds))
    sweeper.tick(after(30))
    assert (reread(person).outcome, held(campaign)) == ("DECLINED", 0)


@pytest.mark.parametrize(("seconds", "offered"), [(59, False), (60, True), (61, True)])
def test_who_takes_a_bot_is_asked_as_well(seconds: int, offered: bool) -> None:
    campaign = mixed(wait_seconds=60, bot_when_alone=True)
    person = waiter(campaign, 200)
    assert ("bot" in matching.choices(person, after(seconds))) == offered
    if not offered:
        with pytest.raises(matching.NotWaiting):
            matching.take_bot(person=person, now=after(seconds))
        return
    taken = matching.take_bot(person=person, now=after(seconds))
    assert taken.state == matching.take_bot(person=person, now=after(seconds)).state == P.MATCHED
    assert conversation_of(person).deadline_at == after(seconds + 15)
    assert held(campaign) == 1


def test_who_has_met_every_bot_is_offered_none() -> None:
    """In a later round; taking one would be refused."""
    campaign = mixed(wait_seconds=60, bot_when_alone=True, changes={"chat.conversations": 2})
    person = waiter(campaign, 200)
    assert matching.choices(person, after(60)) == ("bot", "give_up")
    met = Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(bot="parrot"),
        seed=1,
        started_at=NOW,
        state="FINISHED",
    )
    Seat.objects.create(
        conversation=met, side=0, participation=person, outcome="COMPLETED", active=False
    )
    assert matching.choices(person, after(60)) == ("give_up",)


def test_a_bot_that_begins_is_not_there_at_once() -> None:
    """R11: its first message is sought at once and shown after a person's time."""
    campaign = mixed(personas=40)
    rooms = [meet_bot(waiter(campaign, 0)) for _ in range(8)]
    begun = [room for room in rooms if room.state == "OPEN" and room.first_side == 1]
    assert begun, "of eight some are begun by the bot"
    for room in begun:
        job = room.jobs.get()
        assert (job.state, job.lease_until, room.last_seq) == ("QUEUED", None, 0)
        room.jobs.update(state="CLAIMED", owner="worker", attempt=1)
        job.refresh_from_db()
        assert delivery.answer([delivery.BotAnswer(job, "Hello there.", {})]) == 1
        job.refresh_from_db()
        assert job.due_at is not None
        assert (job.due_at - job.queued_at).total_seconds() == pytest.approx(
            pace.seconds_to_open(room)
        )
        assert pace.seconds_to_open(room) >= 1


def test_fixed_first_words_are_shown_later_and_labels_are_asked_for() -> None:
    systems = {"humans": "people", "alpha": "parrot"}
    campaign = make_campaign("meena_interactive", systems=systems, personas=0)
    QuotaCell.objects.filter(system__bot="people").update(completed=10)
    rooms = [meet_bot(waiter(campaign, 0)) for _ in range(8)]
    assert Assignment.objects.count() == 8
    (room, *_) = [each for each in rooms if each.first_side == 1]
    assert (delivery.deliver_due(), room.events.count()) == (0, 0)
    room.jobs.update(due_at=NOW)
    assert delivery.deliver_due() == 1
    assert [each.content for each in room.events.all()] == [{"text": "Hi!"}]


# --- what is drawn ----------------------------------------------------------------------------


def seat_of_people(campaign: Campaign, waited: float, answered: float | None) -> None:
    """Add somebody of a pair, who waited and answered so long."""
    system = campaign.systems.get(bot="people")
    room = Conversation.objects.create(
        campaign=campaign,
        system=system,
        seed=1,
        started_at=NOW,
        state="ABANDONED",
        ended_because=entrance.MISSED,
    )
    Seat.objects.create(
        conversation=room,
        side=0,
        participation=make_participation(campaign),
        active=False,
        seconds_waiting=waited,
        checked_at=NOW,
        ready_at=None if answered is None else after(answered),
    )


@pytest.mark.parametrize("count", [19, 20, 21])
@pytest.mark.parametrize("answered", [7.5, None])
def test_times_are_peoples_once_enough_are_known(count: int, answered: float | None) -> None:
    campaign = mixed()
    for _ in range(count):
        seat_of_people(campaign, 33.25, answered)
    person = join(campaign)
    person.system = campaign.systems.get(name="alpha")
    is_known = count >= 20
    answers_at = entrance.answers_at(person, NOW)
    assert (entrance.partner_at(person, NOW) == after(33.25)) == is_known
    assert (answers_at == (None if answered is None else after(answered))) == is_known


@pytest.mark.parametrize("waited", [0.0, 0.5, 1.0])
def test_who_did_not_wait_at_all_counts_as_no_wait(waited: float) -> None:
    campaign = mixed()
    for _ in range(20):
        seat_of_people(campaign, waited, 1.0)
    person = join(campaign)
    person.system = campaign.systems.get(name="alpha")
    assert entrance.partner_at(person, NOW) == after(waited)


@pytest.mark.parametrize(("answered", "is_there"), [(14.9, True), (15.0, True), (15.1, False)])
def test_a_bot_misses_the_check_with_a_time_that_a_person_would_miss_it_with(
    answered: float, is_there: bool
) -> None:
    campaign = mixed()
    for _ in range(20):
        seat_of_people(campaign, 1.0, answered)
    at = entrance.answers_at(join(campaign), NOW)
    assert at == (after(answered) if is_there else None)


def test_times_are_of_the_campaign_s_people_whose_partner_was_a_person() -> None:
    campaign, other = mixed(), mixed()
    seat_of_people(other, 1.0, 1.0)
    seat_of_people(campaign, 2.0, 2.0)
    seat_of_people(campaign, 3.0, 3.0)
    Conversation.objects.filter(seats=Seat.objects.latest("pk")).update(
        system=campaign.systems.get(bot="parrot")
    )
    assert entrance._waits(campaign) == [2.0]
    assert entrance._answers(campaign) == [2.0]


def test_a_wait_or_an_answer_that_is_not_known_is_no_example() -> None:
    campaign = mixed()
    seat_of_people(campaign, 2.0, None)
    Conversation.objects.update(state="CHECKING", ended_because="")
    Seat.objects.update(seconds_waiting=None)
    assert (entrance._waits(campaign), entrance._answers(campaign)) == ([], [])


def test_who_was_never_checked_is_no_example() -> None:
    campaign = mixed()
    for _ in range(20):
        seat_of_people(campaign, 33.25, 7.5)
    person = join(campaign)
    person.system = campaign.systems.get(name="alpha")
    assert entrance.partner_at(person, NOW) == after(33.25)
    Seat.objects.filter(pk=Seat.objects.latest("pk").pk).update(checked_at=None)
    assert entrance.partner_at(person, NOW) != after(33.25)
    assert entrance.answers_at(person, NOW) != after(7.5)


def test_bots_answer_the_checks_of_one_person_alone_where_one_is_named() -> None:
    campaign = mixed()
    first, second = asked(campaign), asked(campaign)
    Seat.objects.filter(side=1).update(answers_at=after(4))
    assert opening.answer_checks(now=after(5), person=second) == 1
    ready = {
        person.pk: conversation_of(person).seats.get(side=1).ready_at for person in (first, second)
    }
    assert ready == {first.pk: None, second.pk: after(4)}
    assert opening.answer_checks(now=after(5)) == 1


def test_a_check_that_is_over_is_answered_by_no_bot() -> None:
    campaign = mixed()
    room = conversation_of(asked(campaign))
    Conversation.objects.filter(pk=room.pk).update(state="ABANDONED")
    assert opening._answer_check(room.pk, after(3600)) == 0
    assert opening.answer_checks(now=after(3600)) == 0


def test_a_draw_is_repeated_and_differs_between_people_and_attempts() -> None:
    campaign = mixed()
    people = [join(campaign) for _ in range(6)]
    for person in people:
        person.system = campaign.systems.get(name="alpha")
    draws = [entrance.answers_at(person, NOW) for person in people]
    assert draws == [entrance.answers_at(person, NOW) for person in people]
    assert len(set(draws)) == len(people)
    room = conversation_of(asked(campaign))
    Seat.objects.filter(conversation=room, side=0).update(participation=people[0], active=False)
    assert entrance.answers_at(people[0], NOW) != draws[0]


def test_before_people_are_known_half_of_all_meet_a_bot_at_once_and_none_before() -> None:
    """The rest waits 20 s on average; half of all answer the check within 4 s."""
    draw = random.Random(1)
    draws = [entrance.default_wait(draw) for _ in range(40_000)]
    assert min(draws) == 0.0
    assert 19_700 < draws.count(0.0) < 20_300  # three standard errors
    rest = [each for each in draws if each]
    assert 19.6 < sum(rest) / len(rest) < 20.4
    answers = [entrance.default_answer(draw) for _ in range(10_000)]
    assert 3.9 < statistics.median(answers) < 4.1


@pytest.mark.parametrize(("people", "known"), [(199, 199), (200, 200), (201, 200)])
def test_of_the_waits_of_people_the_latest_are_known(people: int, known: int) -> None:
    campaign = people_campaign()
    system = campaign.systems.get()
    talks = Conversation.objects.bulk_create(
        Conversation(campaign=campaign, system=system, seed=1, started_at=NOW)
        for _ in range(people)
    )
    Seat.objects.bulk_create(
        Seat(conversation=talk, side=0, checked_at=NOW, seconds_waiting=float(number))
        for number, talk in enumerate(talks)
    )
    expected = [float(number) for number in range(people)][::-1][:known]
    assert entrance._waits(campaign) == expected
