"""A study at the panel: made once, codes per outcome, what only people do (R19, R21, S12)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured

from tests.factories import NOW, make_campaign
from tests.webapp.services.recruiting.fake_panel import SECRET, FakePanel
from tests.webapp.services.recruiting.test_drill import (
    ENDS,
    end,
    made,
    post,
    published,
)
from webapp.apps import ParleyConfig
from webapp.models import (
    AuditEntry,
    Campaign,
    PanelBatch,
    PanelCall,
    PanelEvent,
    PanelStudy,
    PanelSubmission,
    PayHold,
)
from webapp.services.monitoring import pay_holds
from webapp.services.participation import screens
from webapp.services.recruiting import books, codes, reviewing, studies, submissions, turn
from webapp.services.rules import endings, states

pytestmark = pytest.mark.django_db
WORDS = (
    "You were asked to write in full sentences, and all twelve of your messages are one letter." * 2
)


def submitted(panel: FakePanel, study: PanelStudy, number: int = 0) -> PanelSubmission:
    """Return the submission of somebody of the ends' `number` who has come back to the panel."""
    person = end(study.campaign, number, *ENDS[number])
    pk = panel.comes(study.study_id or "", f"person{number}")
    panel.enters(pk, codes.link_of(person).removeprefix(codes.COMPLETE))
    turn_at(1)
    return PanelSubmission.objects.get(submission_id=pk)


def turn_at(minutes: int) -> None:
    """Read everything and do what is due, so many minutes after the beginning."""
    PanelStudy.objects.update(read_at=None)
    turn.turn(NOW + timedelta(minutes=minutes))


def test_each_outcome_returns_with_the_code_the_panel_knows_for_it(panel: FakePanel) -> None:
    study = published(panel, make_campaign(screening_pay="0.30"))
    told = panel.studies[study.study_id or ""]
    groups = []
    for number, ending in enumerate(ENDS):
        person = end(study.campaign, number, *ending)
        link = screens._return_url(person, "OWN-CODE")
        assert link.count("cc=") == 1
        assert "OWN-CODE" not in link
        code = link.removeprefix(codes.COMPLETE)
        groups.append(next(name for name, known in study.codes.items() if known == code))
    assert groups == [
        *["completed"] * 4,
        *["failed_by_us"] * 2,
        "partial",
        "no_partner",
        *["screened_out"] * 2,
        "unpaid",
    ]
    assert {each["code"] for each in told["completion_codes"]} == set(study.codes.values())
    assert "{{%PROLIFIC_PID%}}" in told["external_study_url"]
    assert told["status"] == "ACTIVE"


@pytest.mark.parametrize("language", ["en", "de"])
def test_who_is_asked_to_return_reads_why_in_the_campaigns_language(
    panel: FakePanel, language: str
) -> None:
    """The panel's reference requires a reason, and takes no study without."""
    study = published(panel, make_campaign(languages=[language, "fr"]))
    told = panel.studies[study.study_id or ""]["completion_codes"]
    reasons = {
        group: action["return_reason"]
        for each in told
        for group, code in study.codes.items()
        for action in each["actions"]
        if code == each["code"] and action["action"] == "REQUEST_RETURN"
    }
    assert set(reasons) == {"partial", "no_partner", "screened_out", "unpaid"}
    bonus, none = ("bonus", "No pay") if language == "en" else ("Bonus", "keine Bezahlung")
    assert [group for group, words in reasons.items() if none in words] == ["unpaid"]
    assert sum(bonus in words for words in reasons.values()) == 3


def test_a_study_whose_answer_was_lost_is_not_made_twice(panel: FakePanel) -> None:
    panel.faults = {"lost": 1.0}
    campaign = make_campaign()
    with pytest.raises(states.Illegal):
        published(panel, campaign)
    panel.faults = {}
    turn.turn(NOW + timedelta(minutes=2))
    study = studies.study_of(campaign)
    assert study is not None
    assert list(panel.studies) == [study.study_id]


def test_a_draft_is_looked_for_once_under_a_lease(panel: FakePanel) -> None:
    """A pause could outlast the lease, and another process then makes a second draft."""
    panel.faults = {"lost": 1.0}
    made(make_campaign(), NOW)
    turn.turn(NOW)
    panel.faults, panel.kills, panel.pause = {}, ["busy studies/"], 1
    panel.calls.clear()
    turn.turn(NOW + timedelta(minutes=2))
    assert panel.calls.count("GET /api/v1/studies/") == 1
    turn.turn(NOW + timedelta(minutes=4))
    assert len(panel.studies) == 1


