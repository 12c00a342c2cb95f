"""The reply is what the model wrote: raw, shown and counted, from a real server to the export."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis import read
from analysis.conversations import reply_events
from bots import SeededHistory, Utterance, make_bot
from bots.bot import Bot
from tests import serving
from tests.bots.chat_completions import Fake, running
from tests.factories import NOW, make_campaign, make_participation
from webapp import inference
from webapp.models import Campaign, Conversation, Event, ReplyCall, ReplyJob, Seat
from webapp.services.data import exports, study_record, tables
from webapp.services.monitoring import monitor
from webapp.services.participation import privacy
from webapp.services.replies import queue
from webapp.services.replies.batches import Limit

pytestmark = pytest.mark.django_db
REPLIES = 1000
LONGEST = 4000  # characters that a page shows of one message
WAR = "The war ended in 1945; the Nazis lost it."


def _code(draw: random.Random) -> str:
    return f"```python\nx = [i for i in range({draw.randrange(99)})]\n\tprint(x)\n```"


def _list(draw: random.Random) -> str:
    return "\n".join(f"{number}. item {draw.random()}" for number in range(1, 6)) + "\n"


def _odd(draw: random.Random) -> str:
    return f"a\0b{draw.randrange(99)}\ud800c \u2028 \r\n\t d"


MAKERS = (
    _code,
    _list,
    lambda draw: f"jag är {draw.randrange(99)} år, i Sverige i dag\n\nHej då  ",
    lambda draw: f"See https://example.org/{draw.randrange(99)}?a=b or call +1 555 123 4567",
    lambda draw: f"{WAR} {draw.randrange(99)}",
    lambda draw: "👩‍👩‍👧‍👦👋🏽" * draw.randrange(1, 9),
    lambda draw: "wörd " * draw.choice([1_000, 1_000, 1_000, 20_000]),
    lambda draw: draw.choice(["", " ", "\n\n"]),
    lambda draw: f"<think>secret {draw.randrange(99)}</think>\n\nHello there.",
    _odd,
    lambda draw: f"one. two, and th{draw.randrange(99)}",  # cut
    lambda draw: f'  مرحبا i said "i" \' , . {draw.randrange(99)}',
)
LONG, EMPTY, THINKS, ODD, CUT = 6, 7, 8, 9, 10


def _script() -> list[str]:
    draw = random.Random(3)
    return [MAKERS[number % len(MAKERS)](draw) for number in range(REPLIES)]


def _sent(number: int, text: str) -> dict[str, Any]:
    finish = "length" if number % len(MAKERS) == CUT else "stop"
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": number, "completion_tokens": 2}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        yield fake


def _campaign(fake: Fake, model: str, **options: object) -> Campaign:
    campaign = make_campaign(systems={"llm": "chat_server"}, changes={"chat.pace": 0.0})
    campaign.systems.update(options={"url": fake.url, "model": model, **options})
    return campaign


def _wait(campaign: Campaign, texts: list[str]) -> None:
    """Open a conversation for each text, which a person wrote."""
    system = campaign.systems.get()
    made = [
        Conversation(campaign=campaign, system=system, seed=number, started_at=NOW, last_seq=1)
        for number in range(len(texts))
    ]
    conversations = Conversation.objects.bulk_create(made)
    Seat.objects.bulk_create(
        Seat(conversation=one, side=1, sees_persona=False) for one in conversations
    )
    Event.objects.bulk_create(
        Event(conversation=one, seq=1, kind="message", side=0, content={"text": text})
        for one, text in zip(conversations, texts, strict=True)
    )
    queue.queue_all([(one, 1) for one in conversations])


def _serve(batches: int = 1) -> None:
    """Answer batches of fifty, those that wait for the first time before what was put back."""
    for _ in range(batches):
        limit = Limit(most=50)
        serving.serve(bot="chat_server", owner="test", respond=inference.respond_here, limit=limit)


def _export(campaign: Campaign, folder: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(exports.write_to(campaign=campaign, path=folder / "export.zip"))


def _shown(number: int, text: str) -> str:
    if number % len(MAKERS) == THINKS:
        return "Hello there."
    return text.replace("\0", "").replace("\ud800", "")[:LONGEST] if text.strip() else ""


def test_a_thousand_replies_arrive_as_they_were_sent(fake: Fake, tmp_path: Path) -> None:
    texts = _script()
    fake.script = [_sent(*pair) for pair in enumerate(texts)]
    campaign = _campaign(fake, "scripted", seconds=300.0)  # however busy the machine is
    _wait(campaign, [str(number) for number in range(REPLIES)])
    _serve(REPLIES // 50)
    archive = _export(campaign, tmp_path)
    records = [json.loads(line) for line in archive.read("conversations.jsonl").splitlines()]
    assert len(records) == REPLIES
    requests = {asked["messages"][-1]["content"]: asked for asked in fake.asked}
    for number, (record, text) in enumerate(zip(records, texts, strict=True)):
        (reply,) = record["replies"]
        call = reply["calls"][0]
        assert call["raw"] == text
        assert call["prompt"] == {
            name: value for name, value in requests[str(number)].items() if name != "path"
        } | {"seed": call["seed"]}
        said = [event["content"]["text"] for event in record["events"] if event["side"] == 1]
        assert said == ([_shown(number, text)] if text.strip() else [])
        assert (call["shown"] or None) == (said[0] if said else None)
        assert "secret" not in json.dumps(record["events"])
        assert call["prompt_tokens"] == number
    assert len({record["replies"][0]["calls"][0]["seed"] for record in records}) == REPLIES
    csv.field_size_limit(10**6)
    rows = list(csv.DictReader(io.StringIO(archive.read("replies.csv").decode(), newline="")))
    assert [json.loads(row["raw"]) for row in rows if row["number"] == "1"] == texts
    _check_counts(campaign, archive, Counter(number % len(MAKERS) for number in range(REPLIES)))
    _check_report(campaign, tmp_path / "export.zip")


def _check_report(campaign: Campaign, path: Path) -> None:
    """The summary of the page and that of the export print the counts of the live page."""
    (counts,) = monitor.live(campaign, NOW).replies
    told = f"{counts.troubled} of {REPLIES} calls of systems met trouble, most with llm: "
    here = study_record.study(campaign, tables.ratings(campaign, include_excluded=True))
    for study in (read(path).study, here):
        (section,) = reply_events.sections(study)
        assert section.title == f"{told}{counts.troubled} of {REPLIES}"
        (row,) = section.frame.to_dict("records")
        assert {name: row[name] for name in ("failed", "empty", "cut", "long", "reasoned")} == {
            "failed": counts.failed,
            **{name: counts.events[name] for name in ("empty", "cut", "long", "reasoned")},
        }


def _check_counts(campaign: Campaign, archive: zipfile.ZipFile, made: Counter[int]) -> None:
    """The live page and the zip count the same; an empty reply is asked for until it is due."""
    empties = made[EMPTY]
    (counts,) = monitor.live(campaign, NOW).replies
    assert (counts.calls, counts.failed, counts.shown) == (REPLIES, empties, REPLIES - empties)
    wanted = {"empty": empties, "cut": made[CUT], "reasoned": made[THINKS], "long": made[LONG]}
    wanted |= {"unprintable": made[ODD], "filtered": 0, "canned": 0, "altered": 0}
    assert {name: counts.events[name] for name in wanted} == wanted
    (row,) = csv.DictReader(io.StringIO(archive.read("reply_events.csv").decode(), newline=""))
    assert {name: int(row[name]) for name in wanted} == wanted
    assert int(row["troubled"]) == counts.troubled == empties + made[CUT] + made[LONG]
    alarms = {alarm.name for alarm in monitor.live(campaign, NOW).alarms}
    assert "troubled" in alarms


@pytest.mark.parametrize(("safety", "shown"), [("off", True), ("flag", True), ("stop", False)])
def test_a_filter_is_an_option_and_never_replaces(fake: Fake, safety: str, shown: bool) -> None:
    fake.script = [_sent(0, WAR)]
    campaign = _campaign(fake, "scripted", safety=safety)
    _wait(campaign, ["0"])
    _serve()
    said = [event.content["text"] for event in Event.objects.filter(side=1)]
    assert said == ([WAR] if shown else [])
    call = ReplyCall.objects.get()
    assert json.loads(call.raw) == WAR
    events = {"off": [], "flag": ["flagged"], "stop": ["filtered"]}
    assert call.events.split() == events[safety]


def test_every_attempt_is_kept_with_a_seed_of_its_own(fake: Fake) -> None:
    campaign = _campaign(fake, "empty")
    _wait(campaign, ["Hi"])
    for _ in range(3):
        ReplyJob.objects.update(lease_until=None)
        _serve()
    assert ReplyJob.objects.get().state == ReplyJob.State.FAILED
    rows = list(ReplyCall.objects.order_by("number"))
    assert [(row.number, row.attempt, row.outcome) for row in rows] == [
        (number, number, "FAILED") for number in (1, 2, 3)
    ]
    assert len({row.seed for row in rows}) == 3
    assert [asked["seed"] for asked in fake.asked] == [row.seed for row in rows]
    assert rows[0].error.startswith("the bot said nothing")
    assert campaign.systems.get().name == monitor.live(campaign, NOW).replies[0].system


def test_a_conversation_is_replayed_from_its_export(fake: Fake, tmp_path: Path) -> None:
    """A bot that draws gives the same bytes to the persona, messages and seed that are exported."""
    campaign = make_campaign(systems={"drawer": "callable"}, changes={"chat.pace": 0.0})
    campaign.systems.update(options={"function": "tests.bots.functions.drawn"})
    system = campaign.systems.get()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOT_CALLABLES", "tests.bots.functions.*")
        _wait(campaign, ["Hi"] * 20)
        serving.serve(bot=system.bot, owner="test", respond=inference.respond_here)
        lines = _export(campaign, tmp_path).read("conversations.jsonl").splitlines()
        records = [json.loads(line) for line in lines]
        calls = [record["replies"][0]["calls"][0] for record in records]
        assert len({call["raw"] for call in calls}) == 20
        bot = make_bot(system.bot, **calls[7]["parameters"])
        assert isinstance(bot, Bot)
        before = [Utterance("partner", records[7]["events"][0]["content"]["text"])]
        again = bot.respond((), SeededHistory(before, calls[7]["seed"]))
        assert again.text == calls[7]["raw"]


def test_a_withdrawal_blanks_the_prompt_and_what_was_written(fake: Fake) -> None:
    campaign = _campaign(fake, "good")
    _wait(campaign, ["My name is Zelda."])
    person = make_participation(campaign)
    Seat.objects.create(
        conversation=Conversation.objects.get(), side=0, participation=person, active=False
    )
    _serve()
    assert "Zelda" in ReplyCall.objects.get().prompt
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    row = ReplyCall.objects.get()
    assert (row.raw, row.prompt, row.reasoning, row.error) == ('""', "null", '""', "")
