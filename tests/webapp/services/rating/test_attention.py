"""Attention checks as they are stored: what counts as missed, and when somebody has failed."""

from __future__ import annotations

import pytest

from evaluation import Attention, Gate, YesNo, ours
from tests.factories import NOW, make_participation
from tests.webapp.admitted import onboarding_campaign, rows_of
from webapp.models import AdmissionTry, Assignment, Flag, Item
from webapp.services.rating import attention

pytestmark = pytest.mark.django_db
NO = YesNo(name="choose_no", text=ours("This is an attention check: please choose No."))
RIGHT, WRONG = 0, 1


@pytest.mark.parametrize(
    ("answers", "failed_at", "detail"),
    [
        ([WRONG], None, ""),
        ([RIGHT, RIGHT, RIGHT], None, ""),
        ([RIGHT, WRONG, RIGHT], None, ""),
        ([WRONG, WRONG], 2, "2 of 2 attention checks answered wrongly"),
        ([RIGHT, WRONG, RIGHT, WRONG], 4, "2 of 4 attention checks answered wrongly"),
        ([WRONG, WRONG, WRONG], 2, "2 of 2 attention checks answered wrongly"),
    ],
)
def test_who_misses_as_many_as_may_not_be_missed_fails_once(
    answers: list[int], failed_at: int | None, detail: str
) -> None:
    step = Attention(questions=(NO,), passes=(Gate("choose_no", (RIGHT,)),), every=1, misses=2)
    person = make_participation(onboarding_campaign(step, rows_of(6), batch=6, votes=1))
    check = attention.AttentionCheck(step, NO)
    beside = make_participation(person.campaign)
    attention.store(beside, check, WRONG, NOW)  # which is nobody else's
    AdmissionTry.objects.create(  # and a quiz is no attention check
        participation=person,
        step="quiz",
        number=1,
        answers={},
        wrong=["a"],
        passed=False,
        made_at=NOW,
    )
    failed = [attention.store(person, check, each, NOW) for each in answers]
    assert failed == [number == failed_at for number in range(1, len(answers) + 1)]
    tries = AdmissionTry.objects.filter(participation=person, step=attention.PREFIX)
    tries = tries.order_by("number")
    assert list(tries.values_list("number", "passed")) == [
        (number, each == RIGHT) for number, each in enumerate(answers, start=1)
    ]
    flags = Flag.objects.filter(participation=person).values_list("detail", flat=True)
    assert list(flags) == [detail] * bool(detail)


def test_forms_are_counted_and_no_labels_given_in_a_chat() -> None:
    step = Attention(questions=(NO,), passes=(Gate("choose_no", (RIGHT,)),), every=2, misses=2)
    person = make_participation(onboarding_campaign(step, rows_of(6), batch=6, votes=1))
    for key, has_check in (("c1:1:live", False), ("c1:1:after", True)):
        item = Item.objects.create(campaign=person.campaign, key=key, target=1)
        Assignment.objects.create(
            item=item, participation=person, place=0, state="DONE", done_at=NOW
        )
        assert (attention.check_for(person) is not None) is has_check
