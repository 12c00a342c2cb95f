"""The chat service's door: from /start to the export, each update once, forged ones refused.

Long because all of it is one conversation with one fake service: what is told, asked and refused.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation import Choice, ChoiceOption, FreeText
from evaluation.registry import get_protocol
from tests.factories import make_campaign
from tests.serving import serve
from tests.webapp.services.chat_service_fake import FakeService, serving
from tests.webapp.services.judged import exported
from tests.webapp.services.people import bot_says, conversation_of
from webapp import chat_service
from webapp.inference import respond_here
from webapp.models import (
    Assignment,
    Campaign,
    CompletionCode,
    Event,
    ExternalId,
    Participation,
    ProblemReport,
    Rating,
    ServiceCall,
    ServiceSeat,
    ServiceUpdate,
)
from webapp.services.chat_service import incoming, offering, outgoing, telling
from webapp.services.conversation.messages import FRAMES, MESSAGES
from webapp.services.ops import sweeper
from webapp.services.participation import study_info
from webapp.services.rating import form

pytestmark = pytest.mark.django_db
MOOD = Choice.sample()
TOKEN, SECRET, ANN = "123:token-of-the-test", "secret-of-the-test", 77
ADDRESS = "/chat-service/updates"
HEADER = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


class Volunteer:
    """One person at the chat service, with the server's webhook and its loop."""

    def __init__(self, service: FakeService, number: int = ANN) -> None:
        self.service, self.number, self.client = service, number, Client()

    def post(self, update: Any) -> int:
        body = update if isinstance(update, str) else json.dumps(update)
        answer = self.client.post(ADDRESS, body, content_type="application/json", headers=HEADER)
        return answer.status_code

    def writes(self, text: str) -> None:
        assert self.post(self.service.writes(self.number, text)) == 200
        self.wait()

    def presses(self, words: str) -> None:
        data = self.service.buttons(self.number)[words]
        assert self.post(self.service.presses(self.number, data)) == 200
        self.wait()

    def wait(self) -> None:
        """Let the bot answer, and the loop tell and send what there is."""
        serve(bot="parrot", owner="w", respond=respond_here)
        chat_service.turn(timezone.now())

    @property
    def texts(self) -> list[str]:
        return self.service.texts(self.number)

    def begins(self, campaign: Campaign) -> None:
        self.writes(f"/start {campaign.slug}")
        self.presses("I agree and begin")


@pytest.fixture
def service(settings: LazySettings) -> Iterator[FakeService]:
    with serving(TOKEN) as fake:
        settings.CHAT_SERVICE_URL = fake.address
        settings.CHAT_SERVICE_TOKEN, settings.CHAT_SERVICE_SECRET = TOKEN, SECRET
        yield fake


@pytest.fixture
def ann(service: FakeService) -> Volunteer:
    return Volunteer(service)


def wild(**changes: Any) -> Campaign:
    return make_campaign("convai2_wild", pay="0", waiting_pay="0", **changes)


def waiting_texts() -> str:
    return " ".join(str(call.content) for call in ServiceCall.objects.all())


def drafted() -> dict[str, str]:
    return {name: text for one in Assignment.objects.all() for name, text in one.draft.items()}


def said(side: int) -> list[str]:
    found = Event.objects.filter(kind="message", side=side).order_by("seq")
    return [event.content["text"] for event in found]


def test_a_conversation_goes_from_start_to_its_rating_and_the_export(
    ann: Volunteer, tmp_path: Path
) -> None:
    campaign = wild()
    ann.writes(f"/start {campaign.slug}")
    assert "You will chat and rate." in ann.texts[0]
    assert not Participation.objects.exists(), "nobody takes part before they agree"
    ann.presses("I agree and begin")
    assert "I own boat number" in ann.texts[1]
    assert "computer program" in ann.texts[1]
    assert len(ann.texts) == 2
    ann.writes("Hello there!")
    assert said(0) == ["Hello there!"]
    assert ann.texts[-1] == said(1)[0]
    ann.presses("Good")
    ann.writes("/start")
    assert "Your conversation goes on" in ann.texts[-1]
    ann.writes("And you?")
    ann.writes("/end")
    assert "Score the conversation from 1 to 5." in ann.texts[-1]
    ann.presses("4")
    assert "Which of these two characters" in ann.texts[-1]
    assert ann.texts[-1].count("I own boat number") == 10, "two characters of five sentences"
    ann.presses("1")
    assert "You are done\n\nThank you! You have finished.\n" in ann.texts[-1]
    rows = exported(campaign, tmp_path)
    found = dict(zip(rows["question"], rows["value"].astype(float), strict=True))
    assert set(found) == {"good", "score", "persona"}
    assert (found["good"], found["score"]) == (1, 4)
    assert not ServiceCall.objects.exists()


