"""Rehearsals: the first turns of the protocol, and the faults that they find."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models.functions import Now

from bots.registry import bot_names
from tests import serving
from tests.bots.chat_completions import Fake, running
from tests.bots.outside import tiny_causal
from tests.factories import NOW, make_campaign
from webapp import inference
from webapp.models import Conversation, ReplyJob, System
from webapp.services.campaign import checklist
from webapp.services.replies import delivery, rehearsal
from webapp.services.replies import rehearsed as rehearsed_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    monkeypatch.setenv("BOT_CALLABLES", "tests.bots.functions.*")
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        yield fake


def rehearsed(
    bot: str, protocol: str = "personachat_bot", percent: int = 0, **options: object
) -> System:
    campaign = make_campaign(protocol, systems={"one": bot}, troubled_percent=percent)
    campaign.systems.update(options=options, rehearsal="UNTESTED")
    system = campaign.systems.get()
    rehearsal.start(system=system, by="ann", now=NOW)
    for _ in range(8):
        ReplyJob.objects.update(lease_until=None)
        serving.serve(bot=bot, owner="test", respond=inference.respond_here)
    system.refresh_from_db()
    return system


def ends_at_once(tmp_path: Path) -> str:
    """Return a checkpoint to which every token is an end."""
    folder = Path(shutil.copytree(tiny_causal(), tmp_path / "silent"))
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    ends = {"eos_token_id": list(range(size))}
    (folder / "generation_config.json").write_text(json.dumps(ends))
    return str(folder)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("dots", "3 of 3 replies: the reply is only punctuation"),
        ("constant", "3 of 3 replies: the reply is the same every time"),
        ("is cut", "3 of 3 replies: the model reached its limit of tokens"),
        ("refuses", "answered with status 400: no field seed"),
        ("empty", "the bot said nothing"),
    ],
)
def test_a_broken_model_fails_with_its_fault(fake: Fake, model: str, reason: str) -> None:
    system = rehearsed("chat_server", url=fake.url, model=model)
    assert system.rehearsal == System.Rehearsal.FAILED
    assert reason in system.rehearsal_note
    ready = {one.name: one.ok for one in checklist.checklist(system.campaign, NOW)}
    assert not ready["Rehearsal"]


def test_an_empty_function_and_a_checkpoint_that_ends_at_once_fail(
    fake: Fake, tmp_path: Path
) -> None:
    silent = rehearsed("callable", function="tests.bots.functions.nothing")
    checkpoint = rehearsed("checkpoint", checkpoint=ends_at_once(tmp_path))
    for system in (silent, checkpoint):
        assert system.rehearsal == System.Rehearsal.FAILED
        assert system.rehearsal_note.startswith("the bot said nothing")


def test_a_sound_model_passes_after_three_replies(fake: Fake) -> None:
    system = rehearsed("chat_server", url=fake.url, model="good")
    assert system.rehearsal == System.Rehearsal.PASSED
    assert len(fake.asked) == rehearsal.REPLIES
    assert [len(asked["messages"]) for asked in fake.asked] == [2, 4, 6]


def test_a_page_has_what_was_heard_answered_and_wrong_in_the_latest_rehearsal(fake: Fake) -> None:
    system = rehearsed("chat_server", url=fake.url, model="is cut")
    rehearsal.test_chat(system=system, by="ann", now=NOW)  # is none
    cut = rehearsed_turns(system)
    assert [turn.heard for turn in cut] == list(rehearsal.MESSAGES)
    assert all(turn.answered for turn in cut)
    assert {turn.fault for turn in cut} == {"the model reached its limit of tokens"}
    system.options |= {"model": "empty"}
    system.save()
    rehearsal.start(system=system, by="ann", now=NOW)
    for _ in range(8):
        ReplyJob.objects.update(lease_until=None)
        serving.serve(bot="chat_server", owner="test", respond=inference.respond_here)
    empty = rehearsed_turns(system)
    assert [turn.heard for turn in empty] == [rehearsal.MESSAGES[0], *[""] * (len(empty) - 1)]
    assert {turn.answered for turn in empty} == {""}
    assert all(turn.fault.startswith("the bot said nothing") for turn in empty)
    assert rehearsed_turns(rehearsed("generic"))[0].fault == ""
    system.rehearsal = System.Rehearsal.UNTESTED  # as a change of its options leaves it
    system.save()
    assert rehearsed_page.turns(system.campaign) == {}
    refused = rehearsed("chat_server", url=fake.url, model="refuses")
    assert "status 400: no field seed" in rehearsed_turns(refused)[0].fault


def rehearsed_turns(system: System) -> Sequence[rehearsed_page.RehearsedTurn]:
    return rehearsed_page.turns(system.campaign)[system.pk]


def test_the_bots_of_the_first_study_pass() -> None:
    guide = (Path(settings.BASE_DIR) / "docs" / "first_study.md").read_text()
    steps = guide.partition("## What is compared")[2].partition("\n## ")[0]
    named = [name for name in re.findall(r"`(\w+)`", steps) if name in bot_names()]
    assert named == ["parrot", "generic"]
    for name in named:
        assert rehearsed(name).rehearsal == System.Rehearsal.PASSED, name


@pytest.mark.parametrize(("percent", "passed"), [(99, "FAILED"), (100, "PASSED")])
def test_the_campaign_says_how_much_trouble_may_be(fake: Fake, percent: int, passed: str) -> None:
    assert rehearsed("toy_f1", percent=percent).rehearsal == passed


@pytest.mark.parametrize(
    ("protocol", "roles"),
    [
        ("meena_interactive", ["system", "assistant", "user"]),  # it opens in the protocol's words
        ("nine_questions", ["system", "user"]),  # it opens in its own: the line that asks for it
        ("personachat_bot", ["system", "user"]),
    ],
)
def test_the_bot_opens_where_its_protocol_lets_it(
    fake: Fake, protocol: str, roles: list[str]
) -> None:
    system = rehearsed("chat_server", protocol, url=fake.url, model="good")
    assert system.rehearsal == System.Rehearsal.PASSED
    assert [one["role"] for one in fake.asked[0]["messages"]] == roles
    first = Conversation.objects.get(system=system).events.earliest("seq")
    assert first.side == (0 if protocol == "personachat_bot" else 1)


@pytest.mark.parametrize(
    ("answered", "waited", "failed"), [(0, 61, 0), (0, 299, 0), (0, 301, 1), (1, 59, 0), (1, 61, 1)]
)
def test_only_the_first_reply_may_wait_for_its_model_to_load(
    answered: int, waited: int, failed: int
) -> None:
    campaign = make_campaign(systems={"one": "generic"}, reply_seconds=60)
    rehearsal.start(system=campaign.systems.get(), by="ann", now=NOW)
    for _ in range(answered):
        serving.serve(bot="generic", owner="test", respond=inference.respond_here)
    owed = ReplyJob.objects.filter(state=ReplyJob.State.QUEUED)
    assert owed.update(queued_at=Now() - timedelta(seconds=waited)) == 1
    assert delivery.sweep() == failed
    assert ReplyJob.objects.filter(state=ReplyJob.State.FAILED).count() == failed
