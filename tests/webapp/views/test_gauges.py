"""/metrics: off by default, for a token or staff, and the same from any process: it is rows."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.factories import make_campaign, make_staff
from tests.webapp.services.monitoring.test_monitor import make_job
from webapp.services.replies import heartbeats

pytestmark = pytest.mark.django_db
TOKEN = "a-long-token-of-the-deployer"


def read(text: str) -> dict[tuple[str, ...], float]:
    """Return every sample by its name and labels."""
    return {
        (sample.name, *(f"{key}={value}" for key, value in sorted(sample.labels.items()))): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_without_a_token_there_is_no_such_page(client: Client) -> None:
    client.force_login(make_staff())
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", "Bearer é"])
def test_only_the_token_or_staff_open_it(
    client: Client, settings: LazySettings, given: str
) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics", headers={"Authorization": given}).status_code == 404
    assert client.post("/metrics").status_code == 405
    assert client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    client.force_login(make_staff())
    assert client.get("/metrics").status_code == 200


def test_it_tells_of_each_bot(client: Client, settings: LazySettings) -> None:
    settings.METRICS_TOKEN = TOKEN
    campaign, now = make_campaign(), timezone.now()
    details = {"seconds": 0.2, "batch": 4}
    for number in range(4):
        make_job(campaign, number, state="DONE", answered_at=now, details=details)
    make_job(campaign, 9)
    make_job(campaign, 10, state="FAILED")
    state = heartbeats.State(memory={"parrot": (100.0, 0.5)})
    heartbeats.beat(name="host:1", bots=["*"], state=state)
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer["Content-Type"].startswith("text/plain")
    found = read(answer.content.decode())
    parrot = "bot=parrot"
    assert found["parley_replies_waiting", parrot] == 1
    assert found["parley_replies", parrot, "state=done"] == 4
    assert found["parley_replies", parrot, "state=failed"] == 1
    assert found["parley_batch_jobs", parrot] == 4
    assert found["parley_batch_seconds", parrot] == 0.2
    assert found["parley_reply_workers", parrot] == 1
    assert ("parley_reply_seconds", parrot, "quantile=0.95") in found
    memory = ("parley_bot_memory_bytes", parrot)
    assert found[*memory, "where=machine", "worker=host:1"] == 100 * 1024 * 1024
    assert found[*memory, "where=device", "worker=host:1"] == 512 * 1024
