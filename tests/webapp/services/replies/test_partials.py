"""Where replies are shown as they grow, how often, and what may refuse it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.conf import LazySettings

from bots import Reply, Turn
from bots.guards.growing import Growing, Paced
from evaluation import InvalidSetting
from evaluation.checks import MaxWords
from evaluation.registry import get_protocol, protocol_names
from evaluation.soundness import complaints
from tests.factories import NOW, make_campaign, make_participation, make_system
from webapp import realtime
from webapp.forms.system_form import SystemForm
from webapp.inference import Answers
from webapp.models import PEOPLE, Campaign, Conversation, ReplyJob
from webapp.services.campaign import checklist, systems
from webapp.services.conversation import opening
from webapp.services.replies import partials, worker

STREAM = {"stream": True, "reasoning_begins": "", "reasoning_ends": ""}
GROWING = {"chat.pace": 0.0, "chat.streams": True}


def campaign_of(options: dict[str, Any], **changes: Any) -> Campaign:
    campaign = make_campaign(systems={"llm": "chat_server"}, changes=GROWING | changes)
    campaign.systems.update(options=options)
    return campaign


def talk(campaign: Campaign) -> Conversation:
    person = make_participation(campaign)
    system = campaign.systems.get(name="llm")
    opening.open_with_bot(person=person, system=system, now=NOW)
    return Conversation.objects.get(campaign=campaign)


def are_shown(campaign: Campaign) -> bool:
    conversation = talk(campaign)
    return partials.are_shown(conversation, conversation.system.options)


# --- where --------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "changes", "shown"),
    [
        (STREAM, {}, True),
        ({}, {}, False),
        (STREAM, {"chat.streams": False}, False),
        (STREAM, {"chat.streams": False, "chat.pace": 0.5}, False),
    ],
)
def test_system_and_protocol_have_to_agree(options: Any, changes: Any, shown: bool) -> None:
    assert are_shown(campaign_of(options, **changes)) is shown


@pytest.mark.django_db
def test_nothing_grows_where_a_partner_may_be_a_person() -> None:
    campaign = campaign_of(STREAM)
    conversation = talk(campaign)
    make_system(campaign, "people", bot=PEOPLE)
    assert not partials.are_shown(conversation, STREAM)


@pytest.mark.django_db
def test_nothing_grows_in_a_rehearsal() -> None:
    conversation = talk(campaign_of(STREAM))
    conversation.purpose = Conversation.Purpose.REHEARSAL
    assert not partials.are_shown(conversation, STREAM)


@pytest.mark.parametrize("name", protocol_names())
def test_no_published_procedure_shows_replies_as_they_grow(name: str) -> None:
    chat = get_protocol(name).chat
    assert chat is None or not chat.streams


# --- what refuses it ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (
            "personachat_bot",
            {},
            r"chat\.streams: is on, but .*0\.5 seconds per word \(chat\.pace\)",
        ),
        ("live_engagement", {"chat.pace": 0}, r"chat\.streams: not a setting"),
        ("personachat_human", {}, r"chat\.streams: not a setting"),
    ],
)
def test_what_does_not_go_with_it_is_named(name: str, changes: Any, told: str) -> None:
    with pytest.raises(InvalidSetting, match=told):
        get_protocol(name).change({"chat.streams": True, **changes})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"turns": "free"}, "turns are free"),
        ({"partner_checks": (MaxWords(limit=15),)}, "checks a bot's reply before it is shown"),
        ({"pace": 0.5}, "typing delay of 0.5 seconds per word"),
        ({}, ""),
    ],
)
def test_an_own_protocol_is_told_what_does_not_go_with_it(changes: Any, told: str) -> None:
    protocol = get_protocol("personachat_bot")
    chat = protocol.chat
    assert chat is not None
    ready: dict[str, Any] = {"partner": "bot", "pace": 0.0, "streams": True}
    chat = dataclasses.replace(chat, **ready | changes)
    steps = tuple(chat if step is protocol.chat else step for step in protocol.steps)
    found = dict(complaints(dataclasses.replace(protocol, steps=steps)))
    assert set(found) == ({"chat.streams"} if told else set())
    assert told in found.get("chat.streams", "")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("reasoning_ends", "</think>", "is “</think>”; leave it empty"),
        ("safety", "stop", "is “stop”; choose off or flag"),
        ("display", "tidied", "is “tidied”; choose verbatim"),
        ("on_cut", "trim", "is “trim”; choose show"),
    ],
)
def test_a_system_whose_rules_need_the_whole_reply_is_refused_by_that_field(
    monkeypatch: pytest.MonkeyPatch, option: str, value: str, told: str
) -> None:
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", "127.0.0.1:9")
    protocol = get_protocol("personachat_bot")
    typed = SystemForm(protocol, "chat_server").typed() | {"name": "llm", "target": "3"}
    typed |= {"option.url": "http://127.0.0.1:9/v1", "option.model": "m", "option.stream": "true"}
    typed |= {"option.reasoning_ends": ""}
    stored = SystemForm(protocol, "chat_server", typed).values()["options"]
    assert (stored["stream"], stored["reasoning_ends"]) == (True, "")
    form = SystemForm(protocol, "chat_server", typed | {f"option.{option}": value})
    assert list(form.errors) == [f"option.{option}"]
    complaint = str(form.errors[f"option.{option}"][0])
    assert told in complaint
    assert complaint.endswith("or turn “Stream replies” off")


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({}, {}),
        ({"decoding": "top_k", "number": 1}, {}),
        ({"decoding": "top_k"}, {"number": "is 5, of which one is shown; choose 1"}),
        ({"decoding": "beam"}, {"decoding": "is “beam”; choose greedy, or a way to sample"}),
    ],
)
def test_a_checkpoint_that_chooses_among_replies_is_refused_by_that_field(
    options: dict[str, Any], problems: dict[str, str]
) -> None:
    streamed = {"stream": True, "reasoning_ends": "", **options}
    told = {name: f"{problem}, or turn “Stream replies” off" for name, problem in problems.items()}
    assert systems.problems_of("checkpoint", streamed) == told


def test_a_system_inside_another_one_cannot_stream() -> None:
    problems = systems.problems_of("mmi", {"bot": "chat_server", "options": {"stream": True}})
    assert problems == {
        "options": "has stream, but a bot inside another one is not streamed; leave it out"
    }


def check(campaign: Campaign) -> checklist.LaunchCheck | None:
    found = [one for one in checklist.checklist(campaign, NOW) if one.name == "Streamed replies"]
    return found[0] if found else None


@pytest.mark.django_db
def test_where_workers_are_other_processes_the_deployer_lets_texts_through_first(
    settings: LazySettings,
) -> None:
    """R8."""
    campaign = campaign_of(STREAM)
    settings.CHANNEL_LAYERS = {"default": settings.REDIS_LAYER}
    refused = check(campaign)
    assert refused is not None
    assert not refused.ok
    assert "can set PARTIALS_BY_REDIS=1" in refused.text
    settings.PARTIALS_BY_REDIS = True
    allowed = check(campaign)
    assert allowed is not None
    assert allowed.ok


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "changes", "told"),
    [
        (STREAM, {"chat.streams": False}, "llm: set to stream, but the settings do not"),
        ({}, {}, "No system streams its replies"),
    ],
)
def test_a_launch_waits_until_system_and_settings_agree(
    options: Any, changes: Any, told: str
) -> None:
    found = check(campaign_of(options, **changes))
    assert found is not None
    assert not found.ok
    assert found.text.startswith(told)


@pytest.mark.django_db
def test_a_launch_with_people_beside_a_streaming_bot_is_refused() -> None:
    campaign = campaign_of(STREAM)
    make_system(campaign, "people", bot=PEOPLE)
    found = check(campaign)
    assert found is not None
    assert not found.ok
    assert found.text.startswith("A partner may be a person or a bot")


@pytest.mark.django_db
def test_a_system_that_appears_whole_beside_one_that_grows_is_pointed_out() -> None:
    campaign = campaign_of(STREAM)
    alone = check(campaign)
    make_system(campaign, "parrot", bot="parrot")
    beside = check(campaign)
    assert alone is not None
    assert beside is not None
    assert (alone.ok, alone.warns, beside.ok, beside.warns) == (True, False, True, True)


@pytest.mark.django_db
def test_a_campaign_without_it_has_no_such_line() -> None:
    assert check(make_campaign()) is None


# --- how often ----------------------------------------------------------------------------------


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time a test sets."""

    now = 100.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[realtime.Signal]:
    told: list[realtime.Signal] = []
    monkeypatch.setattr(realtime, "tell", told.extend)
    return told


