"""Pay of who stops of their own accord: by the rule that was stated before consent (R21, QUIT).

Long because each rule has its boundaries, in chats and where replies are judged.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_context, make_participation
from tests.trust import checks, snapshot
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp import notices
from webapp.models import Assignment, Campaign, CompletionCode, Item, Participation
from webapp.services.conversation import chat
from webapp.services.participation import enrolment, return_pay, screens, stopping
from webapp.services.rating import submission
from webapp.services.replies import delivery
from webapp.services.rules import payment, work

pytestmark = pytest.mark.django_db
MINIMUM, LEAST = 12, 4
PAID = [  # rule, messages of both sides, what is paid of 2.00
    ("SHARE", LEAST - 1, None),
    ("SHARE", LEAST, "0.67"),  # 4 of 12: 66.7 cents, rounded up
    ("SHARE", LEAST + 1, "0.84"),
    ("SHARE", MINIMUM - 1, "1.84"),
    ("SHARE", MINIMUM, "2.00"),
    ("SHARE", MINIMUM + 1, "2.00"),
    ("FULL", LEAST - 1, None),
    ("FULL", LEAST, "2.00"),
    ("FULL", MINIMUM + 1, "2.00"),
    ("MINIMUM", LEAST, None),
    ("MINIMUM", MINIMUM - 1, None),
    ("MINIMUM", MINIMUM, "2.00"),
    ("MINIMUM", MINIMUM + 1, "2.00"),
]


def campaign_of(rule: str = "SHARE", minimum: int = MINIMUM, **changes: Any) -> Campaign:
    settings = {"chat.minimum": [minimum], "chat.pace": 0.0}
    return make_campaign(changes=settings, quit_rule=rule, least_work=LEAST, **changes)


def talk(person: Participation, messages: int) -> Participation:
    """Let a person, who begins, and their bot say so many messages."""
    conversation = conversation_of(person)
    for number in range(messages):
        if number % 2:
            delivery.drop(conversation)
            conversation.refresh_from_db()
            bot_says(conversation, "I see.")
        else:
            send_message(person, f"This is message {number}")
    person.refresh_from_db()
    return person


def read(person: Participation) -> str:
    return screens.stop_means(person=person, now=NOW)


def ended(person: Participation) -> screens.End:
    end = screens.show(person=Participation.objects.get(pk=person.pk), now=NOW).end
    assert end is not None
    return end


@pytest.mark.parametrize(("rule", "messages", "paid"), PAID)
def test_the_page_the_code_and_the_log_name_what_the_rule_pays(
    rule: str, messages: int, paid: str | None
) -> None:
    person = talk(start(campaign_of(rule)), messages)
    said = read(person)
    stopped = stopping.stop(person=person, now=NOW)
    assert stopped.outcome == "QUIT"
    code, end = payment.code_of(person), ended(person)
    if paid is None:
        assert code is None
        assert notices.text("stop_unpaid") in said
        assert (end.code, end.text, end.may_return) == ("", notices.text("quit_unpaid"), True)
        return
    assert code is not None
    assert notices.text("stop_paid", pay=f"{paid} USD") in said
    assert (str(code.amount), end.amount, end.may_return) == (paid, f"{paid} USD", False)
    assert code.kind == ("FULL" if paid == "2.00" else "PART")
    assert notices.text("quit", pay=f"{paid} USD") == end.text


@pytest.mark.parametrize("rule", Campaign.QuitRule.values)
def test_nothing_said_is_declining(rule: str) -> None:
    person = start(campaign_of(rule))
    assert notices.text("stop_not_begun") in read(person)
    assert stopping.stop(person=person, now=NOW).outcome == "DECLINED"
    assert not CompletionCode.objects.exists()


def test_the_partners_opening_alone_is_no_work() -> None:
    person = start(make_campaign("meena_interactive", personas=0, least_work=1))
    assert work.of(person) == work.Work()
    send_message(person, "hello")
    assert work.of(person) == work.Work(2, Fraction(2, 14))


def test_the_least_work_is_never_more_than_the_minimum() -> None:
    person = talk(start(campaign_of(minimum=2)), 2)
    assert stopping.stop(person=person, now=NOW).code.amount == Decimal("2.00")


@pytest.mark.parametrize(
    ("pay", "share", "paid"),
    [
        ("2.00", Fraction(1, 8), "0.25"),
        ("2.00", Fraction(1, 3), "0.67"),
        ("1.99", Fraction(1, 2), "1.00"),
        ("0.01", Fraction(1, 100), "0.01"),
        ("0.00", Fraction(1, 2), "0.00"),
        ("99999.99", Fraction(1, 3), "33333.33"),
        ("99999.99", Fraction(999, 1000), "99900.00"),
    ],
)
def test_a_part_of_a_cent_is_rounded_up(pay: str, share: Fraction, paid: str) -> None:
    terms = payment.Terms(
        pay=Decimal(pay),
        waiting_pay=Decimal(0),
        currency="USD",
        quit_rule="SHARE",
        least_work=LEAST,
        screening_pay=Decimal(0),
    )
    due = payment.part(terms, work.Work(LEAST, share))
    assert due is not None
    assert str(due.amount) == paid


def test_pay_grows_with_the_work_and_never_above_the_promise() -> None:
    for cents in (1, 7, 100, 199):
        terms = payment.Terms(
            pay=Decimal(cents) / 100,
            waiting_pay=Decimal(0),
            currency="USD",
            quit_rule="SHARE",
            least_work=1,
            screening_pay=Decimal(0),
        )
        dues = [payment.part(terms, work.Work(n, Fraction(n, 14))) for n in range(1, 15)]
        amounts = [due.amount for due in dues if due]
        assert len(amounts) == 14
        assert amounts == sorted(amounts)
        assert (min(amounts) > 0, amounts[-1]) == (True, terms.pay)


def test_what_was_said_in_several_conversations_adds_up() -> None:
    campaign = campaign_of()
    person = talk(start(campaign, "A1"), 3)
    stopping.give_away(person=person, now=after(1801))
    back = enrolment.start(person=join(campaign, "A1", after(1900)), now=after(1901))
    talk(back, 2)
    assert work.of(back) == work.Work(5, Fraction(5, MINIMUM))
    assert stopping.stop(person=back, now=after(1902)).code.amount == Decimal("0.84")


def test_what_only_the_partner_said_is_no_work() -> None:
    first, second = pair(people_campaign(least_work=1))
    send_message(first, "hello")
    assert (work.of(first).done, work.of(second).done) == (1, 0)
    send_message(second, "hi")
    assert (work.of(first).done, work.of(second).done) == (2, 2)


def test_who_stopped_without_pay_comes_back_and_their_work_still_counts() -> None:
    campaign = campaign_of()
    person = talk(start(campaign, "A1"), LEAST - 1)
    stopping.stop(person=person, now=NOW)
    back = enrolment.start(person=join(campaign, "A1", after(10)), now=after(11))
    assert back.state == "CHATTING"
    talk(back, 1)
    assert stopping.stop(person=back, now=after(12)).code.amount == Decimal("0.67")
    assert join(campaign, "A1", after(20)).state == "ENDED"


@pytest.mark.parametrize(
    ("messages", "waiting_pay", "outcome", "paid"),
    [
        (2, "0.50", "NOBODY", "0.50"),  # too little for a share
        (LEAST, "0.68", "NOBODY", "0.68"),
        (LEAST, "0.67", "QUIT", "0.67"),
        (LEAST, "0.66", "QUIT", "0.67"),
    ],
)
def test_who_waits_in_vain_after_some_work_gets_what_pays_more(
    messages: int, waiting_pay: str, outcome: str, paid: str
) -> None:
    person = talk(start(campaign_of(waiting_pay=waiting_pay)), messages)
    person.seats.update(active=False)
    Participation.objects.update(state="WAITING", waiting_at=NOW)
    later = after(301)
    person.refresh_from_db()
    assert f"{paid} USD" in screens.stop_means(person=person, now=later)
    stopped = stopping.stop(person=person, now=later)
    assert (stopped.outcome, str(stopped.code.amount)) == (outcome, paid)


@pytest.mark.parametrize(("rule", "messages", "paid"), PAID)
def test_the_ledger_checker_finds_the_same_due_and_every_other_amount(
    rule: str, messages: int, paid: str | None
) -> None:
    campaign = campaign_of(rule)
    person = talk(start(campaign), messages)
    stopping.stop(person=person, now=NOW)

    def found() -> list[str]:
        case = checks.Case({}, snapshot.take(campaign), None)
        return [*checks.unpaid(case), *checks.without_data(case)]

    assert found() == []
    if paid is None:
        CompletionCode.objects.create(participation=person, code="A", kind="PART", amount="0.01")
    else:
        CompletionCode.objects.update(amount=Decimal(paid) - Decimal("0.01"))
    assert len(found()) == 1


@pytest.mark.parametrize("messages", [LEAST - 1, LEAST])
def test_the_ledger_checker_knows_what_who_left_may_come_back_to(messages: int) -> None:
    """Nothing below the least work; the share of it where the study is full meanwhile."""
    campaign = campaign_of(target=1)
    person = talk(start(campaign), messages)
    stopping.give_away(person=person, now=after(1900))
    Campaign.objects.update(state="CLOSED")
    person.refresh_from_db()
    return_pay.come_back(person=person, now=after(1901))

    def found() -> list[str]:
        case = checks.Case({}, snapshot.take(campaign), None)
        return [*checks.unpaid(case), *checks.without_data(case)]

    assert found() == []
    assert CompletionCode.objects.count() == (messages >= LEAST)
    if messages < LEAST:
        CompletionCode.objects.create(participation=person, code="A", kind="PART", amount="0.01")
    else:
        CompletionCode.objects.update(amount=Decimal("0.68"))
    assert len(found()) == 1


# --- steps of rating --------------------------------------------------------------------------


def test_the_questions_after_a_chat_weigh_nothing() -> None:
    """Who reached the minimum and stops at the form has earned all that the messages earn."""
    person = talk(start(campaign_of()), MINIMUM)
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    person.refresh_from_db()
    assert person.state == "RATING"
    assert "paid 2.00 USD" in read(person)
    assert stopping.stop(person=person, now=NOW).code.amount == Decimal("2.00")


def test_who_was_left_by_their_partner_and_stops_at_the_form_is_paid_by_messages() -> None:
    settings = {"chat.minimum": [MINIMUM]}
    first, second = pair(people_campaign(changes=settings))
    for number in range(3):
        send_message(first, f"hello number {number}")
        send_message(second, f"hi number {number}")
    stopping.stop(person=first, now=NOW)
    second.refresh_from_db()
    assert second.state == "RATING"
    assert stopping.stop(person=second, now=NOW).code.amount == Decimal("1.00")


def judging(done: int, given: int, released: int = 0, **changes: Any) -> Participation:
    """Return somebody who judged so many of the replies that they were given."""
    campaign = make_campaign("meena_static", personas=0, least_work=LEAST, **changes)
    person = make_participation(campaign, state="RATING")
    states = ["DONE"] * done + ["RESERVED"] * (given - done) + ["RELEASED"] * released
    for place, state in enumerate(states):
        item = Item.objects.create(
            campaign=campaign, key=str(place), context=make_context(campaign), target=5, reserved=1
        )
        Assignment.objects.create(item=item, participation=person, place=place, state=state)
    return Participation.objects.get(pk=person.pk)


@pytest.mark.parametrize(
    ("rule", "done", "paid"),
    [
        ("SHARE", LEAST - 1, None),
        ("SHARE", LEAST, "1.00"),
        ("SHARE", 7, "1.75"),
        ("FULL", LEAST - 1, None),
        ("FULL", LEAST, "2.00"),
        ("MINIMUM", 7, None),
    ],
)
def test_without_a_chat_the_replies_judged_are_the_work(
    rule: str, done: int, paid: str | None
) -> None:
    person = judging(done, given=8, released=3, quit_rule=rule)
    assert submission.current(person) is not None
    said = read(person)
    code = payment.code_of(stopping.stop(person=person, now=NOW))
    assert (str(code.amount) if code else None) == paid
    assert (notices.text("stop_paid", pay=f"{paid} USD") in said) == bool(paid)


def test_no_reply_judged_is_declining_and_few_given_need_only_so_many() -> None:
    assert stopping.outcome_of_stopping(judging(0, 8), NOW) == "DECLINED"
    person = judging(2, 3)
    assert payment.due(person, "QUIT") is None
    Assignment.objects.filter(participation=person).update(state="DONE")
    assert payment.due(person, "QUIT") == payment.Due("FULL", Decimal("2.00"))


def test_the_rule_of_the_consent_binds() -> None:
    person = talk(start(campaign_of()), LEAST)
    Campaign.objects.update(quit_rule="MINIMUM", least_work=12)
    assert stopping.stop(person=person, now=NOW).code.amount == Decimal("0.67")
