"""Of two people one side rates, drawn, or both do; a bot's partner always rates."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import pytest

from evaluation import Source
from evaluation.frozen import as_planned
from evaluation.registry import get_protocol
from tests.factories import NOW, make_campaign, make_staff
from tests.trust import checks, snapshot
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    meet_bot,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import Assignment, Campaign, CompletionCode, Participation, QuotaCell
from webapp.services.campaign import amendments, checklist, launch
from webapp.services.conversation import chat, opening
from webapp.services.data import conversation_records, tables
from webapp.services.participation import privacy, stopping
from webapp.services.rating import submission
from webapp.services.staff_forms import source_settings
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db


def campaign_of(sides: str = "one", **changes: Any) -> Campaign:
    """Return a campaign of people with the shortest chats."""
    settings = {"rate.sides": sides, "chat.minimum": [2]}
    return people_campaign(changes=settings, **changes)


def talked(campaign: Campaign, seconds: float = 0) -> list[Participation]:
    """Return two people, in the order of their sides, who have finished a conversation."""
    two = pair(campaign, now=after(seconds))
    conversation = conversation_of(two[0])
    one, other = sorted(two, key=lambda each: each.seats.get().side != conversation.first_side)
    send_message(one, "Hello there.", after(seconds))
    send_message(other, "Hello to you.", after(seconds))
    chat.finish(person=one, client_id=uuid.uuid4(), now=after(seconds))
    for each in two:
        each.refresh_from_db()
    return sorted(two, key=lambda each: each.seats.get().side)


def rate(person: Participation) -> CompletionCode | None:
    """Let a person answer the form."""
    assignment = submission.current(person)
    assert assignment is not None
    shown = submission.shown_to(assignment)
    (key,) = shown.candidates
    names = ("fluency", "engagingness", "consistency")
    answers = {f"{key}.{name}": "4" for name in names}
    answers[f"{key}.persona"] = shown.choices["persona"][0]
    return submission.submit(person=person, answers=answers, now=NOW)


def test_one_side_rates_and_the_other_is_done_and_paid() -> None:
    campaign = campaign_of()
    two = talked(campaign)
    (rater,) = (each for each in two if each.state == "RATING")
    (other,) = (each for each in two if each != rater)
    assert (other.state, other.outcome) == ("ENDED", "COMPLETED")
    assert [seat.rates for seat in conversation_of(rater).seats.order_by("side")] == [
        each == rater for each in two
    ]
    code = rate(rater)
    assert code is not None
    paid = CompletionCode.objects.get(participation=other)
    assert (code.amount, code.kind) == (paid.amount, paid.kind)
    assert QuotaCell.objects.get().completed == 2
    assert Assignment.objects.count() == 1
    frame = tables.ratings(campaign)
    assert list(frame["question"]) == ["fluency", "engagingness", "consistency", "persona"]
    assert set(frame["rater"]) == {rater.pseudonym}
    (record,) = conversation_records.conversations(campaign)
    assert {seat["participant"]: seat["rates"] for seat in record["seats"]} == {
        rater.pseudonym: True,
        other.pseudonym: False,
    }


def test_both_sides_rate_where_the_setting_says_so() -> None:
    campaign = campaign_of("both")
    for person in talked(campaign):
        assert person.state == "RATING"
        rate(person)
    assert tables.ratings(campaign)["rater"].nunique() == 2


def test_the_side_is_drawn_and_the_draw_can_be_repeated() -> None:
    drawn = []
    for _ in range(2):
        campaign = campaign_of(target=100, seed=5)
        raters = [
            [each.state for each in talked(campaign, 60 * n)].index("RATING") for n in range(12)
        ]
        drawn.append(Counter(raters))
    for sides in drawn:  # people's numbers differ between the two, so the draws do
        assert set(sides) == {0, 1}


@pytest.mark.parametrize("who", [True, False])
def test_a_partner_who_is_left_rates_or_is_done_as_was_drawn(who: bool) -> None:
    campaign = campaign_of()
    two = pair(campaign)
    conversation = conversation_of(two[0])
    conversation.seats.update(rates=False)
    first = conversation.seats.get(side=conversation.first_side)
    conversation.seats.filter(pk=first.pk).update(rates=who)
    stayed = next(each for each in two if each == first.participation)
    left = next(each for each in two if each != stayed)
    send_message(stayed, "Hello there.")
    stopping.stop(person=left, now=after(5))
    stayed.refresh_from_db()
    assert (stayed.state, stayed.outcome) == (("RATING", "") if who else ("ENDED", "PARTNER_LEFT"))
    assert CompletionCode.objects.filter(participation=stayed).exists() is not who


@pytest.mark.parametrize("sides", ["one", "both"])
def test_a_bots_partner_always_rates(sides: str) -> None:
    settings = {"rate.sides": sides, "chat.minimum": [2]}
    campaign = make_campaign(systems={"alpha": "parrot"}, changes=settings)
    for number in range(4):
        person = start(campaign, now=after(number))
        send_message(person, "Hello there.", after(number))
        bot_says(conversation_of(person), "Hello.")
        chat.finish(person=person, client_id=uuid.uuid4(), now=after(number))
        person.refresh_from_db()
        assert person.state == "RATING"
        mine, bots = conversation_of(person).seats.order_by("side")
        assert (mine.rates, bots.rates) == (True, False)


def test_where_bots_and_people_are_mixed_a_bots_partner_rates() -> None:
    campaign = make_campaign(systems={"alpha": "parrot", "humans": "people"}, target=1)
    person = start(campaign)
    if person.partner_at is None:  # the draw gave people first
        person = start(campaign)
    conversation = meet_bot(person)
    assert [seat.rates for seat in conversation.seats.order_by("side")] == [True, False]


@pytest.mark.parametrize(
    ("sides", "target", "raters"),
    [("one", 10, 5), ("one", 12, 6), ("both", 10, 10)],
)
def test_plan_and_checklist_tell_how_many_rate(sides: str, target: int, raters: int) -> None:
    campaign = Campaign.objects.get(pk=campaign_of(sides, target=target).pk)
    (system,) = launch.plan_of(campaign)["systems"]
    assert (system["target"], system["raters"]) == (target, raters)
    line = next(each for each in checklist.checklist(campaign, NOW) if each.name == "Targets")
    told = f" {raters} of them rate: one of two people who are partners." if raters < target else ""
    assert (line.ok, line.text) == (True, f"{target} participations wanted.{told}")


@pytest.mark.parametrize("sides", ["one", "both"])
def test_an_odd_target_of_people_is_refused_at_launch_and_later(sides: str) -> None:
    campaign = campaign_of(sides, target=9)
    line = next(each for each in checklist.checklist(campaign, NOW) if each.name == "Targets")
    assert not line.ok
    assert line.text.startswith("humans: people come in pairs")
    change: dict[str, Any] = {"campaign": campaign, "by": make_staff(), "reason": "", "now": NOW}
    amendments.extend(more={"humans": 1}, **change)
    with pytest.raises(Invalid, match="makes 11 of humans, and people come in pairs"):
        amendments.extend(more={"humans": 1}, **change)
    assert QuotaCell.objects.get().target == 10


def test_both_is_a_departure_that_plan_and_codebook_mark() -> None:
    protocol = get_protocol("personachat_human")
    assert protocol.sources["rate.sides"] == Source(
        "S", "appendix C: one speaker is asked about the other"
    )
    rows = {
        each["setting"]: each for each in source_settings.rows(protocol, {"rate.sides": "both"})
    }
    row = rows["rate.sides"]
    assert (row["value"], row["source_value"], row["departure"]) == ("both", "one", True)
    for name in ("meena_interactive", "meena_static", "meena_third_party", "meena_human"):
        assert "rate.sides" not in {each.name for each in get_protocol(name).settings()}


def test_a_campaign_that_was_launched_before_the_setting_goes_on_as_it_was() -> None:
    protocol = get_protocol("personachat_human")
    campaign = Campaign.objects.get(pk=campaign_of("one").pk)
    planned = launch.plan_of(campaign)["protocol"]
    assert as_planned(protocol, planned).after.sides == "one"  # type: ignore[union-attr]
    for step in planned["steps"]:
        step.pop("sides", None)
    assert as_planned(protocol, planned).after.sides == "both"  # type: ignore[union-attr]


def test_the_staff_form_takes_either_and_names_what_is_wrong() -> None:
    from webapp.forms.campaign_form import CampaignForm

    protocol = get_protocol("personachat_human")
    raw = CampaignForm(protocol).typed() | {"name": "One", "pay": "1", "contact": str(make_staff())}
    for value in ("one", "both"):
        changes = CampaignForm(protocol, raw | {"setting.rate.sides": value}).values()["changes"]
        assert changes == ({} if value == "one" else {"rate.sides": "both"})
    with pytest.raises(Invalid) as refused:
        CampaignForm(protocol, raw | {"setting.rate.sides": "none"}).values()
    assert refused.value.problems == {"setting.rate.sides": "“none” is none of one, both"}


def test_the_ledger_counts_who_met_a_second_partner_by_that_conversation_alone() -> None:
    campaign = campaign_of()
    stays, left = sorted(pair(campaign), key=lambda each: each.seats.get().rates)
    chat.leave(person=left, now=NOW, because="left")
    other = start(campaign, now=NOW)
    for person in (stays, other):
        opening.meet(person=person, now=NOW)
    conversation = conversation_of(stays)
    first = conversation.seats.get(side=conversation.first_side).participation
    second = conversation.seats.get(side=1 - conversation.first_side).participation
    assert first is not None
    assert second is not None
    send_message(first, "Hello there.", NOW)
    send_message(second, "Hello to you.", NOW)
    chat.finish(person=first, client_id=uuid.uuid4(), now=NOW)
    for person in (first, second):
        person.refresh_from_db()
        if submission.current(person) is not None:
            rate(person)
    cell = QuotaCell.objects.get(system__campaign=campaign)
    assert cell.completed == snapshot._done(cell.system_id) == 2


@pytest.mark.parametrize("rated_first", [True, False])
def test_the_ledger_asks_for_ratings_of_the_finished_conversation_alone(rated_first: bool) -> None:
    """Who was to rate a partner that left at once, and then met another who rates, owes none."""
    campaign = campaign_of()
    stays, left = sorted(pair(campaign), key=lambda each: each.seats.get().rates != rated_first)
    chat.leave(person=left, now=NOW, because="left")
    other = start(campaign, now=NOW)
    for person in (stays, other):
        opening.meet(person=person, now=NOW)
    conversation = conversation_of(stays)
    conversation.seats.update(rates=False)
    conversation.seats.filter(participation=other).update(rates=True)
    sides = {seat.side: seat.participation for seat in conversation.seats.all()}
    one = sides[conversation.first_side]
    for side in (conversation.first_side, 1 - conversation.first_side):
        send_message(sides[side], "Hello there.", NOW)  # type: ignore[arg-type]
    chat.finish(person=one, client_id=uuid.uuid4(), now=NOW)  # type: ignore[arg-type]
    stays.refresh_from_db()
    assert stays.outcome == "COMPLETED"
    assert CompletionCode.objects.filter(participation=stays).exists()
    case = checks.Case({}, snapshot.take(campaign), None)
    assert list(checks.without_data(case)) == []
    conversation.seats.filter(participation=stays).update(rates=True)  # then a rating is missing
    case = checks.Case({}, snapshot.take(campaign), None)
    assert len(list(checks.without_data(case))) == 1


@pytest.mark.parametrize("first_rates", [True, False])
def test_the_ledger_counts_two_who_both_rate_once_both_have(first_rates: bool) -> None:
    campaign = campaign_of("both")
    stays, left = talked(campaign)
    cell = QuotaCell.objects.get(system__campaign=campaign)
    if first_rates:
        rate(stays)
    stopping.stop(person=left, now=NOW)
    if not first_rates:
        stays.refresh_from_db()
        rate(stays)
    cell.refresh_from_db()
    assert Participation.objects.filter(outcome="COMPLETED").count() == 1
    assert cell.completed == snapshot._done(cell.system_id) == 0


# --- the two slots of people who both rate ----------------------------------------------------


def slots(campaign: Campaign) -> tuple[int, int]:
    """Return how many slots are reserved, and how many are completed."""
    cell = QuotaCell.objects.get(system__campaign=campaign)
    return cell.reserved, cell.completed


def withdraw(person: Participation) -> None:
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)


def test_who_rates_first_leaves_both_slots_to_who_rates_last() -> None:
    campaign = campaign_of("both")
    first, last = talked(campaign)
    assert slots(campaign) == (2, 0)
    rate(first)
    last.refresh_from_db()
    assert (last.holds_slot, last.holds_partners_slot, slots(campaign)) == (True, True, (2, 0))
    rate(last)
    last.refresh_from_db()
    assert (last.holds_slot, last.holds_partners_slot, slots(campaign)) == (False, False, (0, 2))


def test_of_two_who_have_rated_the_first_who_withdraws_takes_back_both_slots() -> None:
    campaign = campaign_of("both")
    pairs = [talked(campaign, 60 * n) for n in range(2)]
    for person in (*pairs[0], *pairs[1]):
        rate(person)
    assert slots(campaign) == (0, 4)
    for person in pairs[0]:
        withdraw(person)
        assert slots(campaign) == (0, 2)


def test_who_rates_after_the_partner_has_withdrawn_completes_nothing() -> None:
    campaign = campaign_of("both")
    first, last = talked(campaign)
    rate(first)
    withdraw(first)
    last.refresh_from_db()
    assert (last.holds_slot, last.holds_partners_slot, slots(campaign)) == (True, False, (1, 0))
    rate(last)
    assert slots(campaign) == (0, 0)


def test_who_rated_alone_takes_back_both_slots_by_withdrawing() -> None:
    campaign = campaign_of("both", target=6, partner_left_counts=True)
    pairs = [talked(campaign, 60 * n) for n in range(2)]
    for person in pairs[0]:
        rate(person)
    stays, leaves = pair(campaign, now=after(180))
    conversation = conversation_of(stays)
    one, other = sorted(
        (stays, leaves), key=lambda each: each.seats.get().side != conversation.first_side
    )
    for person in (one, other, one, other):
        send_message(person, "Hello to you.", after(180))
    stopping.stop(person=leaves, now=after(181))
    stays.refresh_from_db()
    assert (stays.state, stays.holds_partners_slot, slots(campaign)) == ("RATING", True, (4, 2))
    rate(stays)
    assert (Participation.objects.get(pk=stays.pk).outcome, slots(campaign)) == (
        "PARTNER_LEFT",
        (2, 4),
    )
    withdraw(stays)
    assert slots(campaign) == (2, 2)


def test_a_rating_counts_until_who_gave_it_withdraws() -> None:
    campaign = campaign_of("one")
    pairs = [talked(campaign, 60 * n) for n in range(2)]
    for person in (*pairs[0], *pairs[1]):
        if person.state == "RATING":
            rate(person)
    assert slots(campaign) == (0, 4)
    rated, rater = sorted(pairs[0], key=lambda each: each.seats.get().rates)
    for person, left in ((rated, 4), (rater, 2)):
        withdraw(person)
        assert slots(campaign) == (0, left)