def texts(told: list[realtime.Signal]) -> list[str]:
    return [one.text for one in told if isinstance(one, realtime.Partial)]


def run(clock: Clock, seconds: float = 0.0) -> None:
    """Let what is due by then happen."""
    clock.now += seconds
    clock.run_until_complete(asyncio.sleep(0))
    clock.run_until_complete(asyncio.sleep(0))


def test_it_is_told_at_most_ten_times_a_second_and_always_the_latest(
    told: list[realtime.Signal],
) -> None:
    clock, partial = Clock(), partials.PartialReply(ReplyJob(conversation_id=3, in_reply_to=5))
    paced = Paced(partial.show)

    async def grow(text: str) -> None:
        paced.grow(text)

    for number in range(1, 1001):
        clock.run_until_complete(grow("x" * number))
        run(clock, 0.001)
    run(clock, 0.1)
    clock.close()
    assert told[0] == realtime.Partial(3, 5, "x")
    assert 9 <= len(told) <= 12
    assert texts(told)[-1] == "x" * 1000


@pytest.mark.parametrize(("is_whole", "rest"), [(True, []), (False, [""])])
def test_after_its_end_nothing_is_told_but_that_it_vanishes(
    told: list[realtime.Signal], is_whole: bool, rest: list[str]
) -> None:
    clock, partial = Clock(), partials.PartialReply(ReplyJob(conversation_id=3, in_reply_to=5))
    paced = Paced(partial.show)

    async def grow() -> None:
        paced.grow("Mar")
        paced.grow("Marmalade")  # waits, and comes too late
        paced.end()
        partial.end(is_whole=is_whole)

    clock.run_until_complete(grow())
    run(clock, 1.0)
    clock.close()
    assert texts(told) == ["Mar", *rest]


