"""X-P1: conversations of own campaigns side by side, and controls that stop careless raters."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from analysis import get_report, read
from tests.factories import NOW, make_campaign, make_staff, make_system
from tests.webapp.services.judged import judge_page
from tests.webapp.services.people import join
from tests.webapp.services.third import chatted
from webapp.models import (
    Assignment,
    Campaign,
    ExternalId,
    Item,
    Participation,
    QuotaCell,
    TakenConversation,
)
from webapp.services.campaign import (
    checklist,
    duplicates,
    launch,
    removal,
    taken_conversations,
    transcripts_import,
)
from webapp.services.campaign.transcripts_import import TranscriptUpload
from webapp.services.data import assignment_rules, exports, tables
from webapp.services.participation import consents, enrolment, privacy
from webapp.services.rating import conversation_items, items, onboarding, third_parties
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.transcript_files import TextFile

pytestmark = pytest.mark.django_db
CHAT = '{{"id": "{0}{1}", "system": "{0}", "control": "{2}", "turns": [{3}]}}'
TURNS = '{"speaker": "Human", "text": "Hi!"}, {"speaker": "bot", "text": "Yes."}'
ONCE: dict[str, Any] = {"rate.votes": 1}
ONE_CONTROL: dict[str, Any] = {"onboarding.items": 1}
ROLES = {"person": "better", "weak": "worse", "good": "", "bad": ""}


def draft_of(protocol: str = "acute_eval", /, **changes: Any) -> Campaign:
    draft = make_campaign(protocol, personas=0, state="DRAFT", opened_at=None, changes=changes)
    QuotaCell.objects.filter(system__campaign=draft).delete()
    draft.systems.all().delete()
    draft.refresh_from_db()
    return draft


def upload(*systems: str, count: int = 2, role: str | None = None) -> TranscriptUpload:
    lines = [
        CHAT.format(name, n, ROLES[name] if role is None else role, TURNS.replace("bot", name))
        for name in systems
        for n in range(count)
    ]
    return TranscriptUpload(files=(TextFile("chats.jsonl", "\n".join(lines)),))


def with_imports(draft: Campaign, *systems: str, count: int = 2) -> Campaign:
    found = upload(*systems, count=count)
    transcripts_import.store(campaign=draft, upload=found, by=make_staff(), now=NOW)
    return draft


def opened(draft: Campaign) -> Campaign:
    return launch.launch(campaign=draft, by=make_staff(), now=NOW)


def let_judge(campaign: Campaign, name: str, best: str, control: str = "person") -> Participation:
    """Let somebody come and prefer these systems, of those compared and of controls."""
    person = enrolment.start(person=join(campaign, name), now=NOW)

    def answer(question: str, context: str, systems: tuple[str, ...], number: int) -> str:
        wanted = control if "weak" in systems else best
        return wanted if question == "preferred" else "Because."

    while judge_page(person, 0, answer):
        pass
    person.refresh_from_db()
    return person


def test_controls_come_first_and_stop_who_prefers_the_worse_ones(tmp_path: Path) -> None:
    draft = with_imports(draft_of(**ONCE), "person", "weak", "good", "bad", count=3)
    assert {each["control"] for each in launch.plan_of(draft)["messages"] if "control" in each} == {
        "better",
        "worse",
    }
    campaign = opened(draft)
    known = Item.objects.filter(known=True)
    assert (known.count(), Item.objects.filter(known=False).count()) == (3, 3)
    assert not known.exclude(target=0).exists()
    careless = let_judge(campaign, "careless", "good", control="weak")
    assert (careless.outcome, careless.code.kind, careless.code.amount) == (
        "ONBOARDING",
        "FULL",
        careless.pay,
    )
    assert set(careless.assignments.filter(state="DONE").values_list("item__known", flat=True)) == {
        True
    }
    careful = let_judge(campaign, "careful", "good")
    held = Assignment.objects.filter(participation=careful).order_by("place")
    assert list(held.values_list("item__known", flat=True)) == [True, True, False, False, False]
    assert careful.outcome == "COMPLETED"
    assert not onboarding.is_failed(careful)
    assert onboarding.is_failed(careless)
    rows = tables.ratings(campaign)
    assert set(rows["system"]) == {"good", "bad"}
    assert assignment_rules.of_campaign(campaign).broken == []
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    assert assignment_rules.of_export(path).broken == []
    found = read(path)
    report = get_report("acute_eval")(found.ratings, study=found.study)
    compared, both = report.sections
    assert list(compared.frame["judgments"]) == [3]
    assert both.title == "1 rater of 2 below the share of known answers"
    (row,) = both.frame[both.frame["system"] == "person"].to_dict("records")
    assert (row["win fraction, all raters"], row["judgments, all raters"]) == (0.5, 4)
    assert (row["win fraction, without"], row["judgments, without"]) == (1.0, 2)


@pytest.mark.parametrize(("pairs", "ok"), [(1, False), (2, True), (3, True)])
def test_a_launch_needs_as_many_control_pairs_as_a_rater_gets(pairs: int, ok: bool) -> None:
    draft = with_imports(draft_of(), "good", "bad")
    with_imports(draft, "person", "weak", count=pairs)
    red = [each.name for each in checklist.checklist(draft, NOW) if not each.ok]
    assert red == ([] if ok else ["Pairs with known answers"])


def test_a_control_is_better_or_worse_and_only_where_there_is_an_onboarding() -> None:
    wrong = upload("good", role="best")
    found = transcripts_import.preview(campaign=draft_of(), upload=wrong)
    assert {(each.field, each.value) for each in found.faults} == {("control", "best")}
    other = draft_of("meena_third_party")
    found = transcripts_import.preview(campaign=other, upload=upload("person"))
    assert {each.field for each in found.faults} == {"control"}


def own(source: Campaign, draft: Campaign, **changes: Any) -> int:
    """Take all conversations of an own campaign."""
    given: dict[str, Any] = {"systems": ["people"], "by": make_staff(), "now": NOW} | changes
    return taken_conversations.take(campaign=draft, source=str(source.pk), **given)


def test_conversations_of_an_own_campaign_are_paired_and_never_what_was_withdrawn() -> None:
    source = chatted(3)
    gone, late, kept = source.conversations.order_by("pk")
    _withdraw(gone)
    draft = with_imports(draft_of(**ONCE), "person", "weak", "good", count=3)
    assert own(source, draft) == 2
    assert own(source, draft) == 0
    assert TakenConversation.objects.filter(conversation=gone).count() == 0
    campaign = opened(draft)
    shown = Item.objects.filter(candidates__conversation__campaign=source)
    assert set(shown.values_list("candidates__system__name", flat=True)) >= {"human"}
    assert {each.candidates.filter(system__name="good").count() for each in shown} == {1}
    _withdraw(late)
    with_late = Item.objects.filter(candidates__conversation=late).values_list("pk", flat=True)
    open_now = set(items.open_items(campaign).values_list("pk", flat=True))
    compared = {each.conversation for each in conversation_items.compared(campaign)}
    assert late not in compared
    assert kept in compared
    assert with_late
    assert not set(with_late) & open_now
    assert (
        set(Item.objects.filter(candidates__conversation=kept).values_list("pk", flat=True))
        <= open_now
    )
    again = duplicates.duplicate(campaign=campaign, name="again", seed=3, by=make_staff(), now=NOW)
    assert [each.conversation_id for each in again.taken_conversations.all()] == [kept.pk]
    removal.delete(campaign=again, by=make_staff(), now=NOW)


def test_who_is_withdrawn_while_they_are_judged_is_taken_off_the_page() -> None:
    source = chatted(1)
    draft = with_imports(draft_of(**ONE_CONTROL), "person", "weak", "good", count=1)
    own(source, draft)
    campaign = opened(draft)
    rater = let_begin(campaign)
    _withdraw(source.conversations.get())
    held = Assignment.objects.filter(participation=rater, item__known=False)
    assert set(held.values_list("state", flat=True)) == {"RELEASED"}


def let_begin(campaign: Campaign) -> Participation:
    return enrolment.start(person=join(campaign, "rater"), now=NOW)


def test_nobody_compares_their_own_conversation_and_the_checker_tells(tmp_path: Path) -> None:
    source = chatted(1)
    draft = with_imports(draft_of(**ONCE), "person", "weak", "good")
    own(source, draft)
    campaign = opened(draft)
    with pytest.raises(consents.Closed) as refused:
        join(campaign, "p1")
    assert refused.value.notice == "took_part"
    rater = let_judge(campaign, "rater", "good")
    assert rater.outcome == "COMPLETED"
    assert assignment_rules.of_campaign(campaign).broken == []
    ExternalId.objects.filter(participation=rater).update(value="p1")
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    for found in (assignment_rules.of_campaign(campaign), assignment_rules.of_export(path)):
        assert {(each.rule, each.rater) for each in found.broken} == {
            ("own conversation", rater.pseudonym)
        }


def test_the_command_takes_and_says_what_is_there() -> None:
    source, draft = chatted(2), draft_of()
    out = StringIO()
    call_command(
        "take_conversations", str(draft.pk), str(source.pk), "--control", "better", stdout=out
    )
    assert out.getvalue().splitlines() == [
        "2 conversations taken",
        "human (better of a control): 2",
    ]
    assert conversation_items.controls(draft) == 0
    for words, told in (
        ((str(draft.pk), str(source.pk), "--system", "nobody"), "choose one or more of: people"),
        ((str(draft.pk), str(draft.pk)), "not one of the campaigns listed"),
        ((str(draft.pk), str(source.pk), "--control", "best"), "no role"),
        ((str(source.pk), str(draft.pk)), "compares no whole conversations"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("take_conversations", *words, stdout=out)
    taken_conversations.clear(campaign=draft, by=make_staff(), now=NOW)
    assert not draft.systems.exists()


def test_a_role_is_refused_where_no_answer_is_known() -> None:
    source, draft = chatted(1), draft_of("convai2_blind")
    with pytest.raises(Invalid):
        own(source, draft)


def test_of_a_control_that_was_taken_the_better_one_is_not_the_worse_one() -> None:
    source = chatted(1)
    draft = with_imports(draft_of(**ONE_CONTROL), "person", "good", "bad", count=1)
    own(source, draft, control="worse")
    (item,) = Item.objects.filter(campaign=opened(draft), known=True)
    names = dict(item.candidates.values_list("pk", "system__name"))
    assert set(names.values()) == {"person", "human"}
    assert names[conversation_items.better_of(item)] == "person"


def _withdraw(conversation: object) -> None:
    person = conversation.seats.get(side=0).participation  # type: ignore[attr-defined]
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)


def test_a_campaign_compares_own_conversations_where_it_took_some() -> None:
    taken, imported = draft_of(), draft_of()
    source = chatted()
    TakenConversation.objects.create(
        campaign=taken,
        conversation=source.conversations.get(),
        system=make_system(taken, "people", bot="imported"),
    )
    assert third_parties.compares_own(taken)
    assert not third_parties.compares_own(imported)