def test_all_that_a_page_tells_before_consent_is_told(ann: Volunteer) -> None:
    """The pay, the time, what stopping pays, and how long words and ids are kept (S11, S14)."""
    campaign = make_campaign(
        "convai2_crowd",
        pay="2",
        minutes=10,
        changes={"chat.conversations": 3},
        keep_days=90,
        consent="# Terms\n\nYou *may*\nleave.\n\n- words\n- times\n\n1. read\n2. agree",
    )
    ann.writes(f"/start {campaign.slug}")
    told = ann.texts[-1]
    assert told.startswith("Terms\n\nYou may leave.\n\n• words\n• times\n\n1. read\n2. agree\n\n")
    study = study_info.of(campaign)
    assert study.partner_notice in told
    assert "About 10 min per conversation. You may have up to 3 conversations" in told
    assert "Pay 2.00 USD each. That is 12.00 USD per hour." in told
    assert study.stopping in told
    assert "is deleted 90 days after" in study.keeping
    assert study.keeping in told
    assert "/stop" in told
    assert "/delete" in told
    assert study.contact in told


def test_who_takes_part_without_pay_reads_of_none(ann: Volunteer) -> None:
    ann.begins(wild())
    assert "volunteer" in ann.texts[0]
    ann.writes("Hello")
    ann.writes("/stop")
    assert ann.texts[-1] == "Stop now?\n\nYou end the study here."
    ann.presses("Yes, stop here")
    assert "Thank you for what you did" in ann.texts[-1]
    assert not any("USD" in text for text in ann.texts)


def paid_by_stopping(person: Volunteer) -> Decimal:
    found = re.search(r"You end the study here and are paid (\d\.\d\d) USD\.", person.texts[-1])
    assert found, person.texts[-1]
    return Decimal(found[1])


def test_stop_says_first_what_it_pays_and_stops_by_its_button_only(ann: Volunteer) -> None:
    """S13: a command that was sent by mistake costs nothing."""
    ann.begins(make_campaign("convai2_wild", pay="2", least_work=1, changes={"chat.minimum": [6]}))
    ann.writes("Hello there")
    ann.writes("/stop")
    first = paid_by_stopping(ann)
    ann.writes("I stay for now")
    assert said(0)[-1] == "I stay for now"
    ann.writes("/stop")
    assert paid_by_stopping(ann) > first > 0
    ann.presses("Yes, stop here")
    assert "You stopped" in ann.texts[-1]
    assert CompletionCode.objects.get().amount > first


@pytest.mark.parametrize("written", ["/problem It is rude.", "/problem\nIt is rude.\n"])
def test_a_problem_is_reported_at_any_step_and_moves_nothing(ann: Volunteer, written: str) -> None:
    ann.writes(written)
    assert not ProblemReport.objects.exists(), "nobody has begun"
    ann.begins(wild())
    assert "/problem" in ann.texts[-1]
    ann.writes("/problem")
    assert ann.texts[-1] == "Please write what happened."
    before = said(0)
    ann.writes(written)
    assert ann.texts[-1] == "Thank you. The people who run this study have your report."
    report = ProblemReport.objects.get()
    assert (report.text, report.step) == ("It is rude.", "CHATTING")
    assert said(0) == before, "the bot reads nothing of it"
    ann.writes("Hello")
    assert said(0)[-1] == "Hello"


@pytest.mark.parametrize("command", ["/stop", "/delete"])
def test_a_button_of_one_study_neither_stops_nor_deletes_another(
    ann: Volunteer, command: str
) -> None:
    """S13, S14: it is pressed late, when somebody already takes part in the next one."""
    ann.begins(wild())
    ann.writes("Hello")
    ann.writes(command)
    late = next(iter(ann.service.buttons(ANN).values()))
    ann.begins(wild())
    ann.writes("Hello to you")
    assert ann.post(ann.service.presses(ANN, late)) == 200
    ann.wait()
    people = Participation.objects.order_by("pk")
    assert [each.state for each in people] == ["CHATTING", "CHATTING"]
    assert not any(each.withdrawn_at for each in people)


@pytest.mark.parametrize(
    ("written", "value"),
    [("4", 4), (" 5 ", 5), ("BEST", 5), ("5: best", 5), ("6", None), ("be", None), ("", None)],
)
def test_a_button_s_words_can_be_written(ann: Volunteer, written: str, value: int | None) -> None:
    ann.begins(wild())
    ann.writes("Hello")
    ann.writes("And you?")
    ann.writes("/end")
    ann.writes(written)
    assert drafted() == ({} if value is None else {"p.score": str(value)})
    assert any("press one of the buttons" in text for text in ann.texts) == (value is None)


