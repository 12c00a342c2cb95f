"""Work on a timer never reads what is done: the plans of its queries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.apps import apps

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.queries import scanned
from webapp.models import Campaign, ReplyJob, System
from webapp.services.conversation import chat, opening
from webapp.services.ops import sweeper
from webapp.services.replies import delivery, hosts, queue

pytestmark = pytest.mark.django_db
FEW = {Campaign._meta.db_table, System._meta.db_table}
GROWING = {model._meta.db_table for model in apps.get_app_config("webapp").get_models()} - FEW


@pytest.fixture
def asked() -> None:
    """Make a person who waits for a bot's reply, so that each step finds something to do."""
    campaign = make_campaign(target=1)
    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    chat.send_message(person=person, client_id=uuid4(), text="Hello.", now=NOW)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda: sweeper.tick(NOW), id="tick"),
        pytest.param(lambda: sweeper.tick(NOW + timedelta(hours=1)), id="tick_late"),
        queue.waiting_bots,
        pytest.param(lambda: queue.claim(bot="parrot", owner="test"), id="claim"),
        pytest.param(lambda: queue.renew(["test"]), id="renew"),
        pytest.param(lambda: queue.waiting_systems("parrot"), id="waiting_systems"),
        hosts.take_back,
        pytest.param(lambda: queue.still_owed([1, 2]), id="still_owed"),
        delivery.deliver_due,
        delivery.seconds_to_next,
        delivery.sweep,
    ],
)
def test_nothing_that_grows_is_read_from_end_to_end(work: Callable[[], object]) -> None:
    assert not GROWING & set(scanned(work))


def test_a_query_without_an_index_is_seen() -> None:
    assert set(scanned(lambda: list(ReplyJob.objects.filter(error="x")))) == {"webapp_replyjob"}
