"""Attention checks within the work: announced, never data, flagged, paid as announced.

S12, R21.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from evaluation import Attention, Gate, YesNo, ours
from tests.webapp.admitted import campaign_with, onboarding_campaign, rows_of
from tests.webapp.views.visiting import Visit, good_answers, rating_visit
from webapp.models import (
    AdmissionTry,
    Assignment,
    Campaign,
    CompletionCode,
    Flag,
    Item,
    Participation,
    PayHold,
    Rating,
)
from webapp.services.chat_service import offering
from webapp.services.data import assignment_rules, exports, tables
from webapp.services.ops import verifying
from webapp.services.participation import privacy, samples
from webapp.services.rules.protocols import protocol_of

pytestmark = pytest.mark.django_db
NO, YES = (
    YesNo(name=name, text=ours(f"This is an attention check: please choose {word}."))
    for name, word in (("choose_no", "No"), ("choose_yes", "Yes"))
)
STEP = Attention(
    questions=(NO, YES), passes=(Gate("choose_no", (0,)), Gate("choose_yes")), every=2, misses=2
)
ENDS = dataclasses.replace(STEP, ends=True)
RIGHT = {"attention.choose_no": "0", "attention.choose_yes": "1"}
WRONG = {"attention.choose_no": "1", "attention.choose_yes": "0"}


def judging(step: Attention = STEP, **changes: Any) -> Campaign:
    """Return a campaign whose raters judge six pairs; every second one has a check."""
    campaign = onboarding_campaign(step, rows_of(6), **{"batch": 6, "votes": 1})
    Campaign.objects.filter(pk=campaign.pk).update(**changes)
    return Campaign.objects.get(pk=campaign.pk)


def rater(campaign: Campaign) -> Visit:
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    return visit


def judge(visit: Visit, checks: dict[str, str]) -> Any:
    """Fill in the form that is on, its attention check as `checks` has it."""
    found = good_answers(visit.get())
    return visit.post("rate", found | {name: checks[name] for name in found if name in checks})


def checked(page: Any) -> list[str]:
    return [field.name for field in page.context["fields"] if field.about == "attention"]


def is_over(visit: Visit) -> bool:
    return bool(visit.person.state == Participation.State.ENDED)


def amount_of(visit: Visit) -> Decimal:
    return CompletionCode.objects.get(participation=visit.person).amount


def test_checks_stand_at_the_end_of_the_forms_that_have_one_and_take_turns() -> None:
    visit, seen = rater(judging()), []
    while not is_over(visit):
        page = visit.get()
        seen.append(checked(page))
        assert not seen[-1] or page.context["fields"][-1].name == seen[-1][0]
        judge(visit, RIGHT)
    no, yes = ["attention.choose_no"], ["attention.choose_yes"]
    assert seen == [[], no, [], yes, [], no]
    assert [each.passed for each in AdmissionTry.objects.all()] == [True] * 3
    assert not Flag.objects.exists()
    assert not Rating.objects.filter(question__startswith="choose").exists()


def test_who_ends_by_attention_is_reviewed_as_everybody_is() -> None:
    """R37: where payments wait for flags, what is paid for the part waits for a look."""
    campaign = onboarding_campaign(ENDS, rows_of(6), batch=6, votes=2)
    Campaign.objects.filter(pk=campaign.pk).update(hold_payments=True)
    beside, visit = rater(campaign), rater(campaign)
    judge(beside, RIGHT)
    for _ in range(4):
        judge(visit, WRONG)
    states = Assignment.objects.filter(participation=beside.person, state="DONE")
    assert states.count() == 1, "what others judged stays"
    code = CompletionCode.objects.get(participation=visit.person)
    assert code.amount > 0
    assert PayHold.objects.get().code == code


def test_checks_come_after_so_many_forms_of_ones_own() -> None:
    campaign = onboarding_campaign(STEP, rows_of(6), batch=6, votes=2)
    raters = [rater(campaign) for _ in range(2)]
    seen: list[list[bool]] = [[], []]
    for _ in range(6):
        for visit, has_check in zip(raters, seen, strict=True):
            has_check.append(bool(checked(visit.get())))
            judge(visit, RIGHT)
    assert seen == [[False, True] * 3] * 2


@pytest.mark.parametrize(("missed", "flagged"), [(1, False), (2, True), (3, True)])
def test_who_goes_on_is_paid_in_full_and_flagged_once_from_the_limit_on(
    missed: int, flagged: bool
) -> None:
    visit = rater(judging())
    for form in range(6):
        judge(visit, WRONG if form // 2 < missed else RIGHT)
    assert (visit.person.outcome, amount_of(visit)) == ("COMPLETED", Decimal(2))
    found = list(Flag.objects.filter(kind="attention").values_list("detail", flat=True))
    assert found == ["2 of 2 attention checks answered wrongly"] * flagged
    rows = tables.ratings(visit.campaign, include_excluded=True)
    assert set(rows["excluded"]) == {""}, "flagged, and left out by people only"
    assert set(rows["flags"]) == {"attention" if flagged else ""}
    assert len(tables.ratings(visit.campaign, include_flagged=False)) == (
        0 if flagged else len(rows)
    )


@pytest.mark.parametrize(
    ("screening", "amount"), [("0.00", "1.34"), ("1.34", "1.34"), ("1.35", "1.35")]
)
def test_where_failing_ends_it_the_work_or_the_check_is_paid_and_others_judge_again(
    screening: str, amount: str
) -> None:
    """Four of six are done: 2.00 pro rata is 1.34, a part of a cent rounded up."""
    campaign = judging(ENDS, screening_pay=screening, budget="20.00")
    visit = rater(campaign)
    for _ in range(3):
        judge(visit, WRONG)
    assert not is_over(visit)
    judge(visit, WRONG)
    assert visit.person.outcome == "CHECK_FAILED"
    assert amount_of(visit) == Decimal(amount)
    assert not Item.objects.exclude(reserved=0, completed=0).exists()
    assert set(Assignment.objects.values_list("state", flat=True)) == {"RELEASED"}
    rows = tables.ratings(campaign, include_excluded=True)
    assert len(rows), "what was judged is kept"
    assert set(rows["excluded"]) == {"failed an announced check"}
    other = rater(campaign)
    while not is_over(other):
        judge(other, RIGHT)
    assert not Item.objects.exclude(completed=1).exists()
    assert assignment_rules.of_campaign(campaign).broken == []
    assert [each for each in verifying.findings(timezone.now()) if "item" in str(each)] == []


def test_who_withdraws_after_failing_takes_no_vote_back_twice() -> None:
    campaign = judging(ENDS)
    failed, other = rater(campaign), None
    for _ in range(4):
        judge(failed, WRONG)
    other = rater(campaign)
    while not is_over(other):
        judge(other, RIGHT)
    person = failed.person
    privacy.withdraw(token=privacy.withdraw_token(person), now=timezone.now())
    assert not Item.objects.exclude(completed=1).exists()
    assert not any(each.answers for each in AdmissionTry.objects.filter(participation=person))


def test_a_missing_answer_is_named_and_nothing_is_stored() -> None:
    visit = rater(judging())
    judge(visit, RIGHT)
    found = {n: a for n, a in good_answers(visit.get()).items() if not n.startswith("attention")}
    page = visit.post("rate", found)
    assert page.status_code == 422
    assert [field.name for field in page.context["problems"]] == ["attention.choose_no"]
    assert Assignment.objects.filter(state="DONE").count() == 1
    assert not AdmissionTry.objects.exists()


def test_a_form_sent_twice_is_one_check_and_a_check_that_is_not_asked_is_refused() -> None:
    visit = rater(judging())
    strange = visit.post("rate", good_answers(visit.get()) | {"attention.choose_no": "1"})
    assert strange.status_code == 422
    judge(visit, RIGHT)
    answers = good_answers(visit.get()) | {"attention.choose_no": "1"}
    for _ in range(2):
        assert visit.post("rate", answers).status_code == 200
    assert AdmissionTry.objects.count() == 1
    assert Assignment.objects.filter(state="DONE").count() == 2


def test_the_answer_is_part_of_the_draft() -> None:
    visit = rater(judging())
    refused = visit.post(
        "draft", '{"answers": {"attention.choose_no": "1"}}', content_type="application/json"
    )
    judge(visit, RIGHT)
    kept = visit.post(
        "draft", '{"answers": {"attention.choose_no": "1"}}', content_type="application/json"
    )
    assert (refused.json(), kept.json()) == ({"saved": False}, {"saved": True})
    assert visit.get().context["fields"][-1].value == "1"


def test_the_first_page_announces_them_with_what_failing_means() -> None:
    goes_on = Visit(judging()).get("").content.decode()
    assert "Your pay does not depend on it. If you answer 2 or more of them otherwise" in goes_on
    ends = Visit(judging(ENDS, screening_pay="0.20")).get("").content.decode()
    assert "the study ends there for you, and you are paid 0.20 USD, or for what is done" in ends


def test_after_a_conversation_the_check_ends_its_form() -> None:
    step = dataclasses.replace(STEP, every=1, misses=1)
    campaign = campaign_with(step, protocol="personachat_bot", changes={"chat.minimum": [2]})
    visit = rating_visit(campaign)
    while not is_over(visit):
        page = visit.get()
        assert len(checked(page)) == 1
        judge(visit, WRONG)
    assert Flag.objects.filter(kind="attention", participation=visit.person).count() == 1
    assert visit.person.outcome == "COMPLETED"


def test_the_answers_are_exported_with_whether_they_were_right(tmp_path: Path) -> None:
    visit = rater(judging())
    for checks in (RIGHT, WRONG, RIGHT, RIGHT):
        judge(visit, checks)
    path = exports.write(campaign=visit.campaign, folder=tmp_path, now=timezone.now())
    with zipfile.ZipFile(path) as archive:
        text = archive.read("admission.csv").decode()
        codebook = archive.read("codebook.json").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(r["step"], r["try"], r["question"], r["value"], r["right"]) for r in rows] == [
        ("attention", "1", "choose_no", "1", "0"),
        ("attention", "2", "choose_yes", "1", "1"),
    ]
    assert NO.text in codebook


def test_staff_see_the_checks_in_the_preview_and_a_chat_service_does_not_take_them() -> None:
    campaign = judging()
    groups = samples.question_groups(protocol_of(campaign))
    assert [question.name for question in groups[-1].form.rate.each] == ["choose_no", "choose_yes"]
    assert not offering.unfit(campaign_with(protocol="convai2_crowd"))
    assert offering.unfit(campaign_with(STEP, protocol="convai2_crowd"))
