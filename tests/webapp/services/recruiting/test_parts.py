"""Parts of the pay by the panel's own code: whole cents, once, and never beside a bonus (R21)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.recruiting.fake_panel import FakePanel
from tests.webapp.services.recruiting.test_drill import ENDS, end, made, published
from tests.webapp.services.recruiting.test_panel import WORDS, submitted, turn_at
from webapp.models import Bonus, PanelCall, PanelPayment, PanelStudy, Participation
from webapp.services.recruiting import books, codes, reviewing, studies, turn
from webapp.services.recruiting.parts import RewardPart, part_of
from webapp.services.rules import states

pytestmark = pytest.mark.django_db
QUIT = next(k for k, ending in enumerate(ENDS) if ending[0] == Participation.Outcome.QUIT)
NOBODY = QUIT + 1


@pytest.mark.parametrize(
    ("reward", "due", "part"),
    [
        (200, 15, None),
        (200, 16, RewardPart(8, 16)),
        (200, 17, RewardPart(8, 16)),
        (200, 67, RewardPart(33, 66)),
        (200, 198, RewardPart(99, 198)),
        (200, 199, RewardPart(99, 198)),
        (200, 500, RewardPart(99, 198)),
        (250, 67, RewardPart(26, 65)),  # 2.5 cents a percent: each second one is whole
        (130, 129, RewardPart(90, 117)),
        (133, 100, None),
        (100, 8, RewardPart(8, 8)),
        (100, 7, None),
    ],
)
def test_a_part_is_whole_cents_and_never_above_what_is_due(
    reward: int, due: int, part: RewardPart | None
) -> None:
    assert part_of(reward, due) == part


def paid_after(panel: FakePanel, minutes: int = 60) -> list[list[int]]:
    """Return what each submission was paid, the largest first, after some turns."""
    for at in range(2, minutes, 10):
        turn_at(at)
        panel.settle()
    return [sorted(panel.paid.get(pk, []), reverse=True) for pk in panel.submissions]


def calls(action: str) -> list[tuple[str, str]]:
    return list(PanelCall.objects.filter(action=action).values_list("stage", "error"))


def test_a_part_is_a_percentage_and_the_rest_a_bonus_and_nobody_has_to_return(
    panel: FakePanel,
) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    one = submitted(panel, study, QUIT)  # 0.67 of 2.00
    assert paid_after(panel) == [[66, 1]]
    one.refresh_from_db()
    assert (one.status, one.return_requested) == ("PARTIALLY APPROVED", False)
    assert calls("RETURN") == []
    (line,) = books.of(study).lines
    shown = (line.line.approved, line.line.bonus, line.line.difference, line.line.note)
    assert tuple(map(str, shown)) == ("0.66", "0.01", "0.00", "")


def test_a_bonus_that_is_given_later_is_paid_besides(panel: FakePanel) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    one = submitted(panel, study, QUIT)
    assert paid_after(panel) == [[66, 1]]
    assert one.participation is not None
    Bonus.objects.create(
        participation=one.participation, amount="2.00", reason="more", given_by=study.made_by
    )
    assert paid_after(panel) == [[200, 66, 1]]


def test_only_the_code_that_we_send_pays_a_part(panel: FakePanel) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    told = {each["code"]: each for each in panel.studies[study.study_id or ""]["completion_codes"]}
    ours = told[study.codes[codes.BY_PERCENTAGE]]
    assert (ours["actor"], ours["actions"]) == ("researcher", [{"action": "DYNAMIC_PAYMENT"}])
    returns = [
        group
        for group, code in study.codes.items()
        if told[code]["actions"][0]["action"] == "REQUEST_RETURN"
    ]
    assert returns == ["unpaid"]
    links = {codes.link_of(end(study.campaign, k, *ending)) for k, ending in enumerate(ENDS)}
    assert not any(link.endswith(ours["code"]) for link in links)
    plain = codes.new_codes()
    assert codes.BY_PERCENTAGE not in plain


def test_a_workspace_that_may_not_refuses_the_study_which_is_made_again_without(
    panel: FakePanel,
) -> None:
    panel.pays_parts = False
    campaign = make_campaign()
    made(campaign, NOW, pays_parts=True)
    turn.turn(NOW)
    assert "DYNAMIC_PAYMENT is not for this workspace" in calls("CREATE")[0][1]
    assert studies.may_make(campaign)
    study = published(panel, campaign)
    one = submitted(panel, study, QUIT)
    assert one.return_requested  # by the code that it came back with
    assert paid_after(panel) == [[67]]


def test_a_part_that_is_refused_is_paid_as_a_bonus(panel: FakePanel) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    PanelStudy.objects.update(codes=study.codes | {codes.BY_PERCENTAGE: "unknown"})
    submitted(panel, study, QUIT)
    assert paid_after(panel, 200) == [[66, 1]]
    assert [stage for stage, _ in calls("PART")] == ["FAILED"]
    assert len(calls("RETURN")) == 1


@pytest.mark.parametrize("fault", ["lost", "broken"])
def test_a_part_whose_answer_is_lost_is_asked_for_until_it_is_known(
    panel: FakePanel, fault: str
) -> None:
    """It may have been paid, so it is never given up for a bonus."""
    study = published(panel, make_campaign(), pays_parts=True)
    submitted(panel, study, NOBODY)
    call = PanelCall.objects.filter(action="PART")
    call.update(attempt=studies.ATTEMPTS - 2, due_at=NOW)
    panel.faults = {fault: 1.0}
    for at in range(2, 8):
        turn.turn(NOW + timedelta(minutes=at))
    assert call.get().stage == "DUE"
    assert call.get().attempt > studies.ATTEMPTS
    assert not PanelPayment.objects.exists()
    panel.faults = {}
    assert paid_after(panel) == [[60]]


def test_a_repeat_that_is_refused_after_a_lost_answer_is_no_second_payment(
    panel: FakePanel,
) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    submitted(panel, study, NOBODY)
    panel.faults = {"lost": 1.0}
    turn.turn(NOW + timedelta(minutes=2))
    panel.faults = {}
    assert [sum(each) for each in panel.paid.values()] == [60]
    PanelStudy.objects.update(codes=study.codes | {codes.BY_PERCENTAGE: "unknown"})
    assert paid_after(panel, 200) == [[60]]
    assert [stage for stage, _ in calls("PART")] == ["FAILED"]


def test_who_is_rejected_before_the_part_was_sent_gets_none(panel: FakePanel) -> None:
    study = published(panel, make_campaign(), pays_parts=True)
    one = submitted(panel, study, NOBODY)
    about: dict[str, Any] = {
        "one": one,
        "category": "LOW_EFFORT",
        "message": WORDS,
        "by": study.made_by,
    }
    call = PanelCall.objects.filter(action="PART")
    call.update(attempt=1)
    with pytest.raises(states.Illegal):
        reviewing.reject(evidence="all of it", now=NOW, **about)  # it may have been paid
    call.update(attempt=0)
    reviewing.reject(evidence="all of it", now=NOW, **about)
    assert paid_after(panel) == [[]]
    one.refresh_from_db()
    assert one.status == "REJECTED"


def test_a_part_that_somebody_paid_there_by_hand_is_for_a_person_to_look_at(
    panel: FakePanel,
) -> None:
    study = published(panel, make_campaign())
    end(study.campaign, QUIT, *ENDS[QUIT])
    panel.becomes(panel.comes(study.study_id or "", f"person{QUIT}"), "PARTIALLY APPROVED")
    assert paid_after(panel) == [[]]
    (line,) = books.of(study).lines
    assert line.line.note == "look into it at the panel"
