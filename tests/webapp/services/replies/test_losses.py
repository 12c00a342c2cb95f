"""Processes that are lost over jobs, and replies that cannot be used: who is to blame."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db.models.functions import Now
from django.template.loader import render_to_string

from bots import Reply, Turn
from tests import serving
from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.replies.test_queue import replied, serve, waiting
from webapp import inference
from webapp.inference import Answers
from webapp.models import Flag, ReplyCall, ReplyJob
from webapp.services.conversation import chat, opening
from webapp.services.data import exports
from webapp.services.monitoring import monitor
from webapp.services.participation import stopping
from webapp.services.replies import batches, calls, delivery, pace, queue, worker
from webapp.services.replies.batches import Limit

J = ReplyJob.State
pytestmark = pytest.mark.django_db


def losing(
    *, of_device: bool, most: int = 64, bad: str = "nothing"
) -> tuple[inference.Respond, list[int]]:
    """Return a way to answer that loses its process over more than `most` jobs, or over `bad`."""
    sizes: list[int] = []

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        sizes.append(len(turns))
        if len(turns) > most or any(bad in history[-1].text for _, history in turns):
            raise inference.WorkerLost("gone", of_device=of_device)
        return inference.respond_here(bot, options, turns)

    return respond, sizes


def serve_on(respond: inference.Respond, limit: Limit, times: int) -> None:
    """Serve as a worker does, each time when a pause after a failure is over."""
    for _ in range(times):
        ReplyJob.objects.filter(state=J.QUEUED).update(lease_until=None)
        with contextlib.suppress(inference.WorkerLost):
            serving.serve(bot="parrot", owner="w", respond=respond, limit=limit)


def test_a_batch_too_large_for_the_device_is_halved_until_it_fits() -> None:
    """R14: a device error is not the bot's failure, however often a job has been tried."""
    waiting(7)
    ReplyJob.objects.filter(pk=ReplyJob.objects.earliest("pk").pk).update(attempt=2)
    limit = Limit()
    respond, sizes = losing(of_device=True, most=2)
    serve_on(respond, limit, 9)
    assert sizes == [7, 3, 1, 1, 1, 1, 1, 1, 1]
    assert (limit.now, limit.losses) == (1, 2)
    jobs = ReplyJob.objects.order_by("pk")
    assert {job.state for job in jobs} == {J.DONE}
    assert [job.attempt for job in jobs] == [3, 1, 1, 1, 1, 1, 1]


def test_of_a_batch_that_crashes_only_the_one_to_blame_is_given_up() -> None:
    waiting(6)
    limit = Limit()
    respond, sizes = losing(of_device=False, bad="Number 3")
    serve_on(respond, limit, 12)
    assert sizes[:7] == [6, 1, 1, 1, 1, 1, 1]
    given_up = ReplyJob.objects.get(state=J.FAILED)
    assert (given_up.attempt, given_up.error) == (3, "gone")
    assert len(replied()) == 5
    assert Flag.objects.get().kind == "no_reply"


def test_a_device_that_never_works_ends_in_a_notice_all_the_same() -> None:
    waiting()
    respond, sizes = losing(of_device=True, most=0)
    serve_on(respond, Limit(), 20)
    assert ReplyJob.objects.get().state == J.FAILED
    assert len(sizes) == delivery.LOSSES + queue.ATTEMPTS


def test_a_lost_process_of_one_system_does_not_hold_up_another_s_jobs() -> None:
    systems = {"alpha": "parrot", "beta": "parrot"}
    campaign = make_campaign(systems=systems, changes={"chat.pace": 0.0})
    beta = campaign.systems.get(name="beta")
    beta.options = {"opening": "Ho!"}
    beta.save()
    for system in campaign.systems.order_by("name"):
        person = make_participation(campaign)
        opening.open_with_bot(person=person, system=system, now=NOW)
        chat.send_message(person=person, client_id=uuid4(), text=f"To {system.name}.", now=NOW)

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        if not options:
            raise inference.WorkerLost("gone")
        return inference.respond_here(bot, options, turns)

    with pytest.raises(inference.WorkerLost):
        serve(respond)
    assert replied() == ["To beta."]
    assert ReplyJob.objects.filter(state=J.QUEUED).count() == 1


def test_what_was_put_back_comes_after_new_jobs() -> None:
    """A job over which its bot stalls does not hold up people who came later."""
    waiting(3)
    first = ReplyJob.objects.earliest("pk")
    (job,) = queue.claim(bot="parrot", owner="w", most=1)
    assert job.pk == first.pk
    delivery.failed(job, "stalled")
    ReplyJob.objects.filter(pk=job.pk).update(lease_until=Now() - timedelta(seconds=1))
    order = [queue.claim(bot="parrot", owner="w", most=1)[0].pk for _ in range(3)]
    assert order[-1] == first.pk


def test_files_and_device_of_a_bot_inside_another_are_filled_in(settings: LazySettings) -> None:
    settings.WEIGHTS_DIR, settings.DEVICE = "/w", "cpu"
    campaign = make_campaign(systems={"alpha": "safety"})
    system = campaign.systems.get()
    inner = {"bot": "seq2seq", "options": {"weights": "../../mine"}}
    system.options = {"bot": "sample_and_rank", "options": inner}
    found = worker.options_of(system)
    assert found["options"]["options"] == {"weights": "/w/mine", "device": "cpu"}
    assert system.options["options"]["options"] == {"weights": "../../mine"}