def test_an_answer_out_of_limits_is_refused_at_once_and_kept_whole_within_them(
    ann: Volunteer,
) -> None:
    ann.begins(make_campaign("convai2_crowd_reasons", changes={"chat.minimum": [2]}))
    ann.writes("Hello my old friend")
    bot_says(conversation_of(Participation.objects.get()), "It is you again")
    ann.writes("/end")
    ann.writes("5")
    assert "Length: " in ann.texts[-1]
    for length, is_kept in ((1_001, False), (1_000, True)):
        ann.writes("x" * length)
        assert drafted().get("p.fluency_reason", "") == ("x" * length if is_kept else "")
        assert ("Write at most 1000 characters; this has 1001." in ann.texts[-1]) != is_kept


def test_what_is_long_stands_above_its_number_and_a_text_may_be_skipped(ann: Volunteer) -> None:
    ann.begins(wild())
    ann.writes("Hello")
    ann.writes("And you?")
    ann.writes("/end")
    shown = form.of(Participation.objects.get())
    assert shown is not None
    found = [(each.value, each.words, each.about) for each in telling.answers(shown, MOOD)]
    assert found == [
        ("sad", "1", "1: Sad: Something is missed."),
        ("glad", "2", "2: Glad"),
        ("neither", "3", "3: Neither"),
    ]
    assert [telling.chosen(shown, MOOD, text) for text in ("2", "3", "4")] == [
        "glad",
        "neither",
        None,
    ]
    needed = FreeText.sample()
    assert telling.answers(shown, needed) == []
    [skip] = telling.answers(shown, replace(needed, required=False))
    assert (skip.value, skip.words) == ("", "Skip")


def test_what_belongs_to_another_step_is_refused_and_the_step_is_said_again(
    ann: Volunteer,
) -> None:
    ann.begins(wild())
    ann.writes("Hello")
    ann.writes("And you?")
    ann.writes("/end")
    ann.writes("/end")
    assert sum("cannot be done at this step" in text for text in ann.texts) == 1
    assert sum("Score the conversation" in text for text in ann.texts) == 2
    assert not any("page" in text for text in ann.texts[1:])


def test_an_update_that_comes_again_does_nothing_again(ann: Volunteer) -> None:
    """R4: one message, one reply, whatever the service repeats."""
    ann.begins(wild())
    update = ann.service.writes(ANN, "Hello")
    for _ in range(3):
        assert ann.post(update) == 200
    ann.wait()
    ann.post(update)
    assert (said(0), len(said(1))) == (["Hello"], 1)


def test_who_lacks_the_secret_is_refused_and_nothing_is_stored(ann: Volunteer) -> None:
    """S5: forged, missing, nearly right."""
    update = json.dumps(ann.service.writes(ANN, "/start x"))
    wrong = [{}, {next(iter(HEADER)): ""}, {next(iter(HEADER)): SECRET[:-1]}]
    for headers in (*wrong, {next(iter(HEADER)): f"{SECRET}x"}, {next(iter(HEADER)): "geheim-ä"}):
        answer = Client().post(ADDRESS, update, content_type="application/json", headers=headers)
        assert answer.status_code == 403
    assert not ServiceUpdate.objects.exists()


def test_without_a_token_there_is_no_such_page(ann: Volunteer, settings: LazySettings) -> None:
    settings.CHAT_SERVICE_TOKEN = ""
    assert ann.post(ann.service.writes(ANN, "/start x")) == 404
    with pytest.raises(CommandError, match="CHAT_SERVICE_TOKEN is not set"):
        call_command("chat_service")


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '{"update_id": -1}', '{"update_id": "1"}', '{"update_id": 1, "update_id": 2}'],
)
def test_what_is_no_update_is_refused(ann: Volunteer, body: str) -> None:
    """R24."""
    assert ann.post(body) == 400
    assert not ServiceUpdate.objects.exists()


def test_other_kinds_of_updates_groups_and_bots_are_left_alone(ann: Volunteer) -> None:
    group, bot, picture = (ann.service.writes(ANN, "/start") for _ in range(3))
    group["message"]["chat"] = {"id": -5, "type": "group"}
    bot["message"]["from"]["is_bot"] = True
    del picture["message"]["from"]
    for update in (group, bot, picture, {"update_id": 1, "edited_message": {}}):
        assert ann.post(update) == 200
    assert not ServiceUpdate.objects.exists()


