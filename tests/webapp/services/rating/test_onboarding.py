"""Onboarding: items of known answers come first; whoever misses them judges nothing that counts."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluation import Onboarding
from evaluation.registry import get_protocol
from tests.factories import NOW, make_campaign, make_participation, make_staff
from tests.webapp.admitted import campaign_with, known_row, onboarding_campaign, rows_of
from tests.webapp.services.judged import exported, judge
from tests.webapp.services.people import after, join, start
from webapp.models import Assignment, Campaign, Item, Participation, Rating
from webapp.services.campaign import checklist, contexts_import
from webapp.services.data import assignment_rules, exports, tables
from webapp.services.participation import enrolment, screens, stopping
from webapp.services.rating import onboarding, submission
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
STEP = Onboarding(items=4, share=0.75)
WRONG_TIE = "neither"


def campaign_of(step: Onboarding = STEP, known: int = 4, others: int = 12, **changes: Any) -> Any:
    rows = [*map(known_row, range(known)), *rows_of(others)]
    return onboarding_campaign(step, rows, **{"votes": 2, "batch": 7} | changes)


def answers(wrong: int, tie: str = "weak") -> Any:
    """Return what a rater says: of known items that many wrong, and the first system else."""
    made = 0

    def answer(question: str, context: str, systems: tuple[str, ...], rater: int) -> str:
        nonlocal made
        if not context.startswith("known"):
            return systems[0]
        made += question == "word_coherency"
        return tie if made <= wrong and question == "word_coherency" else "human"

    return answer


def test_the_first_items_of_a_rater_are_known_ones_and_the_others_follow() -> None:
    campaign = campaign_of(known=6)
    people = [start(campaign) for _ in range(2)]
    orders = []
    for person in people:
        held = Assignment.objects.filter(participation=person).order_by("place")
        keys = [assignment.item.key for assignment in held.select_related("item")]
        assert [key.startswith("known") for key in keys] == [True] * 4 + [False] * 3
        orders.append(keys[:4])
    assert orders[0] != orders[1], "drawn for each"
    assert not Item.objects.filter(known=True).exclude(target=0, reserved=0, completed=0).exists()


@pytest.mark.parametrize(
    ("wrong", "outcome"), [(0, "COMPLETED"), (1, "COMPLETED"), (2, "ONBOARDING")]
)
@pytest.mark.parametrize("tie", ["weak", WRONG_TIE])
def test_whoever_is_below_the_share_ends_in_silence(wrong: int, outcome: str, tie: str) -> None:
    campaign = campaign_of()
    judge(campaign, 1, answers(wrong, tie))
    person = Participation.objects.get()
    assert person.outcome == outcome
    assert (person.code.kind, person.code.amount) == ("FULL", person.pay)
    page = screens.show(person=person, now=NOW).end
    assert page is not None
    assert page.heading == "You are done"
    assert "You have finished" in page.text
    done = Assignment.objects.filter(participation=person, state="DONE").count()
    assert done == (7 if outcome == "COMPLETED" else 4)
    assert not Item.objects.filter(reserved__gt=0).exists(), "what they held is free for others"


def test_told_openly_they_are_paid_for_the_check_or_for_the_work_where_that_is_more() -> None:
    amounts = {}
    for pay in ("0.10", "1.90"):
        step = Onboarding(items=4, share=0.75, silently=False)
        campaign = campaign_of(step)
        Campaign.objects.filter(pk=campaign.pk).update(screening_pay=pay)
        judge(Campaign.objects.get(pk=campaign.pk), 1, answers(2))
        person = Participation.objects.get(campaign=campaign)
        assert person.outcome == "CHECK_FAILED"
        page = screens.show(person=person, now=NOW)
        assert page.end is not None
        assert page.end.heading == "The check was not passed"
        assert "have known answers" in page.study.checks[0]
        amounts[pay] = str(person.code.amount)
    assert amounts == {"0.10": "1.15", "1.90": "1.90"}, "four of seven replies earn 1.15 of 2.00"


def test_known_answers_never_reach_the_analysis_and_failed_raters_neither(tmp_path: Path) -> None:
    campaign = campaign_of()
    judge(campaign, 2, answers(0))
    judge(campaign, 1, answers(4))
    whole = tables.ratings(campaign, include_excluded=True)
    known = whole[whole["item"].str.startswith("known")]
    assert set(known["excluded"]) == {"onboarding: the answer was known"}
    assert known["rater"].nunique() == 3
    failed = Participation.objects.get(outcome="ONBOARDING").pseudonym
    kept = exported(campaign, tmp_path)
    assert failed not in set(kept["rater"])
    assert set(kept["system"]) == {"alpha", "beta"}
    assert set(kept["item"]) == set(whole[~whole["item"].str.startswith("known")]["item"])
    assert assignment_rules.of_export(tmp_path / "export.zip").broken == [
        each for each in assignment_rules.of_campaign(campaign).broken if each.rule == "votes"
    ]


def test_what_a_failed_rater_gave_before_is_set_aside_too() -> None:
    """Nothing else was judged before the known answers; a reviewer sees all the same."""
    campaign = campaign_of()
    judge(campaign, 1, answers(0))
    Participation.objects.update(outcome="ONBOARDING")
    rows = tables.ratings(campaign, include_excluded=True)
    others = rows[~rows["item"].str.startswith("known")]
    assert set(others["excluded"]) == {"below the share of known answers"}


def test_who_leaves_and_comes_back_goes_on_with_the_same_known_items() -> None:
    campaign = campaign_of(known=8)
    person = start(campaign)
    before = set(Assignment.objects.filter(item__known=True).values_list("item", flat=True))
    stopping.give_away(person=person, now=after(3600))
    person.refresh_from_db()
    assert not Item.objects.filter(reserved__gt=0).exists()
    enrolment._resume(person, "new secret", after(3700), None)
    enrolment.start(person=Participation.objects.get(), now=after(3700))
    held = Assignment.objects.filter(item__known=True, state="RESERVED")
    assert held.count() == 4
    assert set(held.values_list("item", flat=True)) == before
    assert onboarding.is_failed(person) is False, "nothing is judged yet"


def test_where_only_known_items_are_left_the_study_is_full() -> None:
    campaign = campaign_of(others=3, votes=1)
    people = [join(campaign) for _ in range(2)]
    first, second = (enrolment.start(person=person, now=NOW) for person in people)
    assert submission.current(first) is not None
    assert second.outcome == "FULL"
    assert not Rating.objects.exists()


def test_a_campaign_is_complete_without_regard_to_known_items(tmp_path: Path) -> None:
    campaign = campaign_of(others=3, votes=1)
    judge(campaign, 1, answers(0))
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    assert assignment_rules.of_export(path).broken == []
    with zipfile.ZipFile(path) as archive:
        frame = pd.read_csv(archive.open("ratings_all.csv"))
        steps = json.loads(archive.read("protocol.json"))["steps"]
    assert set(frame[frame["excluded"].isna()]["votes"]) == {1}
    assert steps[0] == {"step": "onboarding", "items": 4, "share": 0.75}


# --- how known answers come in ----------------------------------------------------------------

KNOWN = known_row(0)
BAD = [
    ({"known": ["human"]}, "known is "),
    ({"known": {"coherence": "human"}}, "known has the question “coherence”; there are word_coh"),
    ({"known": {"word_coherency": "neither"}}, "it must be the system of the best reply: human or"),
    ({"known": {"word_coherency": 1}}, "known.word_coherency is “1”"),
    ({"replies": {"human": "I do."}}, "has 1 replies beside known; it must have 2"),
    ({"replies": {"human": "I do.", "weak": ["Tea.", "No."]}}, "has 3 replies beside known"),
    ({"replies": {"human": ["I do.", "I like it."]}}, "it must have 2, each of another system"),
]


@pytest.mark.parametrize(("changes", "complaint"), BAD)
def test_a_known_answer_that_cannot_be_is_refused_by_its_line(
    changes: dict[str, Any], complaint: str
) -> None:
    draft = campaign_with(STEP, protocol="coherency_pairs", state="DRAFT", personas=0)
    found = contexts_import.preview(campaign=draft, text=json.dumps(KNOWN | changes))
    assert complaint in found.rows[0].error
    with pytest.raises(Invalid):
        contexts_import.store(
            campaign=draft, text=json.dumps(KNOWN | changes), by=make_staff(), now=NOW
        )


def test_a_protocol_without_an_onboarding_takes_no_known_answers() -> None:
    draft = campaign_with(protocol="coherency_pairs", state="DRAFT", personas=0)
    found = contexts_import.preview(campaign=draft, text=json.dumps(KNOWN))
    assert "the protocol has no onboarding; leave known out" in found.rows[0].error


GRADES = {
    "id": "known",
    "messages": ["Tea?", "Please."],
    "replies": {"human": "Here you are.", "weak": "Tea tea."},
}


@pytest.mark.parametrize(
    ("known", "complaint"),
    [
        ({"grade": {"human": [2, 3], "weak": 0}}, ""),
        ({"grade": [0, 1]}, ""),
        ({"grade": {"human": 4, "weak": 0}}, "known.grade is “4”"),
        ({"grade": {"human": []}}, "it must name the systems human, weak"),
        ({"grade": {"human": True, "weak": 0}}, "known.grade is “True”"),
        ({"grade": []}, "known.grade is “[]”"),
    ],
)
def test_answers_about_each_reply_are_known_by_system(known: Any, complaint: str) -> None:
    draft = campaign_with(STEP, protocol="graded_pairs", state="DRAFT", personas=0)
    row = contexts_import.preview(campaign=draft, text=json.dumps(GRADES | {"known": known})).rows[
        0
    ]
    assert complaint in row.error if complaint else not row.error


@pytest.mark.parametrize(("known", "others", "ok"), [(3, 1, False), (4, 0, False), (4, 1, True)])
def test_the_launch_asks_for_enough_known_items_and_others(
    known: int, others: int, ok: bool
) -> None:
    campaign = campaign_of(known=known, others=others)
    Campaign.objects.update(state="DRAFT")
    checks = checklist.checklist(Campaign.objects.get(pk=campaign.pk), NOW)
    (check,) = (each for each in checks if each.name == "Items with known answers")
    assert check.ok == ok
    assert f"{known} contexts with known answers, 4 are wanted" in check.text


def test_nobody_fails_where_there_is_no_onboarding() -> None:
    assert not onboarding.is_failed(make_participation(make_campaign("meena_static", personas=0)))


def test_who_lacks_known_items_gets_those_that_they_do_not_hold() -> None:
    campaign_of(known=6)  # whose items are not theirs
    campaign = campaign_of(known=6)
    person = start(campaign)
    held = list(Assignment.objects.filter(participation=person, item__known=True))
    mine = {one.item_id for one in held}
    assert len(mine) == 4
    chosen = onboarding.choose(person, 6, held)
    assert {item.pk for item in chosen} == {
        item.pk for item in campaign.items.filter(known=True)
    } - mine


@pytest.mark.parametrize(("held", "missing"), [(0, 4), (3, 1), (4, 0), (5, 0)])
def test_so_many_known_items_are_missing_as_a_rater_does_not_hold(held: int, missing: int) -> None:
    person = make_participation(campaign_of())
    mine = [Assignment(item=Item(known=True)) for _ in range(held)]
    mine.append(Assignment(item=Item(known=False)))
    assert onboarding.missing(person, mine) == missing


@pytest.mark.parametrize(("right", "values"), [(1, [1]), ("a", ["a"]), ([1, 2], [1, 2])])
def test_what_is_right_is_one_value_or_any_of_several(right: Any, values: list[Any]) -> None:
    assert onboarding._values(right) == values


@pytest.mark.parametrize(
    ("values", "agrees"), [((1, 0), True), ((2, 0), True), ((3, 0), False), ((1, 1), False)]
)
def test_every_reply_has_a_right_value_of_its_own(values: tuple[int, int], agrees: bool) -> None:
    rate = get_protocol("meena_static").after
    assert rate is not None
    answers = list(zip(("a", "b"), values, strict=True))
    right = {"a": [1, 2], "b": 0}
    assert onboarding._agrees(rate.question("sensible"), right, answers) is agrees