def test_after_a_while_that_goes_well_batches_are_as_large_as_before() -> None:
    limit = Limit()
    limit.lost(40, of_device=True)
    assert limit.now == 20
    for _ in range(2 * batches.RECOVERY):
        limit.answered()
    assert limit.now == queue.BATCH
    limit.lost(40, of_device=False)
    assert limit.now == 1


def test_one_empty_reply_of_a_batch_fails_alone() -> None:
    waiting(2)
    said = [
        Reply("Yes.", details={"n": "a\0b\\u0000", "at": NOW}),
        Reply("", None, {"error": "busy"}),
    ]
    serve(lambda bot, options, turns: Answers(said, {}))
    assert replied() == ["Yes."]
    assert ReplyJob.objects.get(state=J.QUEUED).error == "busy"
    details = ReplyJob.objects.get(state=J.DONE).details["bot"]
    assert details == {"n": "ab\\u0000", "at": str(NOW)}


@pytest.mark.parametrize("details", [{"a": float("nan")}, {"a": "x" * 30_000}])
def test_details_that_cannot_be_kept_are_left_out(details: dict[str, object]) -> None:
    waiting()
    serve(lambda bot, options, turns: Answers([Reply("Yes.", None, details)], {}))
    assert "left out" in ReplyJob.objects.get().details["bot"]


def test_nobody_waits_for_minutes_until_a_long_answer_seems_typed() -> None:
    campaign = make_campaign(changes={"chat.pace": 0.5})
    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    chat.send_message(person=person, client_id=uuid4(), text="Hello there.", now=NOW)
    serve(lambda bot, options, turns: Answers([Reply("word " * 20_000)], {}))
    job = ReplyJob.objects.get()
    assert len(job.text) == 4000
    assert job.due_at is not None
    assert job.answered_at is not None
    assert (job.due_at - job.answered_at).total_seconds() <= pace.LONGEST_TYPING + 1


def test_a_worker_that_wakes_after_losing_its_job_has_shown_nothing() -> None:
    """Its call is kept as one that failed; settled again, that of the other stays shown."""
    waiting()
    (stalled,) = worker.claim(bot="parrot", owner="stalled")
    late = worker.ask(stalled, inference.respond_here)
    ReplyJob.objects.update(lease_until=Now() - timedelta(seconds=1))
    (other,) = worker.claim(bot="parrot", owner="other")
    shown = worker.ask(other, inference.respond_here)
    for ended_call in (shown, late, shown):
        worker.settle(ended_call, Limit())
    rows = ReplyCall.objects.order_by("attempt").values_list("attempt", "outcome", "error")
    assert list(rows) == [(1, "FAILED", calls.LATE), (2, "SHOWN", "")]
    assert len(replied()) == 1


@pytest.mark.parametrize("ended", ["before it is answered", "before it is shown"])
def test_a_reply_that_comes_after_the_end_is_neither_shown_nor_failed(
    ended: str, tmp_path: Path
) -> None:
    waiting()
    serving.serve(bot="parrot", owner="w", respond=inference.respond_here)
    others = ReplyCall.objects.get()
    (person,) = waiting(pace=5.0)
    (work,) = worker.claim(bot="parrot", owner="w")
    call = worker.ask(work, inference.respond_here)
    if ended == "before it is shown":  # the bot still seems to type
        worker.settle(call, Limit())
        assert ReplyCall.objects.latest("pk").outcome == "SHOWN"
    stopping.stop(person=person, now=NOW)
    worker.settle(call, Limit())
    delivery.deliver_due()
    assert replied() == ["Number 0."]
    assert ReplyCall.objects.latest("pk").outcome == "UNWANTED"
    others.refresh_from_db()
    assert others.outcome == "SHOWN"  # in a conversation that goes on
    campaign = person.campaign
    (counted,) = calls.counts(campaign)
    assert (counted.calls, counted.shown, counted.failed, counted.unwanted) == (1, 0, 0, 1)
    assert counted.share == 0
    live = monitor.live(campaign, NOW)
    assert not any(alarm.name == "troubled" for alarm in live.alarms)
    shown = render_to_string("staff/_live.html", {"campaign": campaign, "live": live})
    cells = shown.partition('<th scope="row">alpha</th>')[2].partition("</tr>")[0]
    assert re.findall(r"<td class=\"num\">(\d+)</td>", cells)[-3:] == ["0", "1", "0"]
    exported = zipfile.ZipFile(exports.write_to(campaign=campaign, path=tmp_path / "e.zip"))
    (row,) = csv.DictReader(io.TextIOWrapper(exported.open("replies.csv"), "utf-8"))
    assert (row["outcome"], row["shown"]) == ("UNWANTED", "")
    assert json.loads(row["raw"]) == "Number 0."


def test_of_calls_that_end_together_only_the_late_one_has_failed() -> None:
    waiting(3)
    (work,) = worker.claim(bot="parrot", owner="stalled")
    late = worker.ask(work, inference.respond_here)
    lost = work.jobs[1].pk
    ReplyJob.objects.filter(pk=lost).update(lease_until=Now() - timedelta(seconds=1))
    serving.serve(bot="parrot", owner="other", respond=inference.respond_here, limit=Limit())
    worker.settle(late, Limit())
    failed = ReplyCall.objects.filter(outcome="FAILED").values_list("job", "error")
    assert list(failed) == [(lost, calls.LATE)]
    assert ReplyCall.objects.filter(outcome="SHOWN").count() == 3
    assert len(replied()) == 3