def test_a_study_is_paused_started_again_given_places_and_stopped(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    about: dict[str, Any] = {"study": study, "by": study.made_by, "now": NOW}
    for action, status in (("PAUSE", "PAUSED"), ("START", "ACTIVE"), ("PAUSE", "PAUSED")):
        studies.change(action=action, **about)
        with pytest.raises(states.Illegal):
            studies.change(action=action, **about)  # one is on its way
        turn.turn(NOW)
        study.refresh_from_db()
        assert study.status == status == panel.studies[study.study_id or ""]["status"]
    for wrong in (19, 20):
        with pytest.raises(states.Illegal):
            studies.add_openings(openings=wrong, **about)
    studies.add_openings(openings=21, **about)
    turn.turn(NOW)
    study.refresh_from_db()
    assert study.openings == 21
    studies.change(action="STOP", **about)
    turn.turn(NOW)
    assert panel.studies[study.study_id or ""]["status"] == "AWAITING REVIEW"


def test_a_fixed_code_without_work_is_never_approved(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    stranger = panel.comes(study.study_id or "", "nobody-here")
    panel.enters(stranger, study.codes["completed"])
    turn_at(1)
    turn_at(20)
    assert panel.total(stranger) == 0
    assert panel.submissions[stranger]["status"] == "AWAITING REVIEW"
    assert "look into it" in books.of(study).lines[0].line.note


def test_a_second_submission_of_a_person_is_not_paid_again(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    first = submitted(panel, study)
    again = panel.comes(study.study_id or "", "person0")
    panel.enters(again, study.codes["completed"])
    for minutes in (10, 20, 30):
        turn_at(minutes)
    assert (panel.total(first.submission_id), panel.total(again)) == (200, 0)


def test_a_rejection_needs_a_person_and_is_refused_once_approval_is_sent(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    about: dict[str, Any] = {
        "category": "LOW_EFFORT",
        "message": WORDS,
        "evidence": "messages 1 to 12",
    }
    who: dict[str, Any] = {"one": one, "by": study.made_by, "now": NOW}
    reviewing.reject(**about, **who)  # the approval is intended, and not sent yet
    turn_at(2)
    turn_at(30)
    one.refresh_from_db()
    assert (one.status, panel.total(one.submission_id)) == ("REJECTED", 0)
    line = books.of(study).lines[0].line
    assert [line.owed, line.difference] == [Decimal(0)] * 2
    entry = AuditEntry.objects.get(action="panel: reject asked for")
    assert entry.detail["evidence"] == "messages 1 to 12"
    other = submitted(panel, study, 3)
    turn_at(4)
    with pytest.raises(states.Illegal):
        reviewing.reject(**about, **who | {"one": other})


def test_what_is_returned_or_timed_out_there_is_never_called_approved(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    panel.becomes(one.submission_id, "RETURNED")  # between the intent and the approval
    for minutes in (2, 10, 20):
        turn_at(minutes)
        panel.settle()
    call = PanelCall.objects.get(action="APPROVE")
    assert call.stage == "FAILED"
    line = books.of(study).lines[0].line
    assert (line.status, line.approved) == ("RETURNED", Decimal(0))
    assert line.bonus == line.owed == Decimal("2.00")
    assert panel.paid[one.submission_id] == [200]


def test_a_lost_answer_to_paying_is_not_repeated_while_it_may_be_under_way(
    panel: FakePanel,
) -> None:
    study = published(panel, make_campaign())
    panel.kills = ["lost /pay"]
    one = submitted(panel, study, 6)
    assert PanelBatch.objects.get().stage == "SENDING"
    pay = [call for call in panel.calls if call.endswith("/pay/")]
    assert len(pay) == 1
    for minutes in (30, 50):
        turn_at(minutes)
    panel.settle()
    for minutes in (70, 130, 300):
        turn_at(minutes)
    assert [call for call in panel.calls if call.endswith("/pay/")] == pay
    assert panel.paid[one.submission_id] == [67]


def test_a_call_to_pay_that_never_arrived_is_made_again_after_an_hour(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    panel.kills = ["broken /pay"]
    one = submitted(panel, study, 6)
    for minutes in (30, 60, 61):
        turn_at(minutes)
    assert panel.total(one.submission_id) == 0
    turn_at(63)
    turn_at(64)
    assert panel.paid[one.submission_id] == [67]


def test_a_message_is_sent_once_and_not_repeated_after_a_lost_answer(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    who: dict[str, Any] = {"one": one, "by": study.made_by, "now": NOW}
    reviewing.write(text="Thank you.", **who)
    reviewing.write(text="Thank you.", **who)
    turn_at(3)
    assert [each["body"] for each in panel.messages] == ["Thank you."]
    assert panel.messages[0]["recipient_id"] == "person0"


def test_an_event_is_believed_by_its_signature_alone_and_taken_once(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    event = {"event_type": "submission.status.change", "resource_id": one.submission_id, "id": "e"}
    assert post(event, NOW, secret="another") == 403
    assert not PanelEvent.objects.exists()
    assert [post(event, NOW) for _ in range(3)] == [200] * 3
    assert PanelEvent.objects.count() == 1
    assert PanelSubmission.objects.get(look=True) == one
    assert post({"event_type": "x", "id": "f"}, NOW) == 400


def test_an_old_event_is_refused(panel: FakePanel) -> None:
    signed: dict[str, Any] = {"body": b"{}", "signature": "", "now": NOW}
    for raw in ("", "-1", "²", "9" * 30, str(int(NOW.timestamp()) - 601)):
        assert not submissions.is_signed(timestamp=raw, **signed)


def test_the_token_goes_only_to_the_panel(settings: LazySettings) -> None:
    config = ParleyConfig.create("webapp")
    settings.PROLIFIC_URL = "https://api.prolific.example.org"
    with pytest.raises(ImproperlyConfigured, match="the token may only go to"):
        config.ready()


def test_neither_token_nor_secret_is_logged(
    panel: FakePanel, caplog: pytest.LogCaptureFixture
) -> None:
    panel.faults = {"broken": 0.4, "lost": 0.3}
    made(make_campaign())
    with caplog.at_level("DEBUG"):
        for minutes in range(4):
            turn.turn(NOW + timedelta(minutes=minutes))
    assert panel.token not in caplog.text
    assert SECRET not in caplog.text


def test_ids_of_submissions_go_with_the_other_ids_and_do_not_come_back(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    ended = NOW + timedelta(minutes=2)
    Campaign.objects.update(ended_at=ended)
    for days, is_kept in ((90, True), (91, False), (92, False)):
        PanelStudy.objects.update(read_at=None)
        turn.turn(ended + timedelta(days=days))
        ids = list(PanelSubmission.objects.values_list("submission_id", flat=True))
        assert (ids == [one.submission_id]) == is_kept
        assert len(ids) == 1


def test_a_rejection_that_the_panel_refuses_lets_the_person_be_paid(panel: FakePanel) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    about: dict[str, Any] = {"one": one, "by": study.made_by, "now": NOW, "category": "LOW_EFFORT"}
    reviewing.reject(message="too short for the panel", evidence="messages 1 to 12", **about)
    for minutes in (2, 10, 20):
        turn_at(minutes)
    assert panel.total(one.submission_id) == 200
    assert books.of(study).difference == 0


def test_one_submission_that_cannot_be_read_keeps_no_other_from_being_read(
    panel: FakePanel,
) -> None:
    study = published(panel, make_campaign())
    gone, one = submitted(panel, study), submitted(panel, study, 3)
    del panel.submissions[gone.submission_id]
    panel.submissions[one.submission_id]["status"] = "RETURNED"
    study.submissions.update(look=True)
    turn.turn(NOW + timedelta(minutes=2))
    assert not study.submissions.filter(look=True).exists()
    one.refresh_from_db()
    assert one.status == "RETURNED"


LIST = "submissions/?offset=100"


@pytest.mark.parametrize(
    ("faults", "pause", "is_read"),
    [
        (["lost", "busy", "broken"], 0, True),
        (["lost", "busy", "broken", "busy"], 0, False),  # as often as a page is asked for
        (["busy"], 61, False),  # longer than a turn may wait
    ],
)
def test_a_page_of_a_long_list_that_fails_is_asked_for_again(
    panel: FakePanel, faults: list[str], pause: int, is_read: bool
) -> None:
    """10,000 submissions are 100 pages: one lost answer must not cost the whole list."""
    study = published(panel, make_campaign())
    for number in range(101):
        panel.comes(study.study_id or "", f"person{number}")
    panel.kills, panel.pause = [f"{fault} {LIST}" for fault in faults], pause
    turn_at(1)
    study.refresh_from_db()
    assert study.submissions.count() == (101 if is_read else 0)
    assert bool(study.error) is not is_read


def test_what_waits_for_a_payer_here_is_not_paid_there_until_it_is_let_go(panel: FakePanel) -> None:
    """R37: also after lost answers; and what was refused is owed nothing at the panel either."""
    study = published(panel, make_campaign(hold_payments=True))
    pks = []
    for number in range(2):
        person = end(study.campaign, number, *ENDS[number])
        endings.hold(person.code, endings.FLAGS, NOW)
        pks.append(panel.comes(study.study_id or "", f"person{number}"))
        panel.enters(pks[-1], codes.link_of(person).removeprefix(codes.COMPLETE))
    for minutes in (1, 3, 20):
        turn_at(minutes)
    lines = [each.line for each in books.of(study).lines]
    assert {each.note for each in lines} == {"it waits on the pay sheet for a payer"}
    assert not PanelCall.objects.filter(action__in=("APPROVE", "RETURN")).exists()
    assert [panel.total(pk) for pk in pks] == [0, 0]
    about: dict[str, Any] = {"campaign": study.campaign, "by": study.made_by, "now": NOW}
    first, second = PayHold.objects.order_by("pk")
    pay_holds.release(pk=first.pk, **about)
    pay_holds.refuse(pk=second.pk, reason=WORDS, **about)
    for minutes in (21, 35, 50, 120):
        turn_at(minutes)
    assert panel.total(pks[0]) == 200
    assert [each.line.owed for each in books.of(study).lines] == [Decimal(2), Decimal("0.75")]
    assert panel.submissions[pks[1]]["status"] == "AWAITING REVIEW", "a person answers it there"