def test_what_could_not_be_sent_is_sent_later_in_order(ann: Volunteer) -> None:
    ann.begins(wild())
    before = len(ann.texts)
    ann.service.failures += [(500, {}), (429, {"parameters": {"retry_after": 7}})]
    ann.writes("One")
    ann.writes("Two")
    waiting = ServiceCall.objects.get(attempt=1)
    now = waiting.due_at
    assert ann.texts[before:] == []
    chat_service.turn(now)
    waiting.refresh_from_db()
    assert waiting.due_at == now + timedelta(seconds=7), "as long as the service asks"
    chat_service.turn(waiting.due_at - timedelta(milliseconds=1))
    assert ann.texts[before:] == []
    chat_service.turn(waiting.due_at)
    assert ann.texts[before:] == said(1)


def test_who_has_blocked_the_bot_holds_nobody_up(ann: Volunteer) -> None:
    ann.begins(wild())
    ann.service.failures.append((403, {"description": "Forbidden: bot was blocked by the user"}))
    ann.writes("One")
    failed = ServiceCall.objects.get()
    assert (failed.error, failed.content, failed.recipient) == ("status 403", {}, "")
    ann.writes("Two")
    assert ann.texts[-1] == said(1)[-1]


def test_the_thirty_first_message_of_a_minute_is_refused_once_in_words(ann: Volunteer) -> None:
    """S2: the limit of the socket."""
    assert (FRAMES, MESSAGES) == (120, 30)
    ann.begins(wild())
    for number in range(MESSAGES - 2):  # the two before were /start and, by a button, consent
        ann.post(ann.service.writes(ANN, f"Number {number}"))
    assert len(said(0)) == MESSAGES - 2
    for number in range(3):
        ann.post(ann.service.writes(ANN, f"More {number}"))
    ann.wait()
    assert len(said(0)) == MESSAGES - 1
    assert sum("very fast" in text for text in ann.texts) == 1
    ServiceUpdate.objects.update(taken_at=timezone.now() - timedelta(minutes=1))
    ann.writes("Slowly")
    assert said(0)[-1] == "Slowly"


def test_ten_minutes_of_silence_end_the_conversation_and_the_person_is_asked(
    ann: Volunteer,
) -> None:
    ann.begins(wild())
    ann.writes("Hello")
    sweeper.tick(timezone.now() + timedelta(seconds=601))
    ann.wait()
    assert "Nobody wrote for a while" in ann.texts[-1]
    assert "Score the conversation" in ann.texts[-1]
    ann.writes("a four")
    assert "press one of the buttons" in "".join(ann.texts[-2:])
    assert not Rating.objects.exists()


def test_a_button_of_another_form_and_made_up_data_are_refused(ann: Volunteer) -> None:
    ann.begins(wild())
    ann.writes("Hello")
    for data in (
        "r:p.score:4",
        "r:p.score:",
        "l:x:good:1",
        "l:99:good:1",
        "l:1:good:1",
        "z",
        "",
        "s",
        "e",
        "d",
        "e:",
    ):
        ann.post(ann.service.presses(ANN, data))
    ann.wait()
    assert not Rating.objects.exists()
    assert Participation.objects.get().state == "CHATTING"


def test_stop_and_delete_end_and_delete(ann: Volunteer) -> None:
    """S13, S14: what waits to be sent is deleted as well."""
    ann.begins(wild())
    ann.writes("My canary is yellow")
    ann.writes("/delete")
    ann.service.failures.append((500, {}))
    ann.post(ann.service.writes(ANN, "My canary sings"))
    ann.wait()
    assert "canary" in waiting_texts()
    ann.presses("Delete it")
    assert Participation.objects.get().withdrawn_at
    assert not ExternalId.objects.exists()
    assert "canary" not in waiting_texts()
    assert not any("canary" in str(event.content) for event in Event.objects.all())
    ann.writes("Anybody?")
    assert "link is wrong" in ann.texts[-1]


@pytest.mark.parametrize(
    ("protocol", "changes"),
    [
        ("personachat_human", {"systems": {"humans": "people"}}),
        ("meena_static", {}),
        ("meena_interactive", {}),
    ],
)
def test_a_study_that_needs_a_page_says_so(
    ann: Volunteer, protocol: str, changes: dict[str, Any]
) -> None:
    ann.writes(f"/start {make_campaign(protocol, **changes).slug}")
    assert "in a browser" in ann.texts[-1]


