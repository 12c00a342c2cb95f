"""Places that nobody has begun to use go to who waits, in order; the invited come first (R40)."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.judged import replies_campaign
from tests.webapp.services.people import after, people_campaign, send_message
from webapp.models import Campaign, Participation, QuotaCell
from webapp.services.conversation import opening
from webapp.services.ops import sweeper
from webapp.services.participation import consents, enrolment, screens, stopping, waiting_list
from webapp.services.rules import ledger

pytestmark = pytest.mark.django_db
FIRST = 180.0  # seconds for the first message
SOON = 60.0  # where somebody waits who was invited


def come(
    campaign: Campaign, name: str, now: datetime = NOW, *, invited: bool = False
) -> Participation:
    """Return somebody who consented, by a mere id unless `invited`, and pressed start."""
    person, _ = enrolment.join(
        campaign=campaign,
        platform="invited" if invited else "prolific",
        external_id=name,
        language="en",
        now=now,
        is_proven=invited,
    )
    return enrolment.start(person=person, now=now)


def ask(person: Participation, seconds: float) -> dict[str, Any]:
    """Let the page of a person ask, and return what it is told."""
    return enrolment.status(person=reread(person), now=after(seconds))


def reread(person: Participation) -> Participation:
    return Participation.objects.get(pk=person.pk)


def wait(person: Participation, since: float, until: float) -> dict[str, Any]:
    """Let the page of a person ask every few seconds."""
    while since < until:
        since = min(until, since + 5)
        found = ask(person, since)
    return found


def full_campaign(count: int = 2, **changes: Any) -> tuple[Campaign, list[Participation]]:
    """Return a campaign whose places are all held by ids that have done nothing."""
    campaign = make_campaign(target=count, **changes)
    return campaign, [come(campaign, f"squatter {number}") for number in range(count)]


def test_who_finds_all_places_held_waits_for_the_first_that_nobody_began_to_use() -> None:
    """Two seconds before the time is over nothing moves; then one place does, and only one."""
    campaign, (first, second) = full_campaign()
    honest = come(campaign, "honest", after(10))
    assert (honest.state, honest.waiting_at) == ("READY", after(10))
    found = wait(honest, 10, FIRST - 1)
    assert (found["state"], found["position"], found["seconds_left"]) == ("READY", 1, 1.0)
    assert ask(honest, FIRST)["state"] == "CHATTING"
    states = {reread(each).state for each in (first, second)}
    assert states == {"READY", "CHATTING"}
    sent_back = reread(first)
    assert (sent_back.notice, sent_back.reserved_pay) == ("not_begun", Decimal(0))
    assert QuotaCell.objects.get().reserved == 2
    assert ledger.books(campaign).reserved == 2 * campaign.pay


def test_a_place_that_is_free_goes_to_the_first_in_line_when_another_one_comes() -> None:
    """Whose page asks only now and then: nobody waits for it."""
    campaign, _ = full_campaign()
    first = come(campaign, "first", after(10))
    wait(first, 10, FIRST - 1)
    second = come(campaign, "second", after(FIRST))
    assert (reread(first).state, second.state) == ("CHATTING", "READY")


def test_without_anybody_waiting_a_place_stays_its_holders() -> None:
    _, (first, second) = full_campaign()
    sweeper.tick(after(FIRST + 60))
    send_message(first, "Sorry, I had to read that twice.", after(FIRST + 60))
    assert {reread(each).state for each in (first, second)} == {"CHATTING"}


@pytest.mark.parametrize("begins", ["message", "invited"])
def test_who_has_begun_or_was_invited_keeps_the_place_and_the_study_is_full(begins: str) -> None:
    campaign = make_campaign(target=1)
    holder = come(campaign, "holder", invited=begins == "invited")
    if begins == "message":
        late = come(campaign, "late", after(1))
        send_message(holder, "Hello.", after(2))
        assert ask(late, 3)["state"] == "ENDED"
        assert reread(late).outcome == "FULL"
    with pytest.raises(consents.Closed, match="full"):
        come(campaign, "later", after(4))
    assert reread(holder).state == "CHATTING"


def test_the_invited_come_first_and_sooner_than_ids_that_came_before_them() -> None:
    campaign, _ = full_campaign()
    early = come(campaign, "early", after(1))
    invited = come(campaign, "invited", after(2), invited=True)
    assert ask(early, 5)["position"] == 2
    assert ask(invited, 5)["position"] == 1
    for second in range(6, int(SOON)):
        ask(early, second)
        assert ask(invited, second)["seconds_left"] == SOON - second
    assert ask(early, SOON)["position"] == 1, "the list was served, by whoever asked"
    assert reread(invited).state == "CHATTING"
    assert reread(early).state == "READY"
    assert wait(early, SOON, FIRST)["state"] == "CHATTING"


def test_who_closed_the_page_is_passed_over_and_keeps_the_position() -> None:
    campaign, _ = full_campaign(1)
    away, there = come(campaign, "away", after(1)), come(campaign, "there", after(2))
    assert wait(there, 2, FIRST)["state"] == "CHATTING"
    send_message(there, "Hello.", after(FIRST))
    back = ask(away, FIRST + 1)
    assert (back["state"], reread(away).outcome) == ("ENDED", "FULL")


def test_a_turn_of_the_bot_is_not_the_persons_delay() -> None:
    campaign = make_campaign(target=1)
    holder = come(campaign, "holder")
    room = holder.seats.get().conversation
    type(room).objects.filter(pk=room.pk).update(first_side=1)
    late = come(campaign, "late", after(1))
    found = wait(late, 1, FIRST + 60)
    assert found["state"] == "READY"
    assert "seconds_left" not in found
    assert reread(holder).state == "CHATTING"


def test_a_form_that_nobody_touched_goes_too_and_its_items_are_free() -> None:
    rows = [{"id": "c0", "messages": ["Hello."], "replies": {"alpha": "Hi."}}]
    campaign = replies_campaign("meena_static", rows, votes=1, batch=1)
    holder = come(campaign, "holder")
    assert holder.state == "RATING"
    late = come(campaign, "late", after(1))
    assert late.state == "READY"
    assert wait(late, 1, 599)["state"] == "READY"
    assert ask(late, 600)["state"] == "RATING"
    assert (reread(holder).state, reread(holder).reserved_pay) == ("READY", Decimal(0))


def test_a_partner_who_never_wrote_is_parted_from_and_waits_first_in_line() -> None:
    campaign = people_campaign(target=2)
    holders = [come(campaign, "first"), come(campaign, "second")]
    for each in holders:
        opening.meet(person=reread(each), now=after(1))
    late = come(campaign, "late", after(2))
    silent, partner = sorted(map(reread, holders), key=lambda one: one.seats.get().side)
    assert late.state == "READY"
    wait(late, 2, FIRST)
    assert ask(late, FIRST + 1)["state"] in ("MATCHED", "WAITING")
    assert reread(silent).notice == "not_begun"
    assert reread(partner).state in ("MATCHED", "WAITING")


def test_a_missed_ready_check_gives_the_pay_back_with_the_place() -> None:
    """Burners of ready checks would keep the budget that honest people are to be paid of."""
    campaign = people_campaign(target=4)
    first, second = come(campaign, "first"), come(campaign, "second")
    assert ledger.books(campaign).reserved == 2 * campaign.pay
    sweeper.tick(after(16))
    assert {reread(each).state for each in (first, second)} == {"READY"}
    assert (ledger.books(campaign).reserved, QuotaCell.objects.get().reserved) == (Decimal(0), 0)


def test_who_worked_keeps_the_reserve_for_it() -> None:
    campaign = people_campaign(target=4, changes={"chat.minimum": [8]})
    holders = [come(campaign, "first"), come(campaign, "second")]
    for each in holders:
        opening.meet(person=reread(each), now=after(1))
    silent, other = sorted(map(reread, holders), key=lambda one: one.seats.get().side)
    for number in range(3):
        send_message(silent, f"Hello {number}.", after(2))
        send_message(other, f"Hi {number}.", after(2))
    stopping.vanish(person=reread(silent), now=after(200))
    assert reread(silent).state == "READY"
    assert reread(silent).reserved_pay == campaign.pay


def test_a_paused_campaign_keeps_its_list_and_goes_on_with_it() -> None:
    campaign, _ = full_campaign(1)
    late = come(campaign, "late", after(1))
    Campaign.objects.update(state="PAUSED")
    assert wait(late, 1, FIRST + 10)["state"] == "READY"
    assert not waiting_list.may_wait(Campaign.objects.get(), after(5))
    assert ledger.books(campaign).budget >= Decimal(0)
    Campaign.objects.update(state="OPEN")
    assert ask(late, FIRST + 12)["state"] == "CHATTING"


def test_who_has_not_begun_is_told_how_long_the_place_is_kept_while_somebody_waits() -> None:
    """Nothing is said before somebody waits, nor once the place is the person's."""
    _, (first, second) = full_campaign()
    quiet = ask(first, 5)
    assert (quiet["kept"], "seconds_left" in quiet) == (False, False)
    late = come(first.campaign, "late", after(10))
    told = [ask(first, 10), ask(first, 11)]
    assert [(one["kept"], one["seconds_left"]) for one in told] == [(False, 170.0), (False, 169.0)]
    send_message(reread(first), "Hello.", after(12))
    done = ask(first, 12)
    assert (done["kept"], "seconds_left" in done) == (True, False)
    assert ask(second, 13)["seconds_left"] == 167.0
    stopping.stop(person=reread(late), now=after(14))
    alone = ask(second, 15)
    assert (alone["kept"], "seconds_left" in alone) == (False, False)


def test_nobody_loses_a_place_before_their_page_could_say_so() -> None:
    """Who comes long after the time was over waits half a minute, to the second."""
    _, (first, _) = full_campaign()
    late = come(first.campaign, "late", after(400))
    assert ask(first, 400)["seconds_left"] == 30.0
    assert wait(late, 400, 429)["state"] == "READY"
    assert ask(first, 429)["seconds_left"] == 1.0
    assert ask(late, 430)["state"] == "CHATTING"
    gone = ask(first, 430)
    assert (gone["screen"], gone["notice"]) == ("ready", "not_begun")


def test_an_invited_person_is_told_nothing_and_a_form_has_its_own_words() -> None:
    invited = come(make_campaign(target=1), "invited", invited=True)
    assert ask(invited, 1)["kept"]
    assert screens.show(person=invited, now=after(1)).unkept == ""
    rows = [{"id": "c0", "messages": ["Hello."], "replies": {"alpha": "Hi."}}]
    holder = come(replies_campaign("meena_static", rows, votes=1, batch=1), "holder")
    come(holder.campaign, "late", after(1))
    assert ask(holder, 2)["seconds_left"] == 598.0
    assert "first answer" in screens.show(person=holder, now=after(2)).unkept
