"""`manage.py verify`: an honest campaign has no fault, and each seeded one is named (R42)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import F

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.data.test_wild_exports import chatting, score, talk
from tests.webapp.services.people import after, join, pair, people_campaign, send_message, start
from tests.webapp.views.visiting import campaign_of, good_answers, rating_visit
from webapp.models import (
    Assignment,
    AuditEntry,
    Bonus,
    Campaign,
    CompletionCode,
    Event,
    ExternalId,
    Item,
    Participation,
    PayLedger,
    QuotaCell,
    Rating,
    Receipt,
)
from webapp.services.ops import host_clocks, verifying
from webapp.services.participation import privacy, stopping
from webapp.services.rules import payment

pytestmark = pytest.mark.django_db


def honest() -> Campaign:
    """Return a campaign whose people finished, stopped, declined, withdrew, or are at work."""
    campaign = make_campaign(changes={"chat.minimum": [2]}, least_work=1, pay="1.10")
    visit = rating_visit(campaign)
    visit.post("rate", good_answers(visit.get()))
    for name in ("quits", "withdraws"):
        person = start(campaign, name)
        send_message(person, "Hello there friend")
        stopping.stop(person=person, now=after(60))
    payment.bonus(person=person, amount=Decimal("0.30"), reason="Kind.", by=make_staff(), now=NOW)
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(90))
    stopping.stop(person=start(campaign, "declines"), now=after(60))
    start(campaign, "works")
    join(campaign, "reads")
    return campaign


def quit_by() -> Participation:
    return Participation.objects.get(external__value="quits")


def raise_spent() -> None:
    PayLedger.objects.update(spent=F("spent") + 1)


def lose_code() -> None:
    CompletionCode.objects.filter(participation__outcome="COMPLETED").delete()
    PayLedger.objects.update(spent=F("spent") - 110)


def pay_more() -> None:
    CompletionCode.objects.filter(participation=quit_by()).update(amount="9.00")


def lose_a_bonus() -> None:
    Bonus.objects.all().delete()


def leak_a_slot() -> None:
    QuotaCell.objects.update(reserved=F("reserved") + 1)


def leave_pay_behind() -> None:
    Participation.objects.filter(pk=quit_by().pk).update(reserved_pay="1.10")
    PayLedger.objects.update(reserved=F("reserved") + 110)


def keep_an_id() -> None:
    person = Participation.objects.get(withdrawn_at__isnull=False)
    ExternalId.objects.create(participation=person, platform="prolific", value="x")


def keep_ids_too_long() -> None:
    Campaign.objects.update(ended_at=NOW - timedelta(days=92))


def reserve_an_item() -> None:
    Item.objects.update(completed=F("completed") - 1)


def owe_a_form() -> None:
    Assignment.objects.update(state="RESERVED")
    Item.objects.update(completed=0, reserved=1)


def lose_a_message() -> None:
    Event.objects.filter(kind="message", content__text="Hello there friend").delete()


def count_a_message_too_many() -> None:
    conversation = Event.objects.filter(kind="message").latest("pk").conversation
    type(conversation).objects.filter(pk=conversation.pk).update(messages_0=7)


def change_words() -> None:
    Event.objects.filter(kind="message", content__text__startswith="Hello").update(
        content={"text": "Bye"}
    )


def set_a_host_wrong() -> None:
    host_clocks.note("web-1", timedelta(hours=-1), now=NOW)


OF_THE_SERVER = ("audit log", "clocks")  # and of no campaign
SEEDED: dict[Callable[[], object], tuple[str, str]] = {
    lose_a_message: ("conversations", ", the log has "),
    count_a_message_too_many: ("conversations", "messages_0 is 7, the log says 1"),
    leak_a_slot: ("slots", "system alpha: reserved is 2, 1 are held by people"),
    reserve_an_item: ("items", "has 0 reserved and 0 completed, its forms say 0 and 1"),
    lambda: PayLedger.objects.update(reserved=0): (
        "pay held",
        "the ledger has reserved 0.00, people at work hold 1.10",
    ),
    raise_spent: ("pay spent", "codes and bonuses are "),
    lose_a_bonus: ("pay spent", "the ledger has spent "),
    lose_code: ("codes", "ended as COMPLETED and has no code"),
    pay_more: ("codes", "has a code of 9.00, and was promised 1.10 at most"),
    lambda: Rating.objects.all().delete(): ("ratings", ": no answer"),
    owe_a_form: ("ratings", "was paid and owes "),
    leave_pay_behind: ("left behind", "ended and holds 0 slots and 1.10"),
    keep_an_id: ("ids", "withdrew and its id is kept"),
    keep_ids_too_long: ("ids", "ids are kept of a campaign that ended on 2025-10-05"),
    lambda: AuditEntry.objects.filter(number=2).delete(): ("audit log", "entry 3: the entry"),
    lambda: AuditEntry.objects.filter(number=2).update(actor="x"): ("audit log", "entry 2: it was"),
    change_words: ("receipts", "the stored words have "),
    lambda: Receipt.objects.update(previous="f" * 64): ("receipts", "the one before it is missing"),
    set_a_host_wrong: ("clocks", "host web-1 was 3600 s behind the database's"),
}


def test_each_seeded_fault_is_found_by_its_check_with_campaign_and_value() -> None:
    campaign = honest()
    assert list(verifying.findings(NOW)) == []
    missed = []
    for seed, (check, words) in SEEDED.items():
        with transaction.atomic():
            seed()
            found = list(verifying.CHECKS[check](NOW))
            transaction.set_rollback(True)
        whose = None if check in OF_THE_SERVER else campaign.pk
        if not any(key == whose and words in line for key, line in found):
            missed.append((check, words, found))
    assert missed == []
    assert {check for check, _ in SEEDED.values()} == set(verifying.CHECKS), "one for each check"
    assert list(verifying.findings(NOW)) == []


def test_people_who_talk_to_each_other_are_no_fault() -> None:
    first, second = pair(people_campaign())
    send_message(first, "Hello there")
    send_message(second, "Good day")
    start(first.campaign)
    assert list(verifying.findings(NOW)) == []
    stopping.stop(person=first, now=after(60))
    assert list(verifying.findings(NOW)) == []


def test_labels_that_nobody_had_to_give_are_no_missing_answers() -> None:
    """Of such a conversation the form after it is one."""
    visit = chatting(campaign_of("convai2_wild", changes={"chat.minimum": [2]}))
    talk(visit, [("human", "Hello there"), ("bot", "Good day")])
    score(visit, "2")
    assert {each.item.key.rpartition(":")[2] for each in Assignment.objects.all()} == {
        "live",
        "after",
    }
    assert list(verifying.findings(NOW)) == []
    Rating.objects.all().delete()
    ((_, words),) = verifying.CHECKS["ratings"](NOW)
    assert words.endswith(":after: no answer")


def test_the_command_names_campaign_and_value_and_fails() -> None:
    campaign, said = honest(), StringIO()
    raise_spent()
    with pytest.raises(CommandError, match="1 faults") as end:
        call_command("verify", stdout=said)
    assert end.value.returncode == 1
    (line,) = said.getvalue().splitlines()
    assert line.startswith(f"campaign {campaign.pk} ({campaign.name}): pay spent: the ledger has")