@pytest.mark.parametrize(("length", "is_fit"), [(6, True), (7, False)])
def test_labels_whose_data_no_button_can_hold_are_refused(length: int, is_fit: bool) -> None:
    """64 bytes: `l:1000000:`, the name of 40, and the value (two of each letter)."""
    found = get_protocol("convai2_wild")
    assert found.live is not None
    label = Choice.sample()
    values = tuple(ChoiceOption(value=value, word="Word") for value in ("ä" * length, "b"))
    label = replace(label, name="n" * 40, options=values)
    steps = (
        replace(found.live, each=(label,)) if one is found.live else one for one in found.steps
    )
    long = replace(found, steps=tuple(steps))
    assert list(offering._reasons(long)) == (
        [] if is_fit else ["a label's name or value is too long for a button"]
    )


def test_the_page_of_a_campaign_says_how_people_come_or_why_not(
    service: FakeService, staff: Client
) -> None:
    fit, unfit = wild(), make_campaign("meena_interactive")
    for address in ("campaign", "live"):
        page = staff.get(reverse(address, args=[fit.pk])).content.decode()
        assert f"<code>/start {fit.slug}</code>" in page
        page = staff.get(reverse(address, args=[unfit.pk])).content.decode()
        assert "every message has to be labeled" in page
        assert "/start" not in page


@pytest.mark.parametrize("text", ["/start", "/start nothing", "Hello?", "/end"])
def test_who_takes_part_in_nothing_is_told_where_to_look(ann: Volunteer, text: str) -> None:
    ann.writes(text)
    assert "link is wrong" in ann.texts[-1]


def test_a_paused_study_takes_nobody(ann: Volunteer) -> None:
    campaign = wild()
    ann.writes(f"/start {campaign.slug}")
    Campaign.objects.update(state=Campaign.State.PAUSED)
    ann.post(ann.service.presses(ANN, ann.service.buttons(ANN)["I agree and begin"]))
    ann.writes(f"/start {campaign.slug}")
    assert "paused" in ann.texts[-1]
    assert not ServiceSeat.objects.exists()


def test_no_log_names_a_secret(
    ann: Volunteer, caplog: pytest.LogCaptureFixture, settings: LazySettings
) -> None:
    caplog.set_level(logging.INFO)
    ann.service.failures.append((403, {"description": TOKEN}))
    ann.begins(wild()) if ann.service.failures == [] else ann.writes("/start nothing")
    settings.CHAT_SERVICE_URL = "http://127.0.0.1:9"
    ann.writes("Hello")
    assert ServiceCall.objects.filter(error="ConnectError").exists()
    logged = " ".join(record.getMessage() for record in caplog.records)
    assert TOKEN not in logged
    assert SECRET not in logged


def test_updates_are_registered_with_the_secret(service: FakeService) -> None:
    call_command("chat_service", "--register", "https://study.example.org/")
    method, content = service.calls[-1]
    assert (method, content["secret_token"]) == ("setWebhook", SECRET)
    assert content["url"] == f"https://study.example.org{ADDRESS}"


@pytest.mark.parametrize(
    ("secret", "starts"),
    [("", False), ("x" * 15, False), ("x" * 16, True), ("x" * 256, True), ("x" * 257, False)],
)
def test_no_server_starts_with_a_token_and_without_a_secret(
    settings: LazySettings, secret: str, starts: bool
) -> None:
    settings.DEBUG = True  # whose key is not looked at
    settings.CHAT_SERVICE_TOKEN, settings.CHAT_SERVICE_SECRET = TOKEN, secret
    refused = pytest.raises(ImproperlyConfigured, match="16 to 256")
    with contextlib.nullcontext() if starts else refused:
        apps.get_app_config("webapp").ready()


def test_numbers_of_updates_are_forgotten_after_two_days(ann: Volunteer) -> None:
    ann.writes("/start")
    now = timezone.now()
    assert incoming.forget_old(now=now + timedelta(days=1)) == 0
    assert incoming.forget_old(now=now + timedelta(days=3)) == 1


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("a" * 4096, [4096]),
        ("a" * 4097, [4096, 1]),
        ("\N{ROCKET}" * 2048, [4096]),
        ("\N{ROCKET}" * 2049, [4096, 2]),
    ],
)
def test_a_long_text_is_sent_in_pieces_that_the_service_takes(
    text: str, lengths: list[int]
) -> None:
    """It counts UTF-16 units, of which an emoji has two."""
    outgoing.queue_message("7", text, timezone.now(), [("Begin", "s")])
    sent = [call.content for call in ServiceCall.objects.order_by("pk")]
    assert [len(each["text"].encode("utf-16-le")) // 2 for each in sent] == lengths
    assert "".join(each["text"] for each in sent) == text
    assert ["reply_markup" in each for each in sent] == [False] * (len(sent) - 1) + [True]
