"""The live page's numbers, counted from rows by as many queries at 1 row as at 100."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.factories import (
    NOW,
    make_campaign,
    make_context,
    make_participation,
    make_staff,
    make_system,
)
from tests.webapp.services import third
from tests.webapp.services.people import after
from webapp.models import (
    Bonus,
    Campaign,
    Candidate,
    CompletionCode,
    Conversation,
    Flag,
    Heartbeat,
    Item,
    Participation,
    QuotaCell,
    ReplyJob,
)
from webapp.services.monitoring import campaign_list, monitor, review
from webapp.services.replies import allowances, heartbeats, load
from webapp.services.replies import given_up as replies_given_up
from webapp.services.rules import access, ledger, states

pytestmark = pytest.mark.django_db
P, Outcome = Participation.State, Participation.Outcome


def worker(*bots: str) -> None:
    Heartbeat.objects.create(name=f"w{bots}", kind="replies", bots=list(bots), seen_at=NOW)


def make_job(campaign: Campaign, number: int = 1, **changes: object) -> ReplyJob:
    conversation = Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(),
        seed=number,
        started_at=NOW,
        **{"purpose": changes.pop("purpose", "STUDY")},
    )
    defaults = {"in_reply_to": 1, "bot": "parrot", "queued_at": NOW - timedelta(seconds=20)}
    return ReplyJob.objects.create(conversation=conversation, **defaults | changes)


def names(live: monitor.Live) -> set[str]:
    return {alarm.name for alarm in live.alarms}


def test_the_funnel_counts_every_person_in_one_step() -> None:
    campaign = make_campaign()
    for state in (P.READY, P.WAITING, P.MATCHED, P.CHATTING, P.CHATTING, P.RATING):
        make_participation(campaign, state=state)
    for outcome in (
        Outcome.COMPLETED,
        Outcome.PARTNER_LEFT,
        Outcome.LEFT,
        Outcome.FULL,
        Outcome.FAILED,
    ):
        make_participation(campaign, state=P.ENDED, outcome=outcome)
    make_participation(make_campaign())
    counts = {step.name: step.count for step in monitor.funnel(campaign, NOW)}
    assert counts == {
        "joined": 11,
        "ready": 1,
        "waiting": 2,
        "chatting": 2,
        "rating": 1,
        "done": 2,
        "lost": 3,
    }
    assert counts["joined"] == sum(counts.values()) - counts["joined"]


@pytest.mark.parametrize(
    ("protocol", "between"),
    [
        ("personachat_bot", ["waiting", "chatting", "rating"]),
        ("meena_human", ["waiting", "chatting"]),
        ("meena_static", ["rating"]),
        ("personachat_personas", ["writing"]),
    ],
)
def test_the_funnel_has_the_steps_that_there_are(protocol: str, between: list[str]) -> None:
    campaign = make_campaign(protocol)
    assert steps(campaign) == ["joined", "ready", *between, "done", "lost"]
    make_participation(campaign, state=P.WAITING)  # for a slot, which is everywhere
    assert "waiting" in steps(campaign)


def steps(campaign: Campaign) -> list[str]:
    return [step.name for step in monitor.funnel(campaign, NOW)]


def test_money_is_codes_and_bonuses_of_what_all_targets_cost() -> None:
    campaign = make_campaign(target=10)
    make_system(campaign, "beta", target=5)
    person = make_participation(campaign, state=P.ENDED, outcome=Outcome.COMPLETED)
    CompletionCode.objects.create(participation=person, code="a", kind="FULL", amount="2.00")
    Bonus.objects.create(participation=person, amount="0.50", reason="Kind.", given_by=make_staff())
    ledger.begin(campaign)
    money = monitor.live(campaign, NOW).money
    assert (money.spent, money.budget) == (Decimal("2.50"), 17 * Decimal("2.50"))


@pytest.mark.parametrize(
    ("spent", "budget", "percent"),
    [("0", "0", 0), ("5", "0", 0), ("49.6", "100", 50), ("100", "100", 100), ("130", "100", 100)],
)
def test_the_bar_of_the_money_is_never_longer_than_full(
    spent: str, budget: str, percent: int
) -> None:
    assert monitor.Money(Decimal(spent), Decimal(budget), "USD").percent == percent


@pytest.mark.parametrize(
    ("used", "said"),
    [("49.99", ""), ("50", "50"), ("79.99", "50"), ("80", "80"), ("94.99", "80"), ("95", "95")],
)
def test_shares_of_the_budget_and_of_the_tokens_are_told(used: str, said: str) -> None:
    campaign = make_campaign()
    books = ledger.Books(budget=Decimal(100), reserved=Decimal(10), spent=Decimal(used) - 10)
    money = [each.text for each in monitor._money_alarms(campaign, books)]
    tokens = allowances.TokenBooks("tokens", Decimal(100), Decimal(used), Decimal(0))
    found = list(monitor._token_alarms([tokens]))
    assert [f"At least {said} %" in text for text in money] == [True] * bool(said)
    assert [each.text.startswith(f"{said} %") for each in found] == [True] * bool(said)
    level = "danger" if said == "95" else "warning"
    assert [each.level for each in found] == [level] * bool(said)


@pytest.mark.parametrize(
    ("protocol", "more"), [("personachat_bot", ""), ("meena_static", "&purpose=CONTEXT")]
)
def test_a_system_s_progress_leads_to_its_conversations(protocol: str, more: str) -> None:
    campaign = make_campaign(protocol)
    (row,) = monitor.live(campaign, NOW).progress
    assert row.query == f"system={campaign.systems.get().pk}{more}"


def test_a_static_campaign_counts_votes_and_pays_batches() -> None:
    campaign = make_campaign("meena_static", personas=0)
    for number in range(3):
        conversation = make_job(campaign, number, purpose="CONTEXT").conversation
        item = Item.objects.create(
            campaign=campaign,
            key=str(number),
            context=make_context(campaign),
            target=15,
            completed=number,
        )
        Candidate.objects.create(
            item=item, key="r", conversation=conversation, system=conversation.system, side=1
        )
    live = monitor.live(campaign, NOW)
    assert [(row.completed, row.target) for row in live.progress] == [(3, 45)]
    # 45 votes for 3 items, each of which a person judges once: 15 people, and 2 more
    assert live.money.budget == 17 * Decimal("2.50")


def test_a_bot_s_queue_reply_times_and_workers() -> None:
    campaign = make_campaign()
    worker("*")
    worker("generic")
    for seconds in range(1, 21):
        done = NOW - timedelta(seconds=20) + timedelta(seconds=seconds)
        make_job(campaign, seconds, state="DONE", answered_at=done)
    make_job(campaign, 30)
    make_job(campaign, 31, purpose="REHEARSAL", state="DONE", answered_at=NOW + timedelta(days=1))
    (bot,) = monitor.live(campaign, NOW).bots
    assert (bot.p50, bot.p95, bot.replies) == (10.0, 19.0, 20)
    assert (bot.waiting, bot.oldest, bot.workers) == (1, 20.0, 1)


def test_a_bot_s_batches_and_memory_and_whether_it_is_being_loaded() -> None:
    campaign = make_campaign()
    for number, (seconds, batch) in enumerate([(0.1, 1), *[(0.4, 4)] * 4], start=1):
        details = {"seconds": seconds, "batch": batch}
        make_job(campaign, number, state="DONE", answered_at=NOW, details=details)
    for name, state in (
        ("one", heartbeats.State(memory={"parrot": (100.0, 20.0)}, losses={"parrot": 2})),
        ("two", heartbeats.State(memory={"parrot": (50.0, 0.0)}, warming=["parrot"])),
    ):
        heartbeats.beat(name=name, bots=["parrot"], state=state)
    (bot,) = monitor.live(campaign, timezone.now()).bots
    assert (bot.thinking, bot.batch) == (0.4, 2.5)  # one batch of 1, one of 4
    assert (bot.memory, bot.losses) == (170.0, 2)
    assert (bot.workers, bot.warming) == (1, 1)


def test_quantiles_are_the_smallest_value_that_enough_do_not_exceed() -> None:
    assert load.quantile([], 0.5) is None
    assert load.quantile([3.0], 0.95) == 3.0
    assert load.quantile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.0


def test_alarms_say_what_is_wrong_and_go_when_it_is_not() -> None:
    campaign = make_campaign()
    assert names(monitor.live(campaign, NOW)) == {"workers"}
    worker("parrot")
    assert names(monitor.live(campaign, NOW)) == set()
    late = make_job(campaign)
    given_up = make_job(campaign, 2, state="FAILED", attempt=3)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.PAUSED)
    assert names(monitor.live(campaign, NOW)) == {"late", "failed", "paused"}
    late.delete()
    replies_given_up.retry(campaign=campaign, pk=given_up.pk, by=make_staff(), now=NOW)
    given_up.refresh_from_db()
    assert (given_up.state, given_up.attempt) == (ReplyJob.State.QUEUED, 0)
    assert "failed" not in names(monitor.live(campaign, NOW))


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("state", "limit"), [(s, monitor.SILENT_AFTER[s]) for s in P if s != P.ENDED]
)
def test_who_gives_no_sign_of_life_is_marked(state: str, limit: timedelta) -> None:
    """At the limit nobody is; one second later they are, on the live page and in the list."""
    campaign = make_campaign()
    make_participation(campaign, state=state, seen_at=NOW - limit)
    gone = make_participation(campaign, state=state, seen_at=NOW - limit - SECOND)
    make_participation(campaign, state=P.ENDED, outcome="LEFT", seen_at=NOW - 9 * limit)
    steps = {step.name: (step.count, step.silent) for step in monitor.funnel(campaign, NOW)}
    assert [pair for pair in steps.values() if pair[1]] == [(2, 1)]
    marked = [row.pk for row in review.people(campaign, {}, NOW) if row.silent is not None]
    assert marked == [gone.pk]


def test_the_pace_is_that_of_a_crowd_of_known_speed() -> None:
    """Ten finish per hour, one every 6 minutes and each in 9; two were slower, one did not."""
    campaign = make_campaign(target=40)
    system, cell = campaign.systems.get(), campaign.systems.get().cell
    assert monitor.live(campaign, NOW).pace == monitor.Pace(None, 0, True, 40)
    for number in range(25):
        ended = NOW - timedelta(minutes=6 * number)
        took = timedelta(minutes=9 if number > 1 else 300)
        outcome = Outcome.QUIT if number == 3 else Outcome.COMPLETED
        person = make_participation(campaign, state=P.ENDED, outcome=outcome, ended_at=ended)
        Participation.objects.filter(pk=person.pk).update(joined_at=ended - took)
        chat = Conversation.objects.create(
            campaign=campaign, system=system, seed=number, started_at=ended, ended_at=ended
        )
        chat.seats.create(side=0, participation=person, active=False, outcome=outcome)
    QuotaCell.objects.filter(pk=cell.pk).update(completed=22)
    pace = monitor.live(campaign, NOW).pace
    assert (pace.minutes, pace.completed, pace.left) == (9.0, 9, 18)  # one of the last ten quit
    assert pace.hours_left == 2.0
    QuotaCell.objects.filter(pk=cell.pk).update(completed=40)
    assert monitor.live(campaign, NOW).pace.hours_left is None
    assert monitor.live(campaign, NOW + timedelta(hours=9)).pace.completed == 0


def test_the_pace_without_a_chat_is_counted_in_answers_to_items() -> None:
    campaign = third.labeling(third.chatted())
    third.judge_all(campaign, "rater")
    soon = monitor.live(campaign, after(700)).pace
    assert (soon.completed, soon.has_chat, soon.left) == (4, False, 5 * 4 - 4)
    assert soon.hours_left == 4.0
    assert monitor.live(campaign, after(600 + 3600)).pace.completed == 0


def test_only_a_reply_that_was_given_up_here_is_retried() -> None:
    campaign, other = make_campaign(), make_campaign()
    job = make_job(campaign, state="DONE")
    with pytest.raises(states.Illegal):
        replies_given_up.retry(campaign=campaign, pk=job.pk, by=make_staff(), now=NOW)
    with pytest.raises(access.NotFound):
        replies_given_up.retry(campaign=other, pk=job.pk, by=make_staff(), now=NOW)


def fill(campaign: Campaign, count: int) -> None:
    for number in range(count):
        make_job(campaign, number, state="DONE", answered_at=NOW)
        make_participation(campaign)


def test_queries_do_not_grow_with_the_campaign(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    small, large = make_campaign(), make_campaign()
    fill(small, 1)
    fill(large, 100)
    with CaptureQueriesContext(connection) as queries:
        monitor.live(small, NOW)
    with django_assert_num_queries(len(queries)):
        monitor.live(large, NOW)
    assert len(queries) <= 18  # held payments and overload are alarms


def test_the_list_of_campaigns_has_everything_in_as_many_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    user = make_staff()
    campaign = make_campaign(owner=user)
    fill(campaign, 2)
    QuotaCell.objects.filter(system__campaign=campaign).update(completed=4)
    Flag.objects.create(campaign=campaign, kind="quick")
    with CaptureQueriesContext(connection) as queries:
        (line,) = campaign_list.lines(user, None).object_list
    assert (line.completed, line.target, line.present) == (4, 10, 2)
    assert (line.problem, line.percent) == ("quick", 40)
    make_job(campaign, 9, state="FAILED")
    for _ in range(40):
        make_campaign("meena_interactive", owner=user, personas=0)
    with django_assert_num_queries(len(queries)):
        lines = campaign_list.lines(user, None).object_list
    assert lines[-1].problem == "1 failed reply"
    assert len(lines) == 41
