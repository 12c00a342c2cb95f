"""Launching: the checklist decides, the plan is frozen and hashed, later changes are amendments."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any, get_args, get_type_hints

import pytest
from django.utils.translation import override

from evaluation import Draw, Rate
from evaluation.registry import get_protocol, protocol_names
from tests.factories import NOW, make_campaign, make_staff, make_system
from webapp import notices
from webapp.models import (
    Amendment,
    AuditEntry,
    Campaign,
    Context,
    Conversation,
    Heartbeat,
    Item,
    QuotaCell,
    System,
)
from webapp.services.campaign import amendments, checklist, launch
from webapp.services.participation import study_info
from webapp.services.replies import heartbeats
from webapp.services.rules import audit, states
from webapp.services.rules.protocols import protocol_of, task_of
from webapp.services.staff_forms import consent_text
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db


def worker(*bots: str) -> Heartbeat:
    return Heartbeat.objects.create(
        name=f"host:{Heartbeat.objects.count()}", kind="replies", bots=list(bots), seen_at=NOW
    )


def draft(protocol: str = "personachat_bot", **changes: Any) -> Campaign:
    made = make_campaign(protocol, state=Campaign.State.DRAFT, opened_at=None, **changes)
    return Campaign.objects.get(pk=made.pk)  # with amounts as the database has them


def ready(protocol: str = "personachat_bot", **changes: Any) -> Campaign:
    worker("*")
    return draft(protocol, **changes)


def red(campaign: Campaign) -> list[str]:
    return [check.name for check in checklist.checklist(campaign, NOW) if not check.ok]


def launched(**changes: Any) -> Campaign:
    return launch.launch(campaign=ready(**changes), by=make_staff(), now=NOW)


def test_a_complete_draft_is_green() -> None:
    assert red(ready()) == []


def test_each_thing_missing_is_red_in_words() -> None:
    campaign = ready()
    System.objects.filter(campaign=campaign).update(rehearsal=System.Rehearsal.FAILED)
    QuotaCell.objects.update(target=0)
    campaign.personas.filter(key__gte="p3").delete()
    Heartbeat.objects.all().delete()
    campaign.contact, campaign.consent = " ", ""
    names = ["Rehearsal", "Reply workers", "Personas", "Targets", "Consent text", "Contact"]
    assert red(campaign) == names
    assert all(check.text for check in checklist.checklist(campaign, NOW))


def test_a_worker_that_hosts_another_bot_or_went_silent_does_not_count() -> None:
    campaign = draft()
    row = worker("generic")
    assert red(campaign) == ["Reply workers"]
    row.bots = ["parrot"]
    row.save()
    assert red(campaign) == []
    row.seen_at = NOW - 2 * heartbeats.ALIVE
    row.save()
    assert red(campaign) == ["Reply workers"]


def test_no_system_and_a_system_of_the_wrong_kind_are_red() -> None:
    campaign = ready("personachat_human", systems={"bot": "parrot"})
    assert "Systems" in red(campaign)
    empty = ready()
    QuotaCell.objects.filter(system__campaign=empty).delete()
    empty.systems.all().delete()
    assert {"Systems", "Rehearsal", "Targets"} <= set(red(empty))


def test_what_is_red_keeps_the_campaign_a_draft() -> None:
    campaign = ready(contact="")
    with pytest.raises(launch.NotReady, match="Contact"):
        launch.launch(campaign=campaign, by=make_staff(), now=NOW)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.plan, campaign.plan_hash) == (Campaign.State.DRAFT, None, "")
    assert not AuditEntry.objects.filter(action="campaign launched").exists()


def test_the_plan_is_frozen_with_the_hash_of_its_canonical_text() -> None:
    campaign = launched(changes={"chat.minimum": [6, 8]})
    campaign.refresh_from_db()
    plan: Any = campaign.plan
    assert campaign.state == Campaign.State.OPEN
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert campaign.plan_hash == hashlib.sha256(text.encode()).hexdigest()
    settings = {row["setting"]: row for row in plan["protocol"]["settings"]}
    assert settings["chat.minimum"]["value"] == [6, 8]
    assert settings["chat.minimum"]["source_value"] == [12, 14, 16]
    assert settings["chat.minimum"]["departure"]
    assert not settings["chat.pace"]["departure"]
    assert settings["chat.pace"]["provenance"] == "R"
    assert settings["chat.pace"]["provenance_text"] == "from the authors' released code"
    assert [row["name"] for row in plan["systems"]] == ["alpha"]
    assert len(plan["personas"]) == 8
    assert plan["pay"]["amount"] == "2.00"
    assert set(plan["versions"]) == {"parley", "python", "torch", "django"}
    asked = next(step for step in plan["protocol"]["steps"] if step["step"] == "rate")["each"]
    assert asked[0]["text"].startswith("Fluency: judge the fluency of the other speaker")
    assert AuditEntry.objects.get(action="campaign launched").detail["plan_hash"] == (
        campaign.plan_hash
    )


def test_the_hash_is_the_same_for_the_same_content_and_another_for_another() -> None:
    campaign = ready()
    first = launch.plan_hash(launch.plan_of(campaign))
    assert launch.plan_hash(launch.plan_of(Campaign.objects.get(pk=campaign.pk))) == first
    persona = campaign.personas.get(key="p1")
    persona.sentences = [*persona.sentences[:4], "I sold my last boat."]
    persona.save()
    assert launch.plan_hash(launch.plan_of(campaign)) != first


def test_a_second_launch_is_refused() -> None:
    campaign = launched()
    before = campaign.plan_hash
    stale = Campaign.objects.get(pk=campaign.pk)
    stale.state = Campaign.State.DRAFT  # as another page still shows it
    with pytest.raises(states.Illegal):
        launch.launch(campaign=stale, by=make_staff(), now=NOW)
    campaign.refresh_from_db()
    assert campaign.plan_hash == before
    assert AuditEntry.objects.filter(action="campaign launched").count() == 1


def test_a_static_campaign_needs_all_replies_and_gets_the_raters_of_its_plan() -> None:
    campaign = ready("meena_static", personas=0, changes={"rate.votes": 3})
    assert red(campaign) == ["Contexts", "Replies to contexts"]
    Context.objects.create(campaign=campaign, key="c1", messages=["Tea?"])
    assert red(campaign) == ["Replies to contexts"]
    Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(),
        purpose=Conversation.Purpose.CONTEXT,
        context="c1",
        state=Conversation.State.FINISHED,
        seed=1,
        started_at=NOW,
    )
    item = Item.objects.create(
        campaign=campaign, key="c1:1", context=Context.objects.get(), target=5
    )
    launch.launch(campaign=campaign, by=make_staff(), now=NOW)
    item.refresh_from_db()
    assert item.target == 3


def test_pause_resume_and_stop_are_amendments_with_their_reason() -> None:
    campaign, by = launched(), make_staff("ann")
    for act in (amendments.pause, amendments.resume, amendments.stop):
        act(campaign=campaign, by=by, reason="As agreed.", now=NOW)
    texts = [row.text for row in amendments.amendments(campaign)]
    assert texts == ["Paused. As agreed.", "Resumed. As agreed.", "Stopped. As agreed."]
    campaign.refresh_from_db()
    assert (campaign.state, campaign.ended_at) == (Campaign.State.STOPPED, NOW)
    assert list(audit.broken_links()) == []


@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        (Campaign.State.DRAFT, set()),
        (Campaign.State.OPEN, {"pause", "stop", "extend", "pay"}),
        (Campaign.State.PAUSED, {"resume", "stop", "extend", "pay"}),
        (Campaign.State.STOPPED, set()),
        (Campaign.State.CLOSED, set()),
    ],
)
def test_what_each_state_allows(state: str, allowed: set[str]) -> None:
    by = make_staff()
    more: Any = {"by": by, "reason": "Why not.", "now": NOW}
    acts: dict[str, Callable[[Campaign], Campaign]] = {
        "pause": lambda row: amendments.pause(campaign=row, **more),
        "resume": lambda row: amendments.resume(campaign=row, **more),
        "stop": lambda row: amendments.stop(campaign=row, **more),
        "extend": lambda row: amendments.extend(campaign=row, more={"alpha": 1}, **more),
        "pay": lambda row: amendments.change_pay(campaign=row, pay=Decimal("3.00"), **more),
    }
    for name, act in acts.items():
        campaign = make_campaign(state=state)
        if name in allowed:
            act(campaign)
            assert Amendment.objects.filter(campaign=campaign).count() == 1
        else:
            with pytest.raises(states.Illegal):
                act(campaign)
            assert not Amendment.objects.filter(campaign=campaign).exists()


def test_extending_grows_targets_and_leaves_the_plan() -> None:
    campaign = launched()
    before = campaign.plan_hash
    make_system(campaign, "beta")
    amendments.extend(
        campaign=campaign, more={"alpha": 5, "beta": 0}, by=make_staff(), reason="More.", now=NOW
    )
    targets = {cell.system.name: cell.target for cell in QuotaCell.objects.all()}
    assert targets == {"alpha": 15, "beta": 10}
    assert amendments.amendments(campaign)[0].text == (
        "Extended: alpha 10 → 15. Budget: 27.50 → 40.00 USD. More."
    )
    campaign.refresh_from_db()
    assert launch.plan_hash(campaign.plan) == before


@pytest.mark.parametrize("more", [{}, {"alpha": 0}, {"nobody": 5}])
def test_extending_by_nothing_is_refused(more: dict[str, int]) -> None:
    with pytest.raises(Invalid, match="how many more"):
        amendments.extend(campaign=launched(), more=more, by=make_staff(), reason="More.", now=NOW)


@pytest.mark.parametrize(("pay", "said"), [("2.00", "already"), ("0.10", "no partner is found")])
def test_a_pay_that_makes_no_sense_is_refused(pay: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        amendments.change_pay(
            campaign=launched(), pay=Decimal(pay), by=make_staff(), reason="Fair.", now=NOW
        )


def test_a_campaign_keeps_the_words_and_numbers_of_its_plan() -> None:
    """Participants of one study read one text, also after the server was brought up to date."""
    campaign = launched()
    assert protocol_of(campaign) == get_protocol("personachat_bot")
    plan = campaign.plan or {}
    plan["protocol"]["steps"][0] |= {"told": "Words of an older version.", "maximum": 40}
    Campaign.objects.update(plan=plan, plan_hash=launch.plan_hash(plan))
    older = protocol_of(Campaign.objects.get())
    assert older.chat is not None
    assert (older.chat.told, older.chat.maximum) == ("Words of an older version.", 40)
    assert older.chat.minimum == Draw((12, 14, 16))
    assert study_info.of(Campaign.objects.get()).partner_notice == "Words of an older version."


def test_a_draft_follows_its_protocol() -> None:
    campaign = draft(plan={"protocol": {"steps": [{"step": "chat", "told": "Old."}]}})
    assert protocol_of(campaign) == get_protocol("personachat_bot")


def check_of(name: str, **changes: Any) -> checklist.LaunchCheck:
    checks = checklist.checklist(draft(**changes), NOW)
    return {check.name: check for check in checks}[name]


@pytest.mark.parametrize(
    ("pay", "minutes", "currency", "warns"),
    [
        ("50.00", 1, "USD", True),
        ("8.00", 60, "USD", False),
        ("7.99", 60, "USD", True),
        ("6.00", 60, "GBP", False),
        ("5.99", 60, "GBP", True),
        ("8.00", 60, "EUR", False),
        ("7.99", 60, "EUR", True),
        ("100.00", 60, "EUR", False),
        ("100.01", 60, "EUR", True),
        ("900.00", 60, "JPY", False),  # what is usual there is not known
        ("0.00", 10, "USD", False),  # volunteers
    ],
)
def test_an_unusual_pay_warns_and_does_not_stop_a_launch(
    pay: str, minutes: int, currency: str, warns: bool
) -> None:
    check = check_of("Pay", pay=pay, minutes=minutes, currency=currency)
    assert (check.ok, check.warns) == (True, warns)
    assert ("check pay and minutes" in check.text) == warns


@pytest.mark.parametrize("name", protocol_names())
def test_the_first_page_and_the_consent_text_say_what_people_do(name: str) -> None:
    protocol = get_protocol(name)
    said = study_info.of(make_campaign(name)).task
    assert f" {said} " in consent_text.prefilled(protocol)
    with override("de"):
        assert study_info.of(make_campaign(name)).task != said
        assert f" {said} " in consent_text.prefilled(protocol), (
            "the draft is in the source's language"
        )
    words = " ".join(map(str, protocol.instructions)).lower()
    assert ("about anything you like" in said) == (name in ("meena_human", "live_engagement"))
    assert ("sheet" in said) == (protocol.chat is not None and protocol.chat.brief is not None)
    assert ("compare" in said) == any(rate.show != "one" for rate in protocol.rates)
    assert ("message by message" in said) == ("message by message" in words)


def test_whatever_can_be_judged_without_a_chat_has_its_sentence() -> None:
    """Of protocols that people build, too: each thing that a step may ask about, however shown."""
    tasks = {"chat", "persona_chat", "sheet_chat", "rated_chat", "write"}
    protocol = get_protocol("meena_static")
    hints = get_type_hints(Rate)
    about = set(get_args(hints["over"])) - {"partner"}  # who would have chatted
    for over, show, most in product(about, get_args(hints["show"]), (0, 3)):
        with suppress(ValueError):  # what no protocol may be
            step = replace(protocol.rates[0], over=over, show=show, messages=(most, most))
            tasks.add(task_of(replace(protocol, steps=(step,))))
    assert tasks == set(notices.TASKS)


@pytest.mark.parametrize("protocol", protocol_names())
def test_the_consent_text_that_a_campaign_begins_with_is_complete(protocol: str) -> None:
    text, minutes = consent_text.prefilled(get_protocol(protocol)), get_protocol(protocol).minutes
    assert not check_of("Consent text", consent=text, minutes=minutes).warns


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"minutes": 7}, ""),
        ({"minutes": 8}, "It says 7 minutes, the duration is 8."),
        ({"minutes": 7, "pay": "0.01"}, ""),
        ({"minutes": 7, "pay": "0.00"}, "It speaks of pay, and nothing is paid."),
    ],
)
def test_a_consent_text_that_contradicts_the_page_beside_it_warns(
    changes: dict[str, Any], said: str
) -> None:
    text = consent_text.prefilled(replace(get_protocol("convai2_wild"), minutes=7))
    check = check_of("Consent text", consent=text, **changes)
    assert (check.ok, check.warns) == (True, bool(said))
    assert check.text.endswith(said)


@pytest.mark.parametrize(
    ("consent", "said"),
    [
        ("You agree to this.", "That is short. It does not seem to say: what is kept; that taking"),
        ("<b>Stop</b> at any time.", "It has HTML, which is shown as it is typed"),
        ("We keep all. It is voluntary. " + "x" * 300, "not seem to say: how to withdraw."),
    ],
)
def test_a_poor_consent_text_warns(consent: str, said: str) -> None:
    check = check_of("Consent text", consent=consent)
    assert (check.ok, check.warns) == (True, True)
    assert said in check.text
