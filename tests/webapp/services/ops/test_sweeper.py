"""What is overdue is done once, whoever ticks, however often (R9, R22, R26)."""

from __future__ import annotations

import pytest

from tests.factories import make_campaign
from tests.webapp.services.people import (
    after,
    conversation_of,
    join,
    pair,
    people_campaign,
    see,
    send_message,
    start,
)
from webapp.models import (
    AuditEntry,
    Campaign,
    Event,
    ExternalId,
    Heartbeat,
    Participation,
    QuotaCell,
)
from webapp.services.conversation import matching
from webapp.services.ops import sweep_turn, sweeper
from webapp.services.rules import payment

pytestmark = pytest.mark.django_db


def done(now: float) -> dict[str, int]:
    """Tick and return only what was done."""
    return {kind: count for kind, count in sweeper.tick(after(now)).items() if count}


def test_with_nothing_overdue_nothing_is_done() -> None:
    start(make_campaign())
    assert done(1) == {}


def test_a_missed_ready_check_is_ended_once() -> None:
    campaign = people_campaign()
    start(campaign), start(campaign)
    assert done(15) == {}
    assert done(16) == {"ready_checks": 1}
    assert done(16) == {}


def test_a_partner_who_vanished_is_parted_after_the_grace() -> None:
    gone, waiting = pair(people_campaign())
    see(waiting, now=after(91))
    assert done(91) == {"vanished": 1}
    assert Participation.objects.get(pk=gone.pk).state == "READY"
    assert Participation.objects.get(pk=waiting.pk).state == "WAITING"
    assert done(92) == {}


def test_nobody_is_parted_from_a_bot_within_half_an_hour() -> None:
    person = start(make_campaign())
    assert done(1800) == {}
    assert done(1801) == {"gone": 1}
    person.refresh_from_db()
    assert person.outcome == "LEFT"
    assert done(1802) == {}


@pytest.mark.parametrize("state", ["READY", "WAITING", "CHATTING", "RATING"])
def test_from_every_state_who_is_gone_for_half_an_hour_is_ended(state: str) -> None:
    person = join(make_campaign())
    Participation.objects.update(state=state)
    assert done(1801) == {"gone": 1}
    person.refresh_from_db()
    assert person.outcome == "LEFT"


def test_waiters_are_matched_by_the_tick() -> None:
    campaign = people_campaign()
    first, second = start(campaign), start(campaign, now=after(20))
    see(first, second, now=after(21))
    assert done(22) == {"matched": 1}
    assert conversation_of(first) == conversation_of(second)


def test_a_stopped_campaign_is_emptied() -> None:
    campaign = make_campaign()
    for _ in range(3):
        start(campaign)
    Campaign.objects.update(state=Campaign.State.STOPPED)
    assert done(1) == {"stopped": 3}
    assert set(Participation.objects.values_list("outcome", flat=True)) == {"STOPPED"}
    assert done(2) == {}


def test_a_complete_campaign_is_closed_once() -> None:
    campaign = make_campaign(target=1)
    person = start(campaign)
    assert done(1) == {}
    payment.settle(person=person, outcome=Participation.Outcome.COMPLETED, now=after(2))
    assert done(3) == {"complete": 1}
    campaign.refresh_from_db()
    assert (campaign.state, campaign.ended_at) == ("CLOSED", after(3))
    assert done(4) == {}
    assert AuditEntry.objects.filter(action="campaign complete").count() == 1


def test_outside_ids_are_purged_ninety_days_after_the_end() -> None:
    campaign = make_campaign()
    join(campaign)
    Campaign.objects.update(state=Campaign.State.CLOSED, ended_at=after(0))
    Participation.objects.update(state="ENDED", outcome="LEFT")
    assert done(90 * 86_400 - 1) == {}
    assert done(90 * 86_400 + 1) == {"purged": 1}
    assert not ExternalId.objects.exists()


def test_one_broken_row_does_not_keep_the_others_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    campaign = make_campaign()
    start(campaign)
    monkeypatch.setattr(matching, "expire_checks", None)
    assert done(1801) == {"gone": 1}
    assert "sweeper" in caplog.text


def test_only_one_sweeper_has_its_turn_until_it_is_silent() -> None:
    assert sweep_turn.take(owner="one", now=after(0))
    assert not sweep_turn.take(owner="two", now=after(9))
    assert sweep_turn.take(owner="one", now=after(9))
    assert not sweep_turn.take(owner="two", now=after(18))
    assert sweep_turn.take(owner="two", now=after(20))
    assert not sweep_turn.take(owner="one", now=after(20))


def test_a_sweeper_shows_that_it_lives() -> None:
    sweep_turn.beat(owner="here:1", now=after(0), done={"gone": 1})
    sweep_turn.beat(owner="here:1", now=after(5), done={})
    row = Heartbeat.objects.get(kind="sweeper")
    assert (row.seen_at, row.detail) == (after(5), {})


def test_a_reserved_place_of_who_said_something_and_left_is_free_again() -> None:
    person = start(make_campaign())
    send_message(person, "hello")
    Event.objects.update(made_at=after(0))
    done(1801)
    assert QuotaCell.objects.get().free == 10
