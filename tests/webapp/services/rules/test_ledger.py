"""The pay ledger: a place reserves its pay before any work; codes never exceed the budget (R37)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Sum

from tests.factories import NOW, make_campaign, make_participation, make_staff, make_system
from tests.webapp.services.people import after, bot_says, conversation_of, join, send_message, start
from webapp.models import (
    Amendment,
    Bonus,
    Campaign,
    CompletionCode,
    Participation,
    PayHold,
    PayLedger,
)
from webapp.services.campaign import amendments
from webapp.services.monitoring import campaign_list, monitor, review
from webapp.services.participation import consents, enrolment, stopping
from webapp.services.rules import endings, ledger, payment
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
Outcome, P = Participation.Outcome, Participation.State
PAY = Decimal("2.00")


def sums(campaign: Campaign) -> tuple[str, str]:
    """Return what is reserved and spent, once it is sure that the rows say the same."""
    books = ledger.books(campaign)
    held = Participation.objects.filter(campaign=campaign).aggregate(sum=Sum("reserved_pay"))
    paid = [
        kind.objects.filter(participation__campaign=campaign).aggregate(sum=Sum("amount"))["sum"]
        for kind in (CompletionCode, Bonus)
    ]
    assert books.reserved == (held["sum"] or 0)
    assert books.spent == sum(amount or 0 for amount in paid)
    assert books.reserved + books.spent <= books.budget
    return str(books.reserved), str(books.spent)


def complete(person: Participation) -> CompletionCode | None:
    Participation.objects.filter(pk=person.pk).update(state=P.RATING)
    return payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)


def full(campaign: Campaign) -> str:
    """Return why somebody new is refused."""
    with pytest.raises(consents.Closed) as refusal:
        join(campaign)
    return refusal.value.notice


def test_a_place_reserves_its_pay_and_the_end_settles_it() -> None:
    campaign = make_campaign(waiting_pay="0.00", budget="10.00")
    person = join(campaign)
    assert sums(campaign) == ("0", "0"), "nothing before there is a place"
    enrolment.start(person=person, now=NOW)
    assert sums(campaign) == ("2.00", "0.00")
    enrolment.start(person=person, now=NOW)
    assert sums(campaign) == ("2.00", "0.00")
    complete(person)
    assert sums(campaign) == ("0.00", "2.00")
    declines = start(campaign)
    stopping.stop(person=declines, now=after(5))
    assert sums(campaign) == ("0.00", "2.00")


@pytest.mark.parametrize(("budget", "places"), [("3.99", 1), ("4.00", 2), ("4.01", 2)])
def test_the_study_is_full_where_the_pay_cannot_be_reserved(budget: str, places: int) -> None:
    campaign = make_campaign(budget=budget)
    waiting = [join(campaign) for _ in range(places + 1)]
    states = [enrolment.start(person=person, now=NOW).state for person in waiting]
    assert states == [P.CHATTING] * places + [P.ENDED]
    last = Participation.objects.get(pk=waiting[-1].pk)
    assert (last.outcome, last.holds_slot, last.system_id) == (Outcome.FULL, False, None)
    assert campaign.systems.get().cell.reserved == places, "the slot was given back"
    assert full(campaign) == "full"
    for person in waiting[:-1]:
        assert complete(person) is not None, "who has a place is paid"
    assert sums(campaign) == ("0.00", str(places * PAY))


def test_money_that_is_released_makes_room() -> None:
    campaign = make_campaign(budget="2.00")
    person = start(campaign)
    assert full(campaign) == "full"
    payment.settle(person=person, outcome=Outcome.LEFT, now=NOW)
    assert start(campaign).state == P.CHATTING


@pytest.mark.parametrize("pays", ["0.10", "0.70", "1.13"])
def test_sums_are_exact_to_the_cent(pays: str) -> None:
    """Binary fractions would refuse the last of these places."""
    budget = 9 * Decimal(pays)
    campaign = make_campaign(pay=pays, waiting_pay="0.00", budget=str(budget))
    for person in [start(campaign) for _ in range(9)]:
        complete(person)
    assert sums(campaign) == ("0.00", str(budget))
    assert full(campaign) == "full"


def test_the_database_refuses_more_than_the_budget() -> None:
    row = ledger.begin(make_campaign(budget="2.00"))
    for wrong in ({"spent": 201}, {"reserved": 150, "spent": 51}, {"budget": -1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            PayLedger.objects.filter(pk=row.pk).update(**wrong)


def test_the_usual_budget_is_all_places_and_a_tenth_more() -> None:
    campaign = make_campaign(target=10, screening_pay="0.25")
    make_system(campaign, "beta", target=4)
    assert ledger.usual_budget(campaign) == (14 + 2) * Decimal("2.75")
    assert ledger.books(campaign).budget == ledger.usual_budget(campaign)


def test_a_stopped_campaign_pays_who_had_a_place_and_others_from_what_is_left() -> None:
    campaign = make_campaign(budget="4.00")
    works, first, second = start(campaign), join(campaign), join(campaign)
    Campaign.objects.update(state="STOPPED")
    for person in (first, second, works):
        stopping.end_with_campaign(person=person, now=NOW)
    assert [bool(payment.code_of(each)) for each in (works, first, second)] == [True, True, False]
    assert sums(campaign) == ("0.00", "4.00")


def test_each_conversation_reserves_its_own_pay() -> None:
    campaign = make_campaign(
        "meena_interactive",
        systems={"a": "parrot", "b": "parrot"},
        budget="3.00",
        changes={"chat.conversations": 2},
    )
    person = start(campaign)
    assert sums(campaign)[0] == "2.00"
    assert payment.most_due(person) == PAY


def test_a_raised_pay_binds_a_place_only_where_the_budget_has_it() -> None:
    campaign = make_campaign(budget="2.50")
    start(campaign, "A")
    Campaign.objects.update(pay="2.51")
    campaign.refresh_from_db()
    assert join(campaign, "A").pay == PAY
    Campaign.objects.update(pay="2.50")
    campaign.refresh_from_db()
    assert join(campaign, "A").pay == Decimal("2.50")
    assert sums(campaign) == ("2.50", "0.00")


def test_a_bonus_comes_from_the_budget() -> None:
    campaign, user = make_campaign(budget="3.00"), make_staff()
    person = start(campaign)
    given: dict[str, Any] = {"campaign": campaign, "pk": person.pk, "by": user, "now": NOW}
    with pytest.raises(Invalid) as refusal:
        review.give_bonus(raw={"amount": "1.01", "bonus_reason": "Kind.", "given": "0"}, **given)
    assert "more than the 1.00 that the budget has left" in refusal.value.problems["amount"]
    assert not Bonus.objects.exists()
    review.give_bonus(raw={"amount": "1.00", "bonus_reason": "Kind.", "given": "0"}, **given)
    assert sums(campaign) == ("2.00", "1.00")


def test_raising_the_budget_is_an_amendment() -> None:
    campaign, user = make_campaign(budget="2.00"), make_staff()
    start(campaign)
    change: dict[str, Any] = {"campaign": campaign, "by": user, "reason": "Funds.", "now": NOW}
    with pytest.raises(Invalid):
        amendments.raise_budget(budget=Decimal("2.00"), **change)
    amendments.raise_budget(budget=Decimal("4.00"), **change)
    assert Amendment.objects.get().text == "Budget: 2.00 → 4.00 USD. Funds."
    assert start(campaign).state == P.CHATTING
    amendments.extend(more={"alpha": 2}, **change)
    amendments.change_pay(pay=Decimal("3.00"), **change)
    texts = [row.text for row in Amendment.objects.all()[1:]]
    assert texts == [
        "Extended: alpha 10 → 12. Budget: 4.00 → 9.00 USD. Funds.",
        "Pay of later consents changed: 2.00 → 3.00 USD. Budget: 9.00 → 19.00 USD. Funds.",
    ]


def test_every_page_sums_from_the_ledger() -> None:
    user = make_staff()
    campaign = make_campaign(owner=user, budget="20.00")
    start(campaign)
    complete(start(campaign))
    tile = monitor.live(campaign, NOW).money
    assert (tile.spent, tile.reserved, tile.budget) == (PAY, PAY, Decimal("20.00"))
    (line,) = campaign_list.lines(user, None).object_list
    assert line.money == tile
    assert amendments.books(campaign) == ledger.books(campaign)
    assert review.paid(campaign, {"step": "paid"}) == tile.spent


@pytest.mark.parametrize(
    ("spent", "level"),
    [("9.98", None), ("10.00", "warning"), ("17.99", "warning"), ("18.01", "danger")],
)
def test_shares_of_the_budget_raise_an_alarm(spent: str, level: str | None) -> None:
    campaign = make_campaign(budget="20.00")
    ledger.spend(campaign, Decimal(spent))
    alarms = {alarm.name: alarm.level for alarm in monitor.live(campaign, NOW).alarms}
    assert alarms.get("budget") == level


def farm(campaign: Campaign, number: int) -> None:
    """Consent, start, say one word and stop, as T3 of the findings did."""
    person = start(campaign, f"farmer {number}", now=after(number))
    if person.state == P.CHATTING:
        send_message(person, "x", now=after(number))
        stopping.stop(person=person, now=after(number))


def test_forty_who_say_one_word_are_paid_nothing_and_an_alarm_is_raised() -> None:
    """T3: it drew 40 full codes, 82.00 of a study of 14 places."""
    campaign = make_campaign(target=14)
    for number in range(40):
        farm(campaign, number)
    assert not CompletionCode.objects.exists()
    assert sums(campaign) == ("0.00", "0.00")
    assert "endings" in {alarm.name for alarm in monitor.live(campaign, NOW).alarms}


def test_even_where_one_word_is_paid_the_budget_holds() -> None:
    campaign = make_campaign(target=7, quit_rule="FULL", least_work=1, budget="14.00")
    for number in range(7):
        farm(campaign, number)
    for number in range(7, 20):
        with pytest.raises(consents.Closed, match="full"):
            farm(campaign, number)
    assert CompletionCode.objects.count() == 7
    assert sums(campaign) == ("0.00", "14.00")


def test_unusual_endings_keep_new_people_out_until_a_person_has_looked() -> None:
    campaign = make_campaign(target=20, hold_unusual=True)
    before = [start(campaign, f"honest {number}") for number in range(2)]
    ready = join(campaign)
    for number in range(10):
        assert not ledger.is_held(campaign)
        farm(campaign, number)
    assert full(campaign) == "paused"
    with pytest.raises(consents.Closed, match="paused"):
        enrolment.start(person=ready, now=NOW)
    assert complete(before[0]) is not None, "a code is always given"
    assert "held" in {alarm.name for alarm in monitor.live(campaign, NOW).alarms}
    looked = after(60)
    amendments.let_new_people_in(campaign=campaign, by=make_staff(), reason="Seen.", now=looked)
    assert Amendment.objects.get().text == "New places allowed again. Seen."
    assert enrolment.start(person=ready, now=looked).state == P.CHATTING
    complete(before[1])
    assert not ledger.is_held(campaign), "what was looked at does not count again"


def test_single_words_are_unusual_even_where_nobody_stops() -> None:
    campaign = make_campaign(target=20)
    for number in range(10):
        person = start(campaign, f"terse {number}")
        for _ in range(2):
            send_message(person, "ok")
            bot_says(conversation_of(person), "I like boats.")
        if number % 2:
            send_message(person, "two words")
        complete(person)
    alarms = [alarm.name for alarm in monitor.live(campaign, NOW).alarms]
    assert "endings" in alarms
    person = start(campaign)
    send_message(person, "and one more")
    complete(person)
    assert "endings" not in [alarm.name for alarm in monitor.live(campaign, NOW).alarms]


def test_ends_that_cost_nothing_hide_no_rate() -> None:
    """Two who decline between each two who stop early: half of all, and all that was paid."""
    campaign = make_campaign(target=30, quit_rule="FULL", least_work=1, hold_unusual=True)
    for number in range(10):
        for other in range(2):
            stopping.stop(person=join(campaign, f"declines {number} {other}"), now=after(number))
        farm(campaign, number)
    assert ledger.is_held(campaign)


@pytest.mark.parametrize("paid", [4, 5])
def test_who_left_and_came_back_for_pay_counts_as_who_stopped_early(paid: int) -> None:
    """Five of ten are as unusual as five who stop; who left for nothing counts as nobody."""
    campaign = make_campaign(target=30)
    for number in range(14):
        person = start(campaign, f"person {number}")
        if number < 10 - paid:
            complete(person)
            continue
        payment.settle(person=person, outcome=Outcome.LEFT, now=after(number))
        if number < 10:
            CompletionCode.objects.create(
                participation=person, code=f"C{number}", kind="PART", amount="0.70"
            )
    assert endings.unusual(campaign.pk, None) == ("quit" if paid == 5 else "")


@pytest.mark.parametrize(
    ("pay", "honest", "unusual"), [("0.30", 1, "idle"), ("0.30", 4, ""), ("0", 0, "")]
)
def test_nearly_all_who_are_paid_for_a_check_alone_are_unusual(
    pay: str, honest: int, unusual: str
) -> None:
    campaign = make_campaign(target=30, screening_pay=pay, hold_payments=True)
    for number in range(honest):
        complete(start(campaign, f"honest {number}", now=after(number)))
    for number in range(16):
        person = join(campaign, f"turned away {number}")
        payment.settle(
            person=person, outcome=Outcome.SCREENED_OUT, now=after(9 + number), event="stop"
        )
    assert endings.unusual(campaign.pk, None) == unusual
    assert PayHold.objects.filter(because="idle").exists() == bool(unusual)
    alarms = [alarm.text for alarm in monitor.live(campaign, NOW).alarms if alarm.name == "endings"]
    assert alarms == ["Most of the latest people were paid without any work."] * bool(unusual)


def test_codes_from_before_the_ledger_count_as_spent() -> None:
    campaign = make_campaign(budget="1.00")
    person = make_participation(
        campaign, state=P.ENDED, outcome=Outcome.COMPLETED, ended_at=NOW - timedelta(days=1)
    )
    CompletionCode.objects.create(participation=person, code="A", kind="FULL", amount="2.00")
    ledger.begin(campaign)
    books = ledger.books(campaign)
    assert (books.budget, books.spent) == (PAY, PAY)
