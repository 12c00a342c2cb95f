"""What tests of staff's pages share: a campaign with one row of everything, a draft, somebody.

Models are imported in the functions: this file is read before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from webapp.models import Campaign


@pytest.fixture
def client() -> Client:
    """A browser; results that a page wants are computed before it looks again."""
    from tests.webapp.views.patient import Patient

    return Patient()


@pytest.fixture
def campaign() -> Campaign:
    """An open campaign with one row of everything."""
    from tests.factories import NOW, make_campaign, make_own_protocol, make_participation
    from webapp.models import (
        CompletionCode,
        Conversation,
        Flag,
        PanelStudy,
        PayHold,
        ProblemReport,
        ReplyJob,
        Study,
        Whitelist,
    )

    row = make_campaign()
    person = make_participation(row, state="ENDED", outcome="COMPLETED", system=row.systems.get())
    code = CompletionCode.objects.create(
        participation=person, code="AB-CD", kind="FULL", amount="2.00"
    )
    PayHold.objects.create(code=code, because="flags", held_at=NOW, until=NOW, decided_at=NOW)
    for purpose in ("STUDY", "REHEARSAL"):
        Conversation.objects.create(
            campaign=row, system=row.systems.get(), seed=1, started_at=NOW, purpose=purpose
        )
    study = row.conversations.get(purpose="STUDY")
    Flag.objects.create(campaign=row, conversation=study, participation=person, kind="quick")
    ProblemReport.objects.create(participation=person, step="RATING", text="Help.", made_at=NOW)
    ReplyJob.objects.create(
        conversation=study, in_reply_to=1, bot="parrot", queued_at=NOW, state="FAILED"
    )
    listed = Whitelist.objects.create(
        name="Listed", owner=row.owner, project=row.project, made_at=NOW
    )
    listed.replies.create(place=1, text="Yes.", count=2)
    panel = PanelStudy.objects.create(
        campaign=row,
        key="k",
        study_id="s",
        title="Chat",
        address="https://parley.example.org/c/x/",
        openings=2,
        minutes=10,
        reward=200,
        screening_reward=0,
        screening_openings=1,
        codes={"COMPLETED": "C-FULL-9"},
        status="ACTIVE",
        made_by=row.owner,
    )
    panel.submissions.create(
        submission_id="sub", participation=person, status="APPROVED", read_at=NOW
    )
    make_own_protocol()
    row.study = Study.objects.create(
        name="All", owner=row.owner, project=row.project, created_at=NOW
    )
    row.phase = "first"
    row.save()
    return row


@pytest.fixture
def draft() -> Campaign:
    """A campaign that is not open yet, and a worker that can answer for any bot."""
    from tests.factories import NOW, make_campaign
    from webapp.models import Campaign, Heartbeat

    row = make_campaign(state=Campaign.State.DRAFT, opened_at=None)
    Heartbeat.objects.create(name="w", kind="replies", bots=["*"], seen_at=NOW)
    return row


@pytest.fixture
def ann(client: Client) -> Client:
    """Somebody of the staff, signed in."""
    from tests.factories import make_staff

    client.force_login(make_staff("ann"))
    return client


@pytest.fixture
def staff(client: Client) -> Client:
    """Ada of the staff, signed in."""
    from tests.factories import make_staff

    client.force_login(make_staff("ada"))
    return client


@pytest.fixture
def answered() -> Campaign:
    """A campaign with answers that count, one that was set aside and one that is flagged."""
    from tests.webapp.services import rated
    from webapp.models import Flag

    made = rated.personachat(each=11)
    system = made.systems.get(name="poor")
    rated.rate(made, system, outcome="PARTNER_LEFT", state="ABANDONED")
    person, talk = rated.rate(made, system, quality=1.9)
    Flag.objects.create(campaign=made, participation=person, conversation=talk, kind="quick")
    return made
