"""CA-P3 and ME-P7: conversations with bots are judged by others, who were not there before."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation import InvalidAnswers
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services import rated
from tests.webapp.services.people import after, join
from tests.webapp.services.studies import make_study
from tests.webapp.services.third import chatted, judge_all, labeling
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    ExternalId,
    Item,
    Participation,
    TranscriptNote,
)
from webapp.services.campaign import launch, message_items
from webapp.services.participation import enrolment, privacy
from webapp.services.rating import form, submission, third_parties
from webapp.services.rules import access, identity

pytestmark = pytest.mark.django_db
EACH = 3  # finished conversations of every system


def ended(campaign: Campaign) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    campaign.refresh_from_db()
    return campaign


def crowd(each: int = EACH) -> Campaign:
    """Return an ended campaign in which people chatted with two bots."""
    campaign = make_campaign("convai2_crowd", systems={"alpha": "parrot", "beta": "parrot"})
    for system in campaign.systems.all():
        for _ in range(each):
            person, conversation = rated.chatted(campaign, system)
            rated.judged(person, conversation, {"enjoyment": 3, "persona": "p1"})
    return ended(campaign)


def draft(protocol: str, **changes: object) -> Campaign:
    row = make_campaign(
        protocol, state=Campaign.State.DRAFT, opened_at=None, personas=0, changes=changes
    )
    row.systems.get().cell.delete()
    row.systems.all().delete()
    return row


def opened(protocol: str, source: Campaign, **changes: object) -> Campaign:
    """Return an open campaign that judges an ended one's conversations."""
    row = draft(protocol, **changes)
    take(row, source)
    Campaign.objects.filter(pk=row.pk).update(state=Campaign.State.OPEN)
    row.refresh_from_db()
    return row


def take(row: Campaign, source: Campaign, *systems: str) -> int:
    staff = make_staff()
    return message_items.take(
        campaign=row, source=str(source.pk), by=staff, now=NOW, systems=systems or None
    )


def came(campaign: Campaign, name: str) -> Participation:
    return enrolment.start(person=join(campaign, name), now=NOW)


def score(person: Participation, value: int) -> int:
    """Give every conversation the same score; return how many there were."""
    count = 0
    while (assignment := submission.current(person)) is not None:
        key = assignment.item.candidates.get().key
        answers = {f"{key}.score": str(value), f"{key}.comment": "It asks too much."}
        submission.submit(person=person, answers=answers, now=after(600))
        count += 1
    return count


# --- whole conversations ----------------------------------------------------------------------


def test_a_conversation_is_an_item_and_the_bot_is_judged() -> None:
    blind = opened("convai2_blind", crowd())
    assert message_items.counts(blind) == {"messages": 2 * EACH, "conversations": 2 * EACH}
    assert set(Candidate.objects.filter(item__campaign=blind).values_list("seq", "side")) == {
        (None, 1)
    }
    systems = set(blind.systems.values_list("name", "bot"))
    assert systems == {("alpha", "imported"), ("beta", "imported")}
    order = blind.items.order_by("order").values_list("candidates__system__name", flat=True)
    assert len(set(order[:EACH])) == 2, "they are mixed"