def test_what_no_page_can_hold_is_left_out_as_of_the_message(told: list[realtime.Signal]) -> None:
    clock, partial = Clock(), partials.PartialReply(ReplyJob(conversation_id=3, in_reply_to=5))
    paced = Paced(partial.show)

    async def grow(text: str) -> None:
        paced.grow(text)

    for text in (" \n", " \n\0", "a\0b\ud83d", "a\0b\ud83d" + "y" * 5000):
        clock.run_until_complete(grow(text))
        run(clock, 0.2)
    clock.close()
    assert texts(told) == ["ab", "ab" + "y" * 3998]


@pytest.mark.parametrize(("answer", "rest"), [("Marmalade", []), ("", [""]), (None, [""])])
def test_of_a_batch_those_grow_that_are_shown_and_vanish_where_no_message_follows(
    told: list[realtime.Signal], answer: str | None, rest: list[str]
) -> None:
    jobs = [ReplyJob(pk=pk, conversation_id=10 * pk, in_reply_to=pk) for pk in (1, 2, 3)]
    turns: dict[int, Turn] = {job.pk: ((), ()) for job in jobs}

    def respond(
        bot: str, options: Any, turns: Sequence[Turn], growing: Mapping[int, Growing]
    ) -> Answers:
        assert set(growing) == {1, 2}
        growing[2]("Toast")
        growing[1]("Mar")
        if answer is None:
            raise ValueError("the model broke off")
        return Answers([Reply("No."), Reply(answer), Reply("Toast.")], {})

    ended_call = worker.ask_growing(worker.ReplyWork("lm", {}, jobs, turns, {2, 3}), respond)
    assert (ended_call.problem is None) is (answer is not None)
    assert told[:2] == [realtime.Partial(30, 3, "Toast"), realtime.Partial(20, 2, "Mar")]
    assert texts([one for one in told[2:] if one.conversation == 20]) == rest
    assert texts([one for one in told[2:] if one.conversation == 30]) == [""] * (answer is None)