@pytest.mark.parametrize(("sample", "made"), [(1, 2), (2, 4), (3, 6), (4, 6)])
def test_so_many_are_drawn_per_system_and_a_repeat_draws_no_more(sample: int, made: int) -> None:
    source = crowd()
    row = draft("convai2_blind", **{"rate.sample": sample})
    assert (take(row, source), take(row, source)) == (made, 0)
    drawn = row.items.values_list("conversation__system__name", flat=True)
    assert sorted(drawn) == sorted(["alpha", "beta"] * (made // 2))


def test_only_the_systems_chosen_are_taken() -> None:
    source, row = crowd(), draft("convai2_blind")
    assert take(row, source, "beta") == EACH
    assert list(row.systems.values_list("name", flat=True)) == ["beta"]


def test_the_form_shows_the_whole_conversation_and_no_system() -> None:
    blind = opened("convai2_blind", crowd())
    person = came(blind, "expert")
    shown = form.of(person)
    assert shown is not None
    assert (shown.is_whole, len(shown.lines), shown.total) == (True, 4, 2 * EACH)
    assert [line.who for line in shown.lines] == ["Speaker A", "Speaker B"] * 2
    assert not any(line.judged for line in shown.lines)
    assert "alpha" not in repr(shown)
    assert "beta" not in repr(shown)
    key = shown.shown.candidates[0]
    with pytest.raises(InvalidAnswers):
        submission.submit(person=person, answers={f"{key}.score": "5"}, now=NOW)


def test_each_of_two_experts_scores_every_conversation() -> None:
    blind = opened("convai2_blind", crowd(), **{"rate.batch": 2 * EACH})
    assert [score(came(blind, name), 2) for name in ("x", "y")] == [2 * EACH] * 2
    assert set(Item.objects.filter(campaign=blind).values_list("completed", flat=True)) == {2}


def test_the_plan_names_each_conversation_and_its_words_by_hash() -> None:
    blind = opened("convai2_blind", crowd())
    rows = launch.plan_of(blind)["messages"]
    assert len(rows) == len({row["sha256"] for row in rows}) == 2 * EACH
    assert all(row["key"].endswith(":all") for row in rows)


def test_what_somebody_withdraws_is_not_shown_any_more() -> None:
    source = crowd()
    blind = opened("convai2_blind", source, **{"rate.batch": 2 * EACH})
    expert = came(blind, "x")
    gone = source.participations.earliest("pk")
    privacy.withdraw(token=privacy.withdraw_token(gone), now=NOW)
    assert score(expert, 3) == 2 * EACH - 1


def refusal(campaign: Campaign, name: str) -> str:
    return third_parties.refusal(campaign=campaign, platform="prolific", external_id=name)


# --- messages, by a second panel --------------------------------------------------------------


def test_only_the_bot_s_messages_are_labeled_again() -> None:
    source = ended(rated.meena(each=2))
    second = opened("meena_second_panel", source)
    sides = set(Candidate.objects.filter(item__campaign=second).values_list("side", flat=True))
    assert sides == {1}
    assert second.items.count() == 3 * 2 * 4
    assert {
        name
        for name, _ in message_items.sources(
            campaign=draft("meena_second_panel"), user=make_staff()
        )[0].by_system
    } == {"good", "fair", "poor"}


def test_who_gave_the_first_labels_may_not_give_the_second() -> None:
    first = labeling(chatted())
    judge_all(first, "judge")
    source = first.items.earliest("pk").conversation
    assert source is not None
    second = opened("meena_second_panel", source.campaign)
    assert refusal(second, "judge") == "judged_before"
    assert refusal(second, "p0") == "took_part"
    assert refusal(second, "new") == ""
    assert refusal(labeling(source.campaign), "judge") == ""
    Assignment.objects.update(state="RELEASED")  # nothing of it was judged after all
    assert refusal(second, "judge") == ""


def test_who_judges_in_a_second_panel_may_come_back_to_it() -> None:
    second = opened("meena_second_panel", chatted())
    judge_all(second, "judge")
    assert refusal(second, "judge") == ""


@pytest.mark.parametrize(("state", "closed"), [("RELEASED", False), ("DONE", True)])
def test_who_gave_back_what_they_had_elsewhere_may_judge_it_here(state: str, closed: bool) -> None:
    source = chatted(2)
    second, first = opened("meena_second_panel", source), labeling(source)
    person, elsewhere = join(second, "both"), came(first, "both")
    Assignment.objects.filter(participation=elsewhere).update(state=state)
    rules = dict(third_parties.closed_to(Item.objects.filter(campaign=second), person))
    assert rules[third_parties.BEFORE].exists() is closed
    assert not rules[third_parties.OWN_TEXT].exists()
    ExternalId.objects.filter(participation=person).delete()
    assert list(third_parties.closed_to(Item.objects.filter(campaign=second), person)) == []


def test_who_labels_elsewhere_meanwhile_gets_no_more_of_the_same_conversation() -> None:
    source = chatted(2)
    second, first = opened("meena_second_panel", source), labeling(source)
    person = join(second, "judge")
    everything = Item.objects.filter(campaign=second)
    assert third_parties.open_to(everything, person).count() == everything.count()
    judge_all(first, "judge")
    assert third_parties.open_to(everything, person).count() == 0


def test_who_judged_some_messages_of_a_conversation_here_may_go_on_with_it() -> None:
    """Judged before is what was judged elsewhere."""
    second = opened("meena_second_panel", chatted())
    person = came(second, "judge")
    rules = dict(third_parties.closed_to(Item.objects.filter(campaign=second), person))
    assert not rules[third_parties.BEFORE].exists()


def test_a_browser_in_which_it_was_judged_here_is_let_in_again() -> None:
    second = opened("meena_second_panel", chatted())
    person, secret = judge_all(second, "judge"), access.new_secret()
    Participation.objects.filter(pk=person.pk).update(secret_hash=access.secret_hash(secret))
    who: dict[str, Any] = {"campaign": second, "platform": "prolific", "external_id": "judge"}
    assert third_parties.refusal(**who, secrets=[secret]) == ""


def test_who_a_list_names_chatted_in_that_import_alone() -> None:
    """ME-P4: they may not judge it, but whatever else there is."""
    second, other = (opened("meena_second_panel", chatted()) for _ in range(2))
    for campaign, name in ((second, "in it"), (other, "elsewhere")):
        room = Conversation.objects.create(
            campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
        )
        Item.objects.create(campaign=campaign, key="imported", conversation=room, target=5)
        volunteer = identity.pseudonym(campaign, identity.TRANSCRIPT, name)
        TranscriptNote.objects.create(conversation=room, name="a.jsonl", volunteer=volunteer)
    assert refusal(second, "in it") == "took_part"
    assert refusal(second, "elsewhere") == ""
    everything = Item.objects.filter(campaign=second)
    for name, closed in (("in it", ["imported"]), ("elsewhere", [])):
        person = join(second, f"{name}, unseen")
        ExternalId.objects.filter(participation=person).update(value=name)
        left = third_parties.open_to(everything, person).values("pk")
        assert list(everything.exclude(pk__in=left).values_list("key", flat=True)) == closed


def test_phases_of_the_same_study_are_offered_first() -> None:
    mine, other = ended(rated.meena(each=1)), ended(rated.meena(each=1))
    row = draft("meena_second_panel")
    make_study(mine, row)
    listed = message_items.sources(campaign=row, user=make_staff())
    assert [each.campaign.pk for each in listed] == [mine.pk, other.pk]
