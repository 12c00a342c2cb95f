"""A bot behind a real HTTP server: what is asked of it, and how it can fail (S10)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bots import Background, SeededHistory, Utterance, make_bot
from bots.bot import BatchBot, Bot, Prompted
from bots.guards.egress import NotAllowed
from bots.guards.remote import ServerFailed
from bots.options import InvalidOption
from bots.zoo.chat_server import ChatServer
from tests.bots.chat_completions import Fake, running

PERSONA = ("I sail.", "I have a dog.")
TALK = (
    Utterance("partner", "Hi!"),
    Utterance("self", "Hello."),
    Utterance("partner", "Any pets?"),
)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        yield fake


def bot(fake: Fake, model: str = "good", **options: object) -> Bot:
    found = make_bot("chat_server", **{"url": fake.url, "model": model, **options})
    assert isinstance(found, Bot)
    return found


def test_persona_history_seed_and_key_are_passed_on(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY_LAB", "k-123")
    monkeypatch.setenv("BOT_KEY_LAB_HOSTS", f"127.0.0.1:{fake.port}")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    reply = bot(fake, seed=7, key_variable="BOT_KEY_LAB", max_tokens=50).respond(PERSONA, TALK)
    assert reply.text == "You said: Any pets? (3)"
    assert reply.details == {
        "model": "fake-1",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
        "attempts": 1,
    }
    asked, headers = fake.asked[0], fake.headers[0]
    assert asked["path"] == "/v1/chat/completions"
    assert (asked["seed"], asked["max_tokens"], asked["model"]) == (7, 50, "good")
    assert [each["role"] for each in asked["messages"]] == ["system", "user", "assistant", "user"]
    assert asked["messages"][0]["content"].endswith("This is who you are:\nI sail.\nI have a dog.")
    assert headers["Authorization"] == "Bearer k-123"
    assert headers["Host"] == f"127.0.0.1:{fake.port}"


def test_without_a_key_or_a_history(fake: Fake) -> None:
    assert bot(fake).respond((), ()).text == "You said: (Please open the conversation.) (0)"
    assert "Authorization" not in fake.headers[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(fake: Fake, status: int) -> None:
    reply = bot(fake, f"busy {status}").respond(PERSONA, TALK)
    assert reply.text.startswith("You said")
    assert reply.details["attempts"] == 3
    assert len(fake.asked) == 3


def test_one_that_stays_busy_is_a_failure_after_all_tries(fake: Fake) -> None:
    with pytest.raises(ServerFailed, match=r"answered with status 503 \(2 attempts\)"):
        bot(fake, "busy 503", tries=2).respond(PERSONA, TALK)
    assert len(fake.asked) == 2


def test_no_try_is_begun_that_would_end_too_late(fake: Fake) -> None:
    started = time.monotonic()
    with pytest.raises(ServerFailed, match="status 500"):
        bot(fake, "busy 500", seconds=0.7, tries=10).respond(PERSONA, TALK)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("model", ["stalls", "drips"])
def test_the_deadline_is_for_all_together(fake: Fake, model: str) -> None:
    """One that sends a byte now and then keeps no reply waiting for longer."""
    started = time.monotonic()
    with pytest.raises(ServerFailed, match=r"did not answer within 0\.5 s"):
        bot(fake, model, seconds=0.5).respond(PERSONA, TALK)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("huge", "sent more than 256 KiB"),
        ("redirects", "redirect, which is never followed"),
        ("not json", "did not answer with JSON"),
        ("a list", "JSON that is no object"),
        ("no choices", r"no choices\[0\]"),
        ("compressed", "compressed answer"),
        ("fails on bad", "answered with status 400"),
    ],
)
def test_what_cannot_be_used_says_why_and_no_more(fake: Fake, model: str, told: str) -> None:
    with pytest.raises(ServerFailed, match=told) as failed:
        bot(fake, model).respond((), (Utterance("partner", "something bad"),))
    assert ("something bad" in str(failed.value)) == (model == "fails on bad")
    assert len(fake.asked) == 1


def test_a_server_that_hangs_up_or_is_not_there_is_tried_again(fake: Fake) -> None:
    with pytest.raises(ServerFailed, match=r"cannot be reached: \w+ \(2 attempts\)"):
        bot(fake, "vanishes", tries=2).respond(PERSONA, TALK)
    assert len(fake.asked) == 2
    fake.server.server_close()
    with pytest.raises(ServerFailed, match=r"cannot be reached: ConnectError \(2 attempts\)"):
        bot(fake, tries=2).respond(PERSONA, TALK)


def test_a_batch_is_asked_at_once_and_one_failure_harms_no_other(fake: Fake) -> None:
    turns = [((), (Utterance("partner", text),)) for text in ("one", "bad", "two", "three")]
    served = bot(fake, "fails on bad", at_once=3)
    assert isinstance(served, BatchBot)
    replies = served.respond_many(turns)
    assert [reply.text for reply in replies] == [
        "You said: one (0)",
        "",
        "You said: two (0)",
        "You said: three (0)",
    ]
    assert "answered with status 400" in str(replies[1].details["error"])
    assert fake.most_at_once <= 3


def test_a_refusal_is_told_in_the_servers_own_words_without_secrets(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY_LAB", "k-123")
    monkeypatch.setenv("BOT_KEY_LAB_HOSTS", f"127.0.0.1:{fake.port}")
    talk = (Utterance("partner", "bad k-123 and sk-abcdef123456 " + "word " * 100),)
    with pytest.raises(ServerFailed, match=r"status 400: no: bad \*\*\* and \*\*\* word") as failed:
        bot(fake, "fails on bad", key_variable="BOT_KEY_LAB").respond((), talk)
    assert len(str(failed.value)) < 400


def test_the_words_are_shown_as_they_are_unless_an_option_says_otherwise(fake: Fake) -> None:
    rude = "I will kill you, you stupid bitch"
    assert bot(fake, "rude").respond(PERSONA, TALK).text == rude
    flagged = bot(fake, "rude", safety="flag").respond(PERSONA, TALK)
    assert (flagged.text, flagged.events) == (rude, ("flagged",))
    stopped = bot(fake, "rude", safety="stop").respond(PERSONA, TALK)
    assert (stopped.text, stopped.raw, stopped.events) == ("", rude, ("filtered",))
    assert "stopped the reply: insult" in str(stopped.details["error"])
    empty = bot(fake, "empty").respond(PERSONA, TALK)
    assert (empty.text, empty.events) == ("", ("empty",))


def test_every_field_can_be_left_out_or_added(fake: Fake) -> None:
    served = bot(fake, without="top_p, seed", extra={"stop": ["\n"], "temperature": 0.1})
    reply = served.respond((), SeededHistory(TALK, 99))
    asked = {name: value for name, value in fake.asked[0].items() if name != "path"}
    assert reply.prompt == asked
    assert sorted(asked) == ["max_tokens", "messages", "model", "stop", "temperature"]
    assert asked["temperature"] == 0.1


def test_a_seed_is_the_conversations_own_unless_it_is_fixed(fake: Fake) -> None:
    bot(fake).respond((), SeededHistory(TALK, 99))
    bot(fake, draws="fixed", seed=3).respond((), SeededHistory(TALK, 99))
    assert [asked["seed"] for asked in fake.asked] == [99, 3]


def test_a_strict_server_gets_the_persona_and_an_opening_from_the_user(fake: Fake) -> None:
    opened = (Utterance("self", "Hi!"), Utterance("partner", "Hello."))
    bot(fake, system_role="user", user_first=True, told="Be kind.").respond(PERSONA, opened)
    messages = fake.asked[0]["messages"]
    assert [each["role"] for each in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"].startswith("Be kind.\nThis is who you are:\nI sail.")
    assert messages[0]["content"].endswith("(Please open the conversation.)")


def test_a_server_that_was_not_named_is_never_called(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", "127.0.0.1:1")
    with pytest.raises(NotAllowed, match="BOT_HOSTS"):
        bot(fake).respond(PERSONA, TALK)
    assert fake.asked == []


def test_url_and_model_must_be_given(fake: Fake) -> None:
    with pytest.raises(InvalidOption, match="url is ''"):
        bot(fake, url="").respond(PERSONA, TALK)
    with pytest.raises(InvalidOption, match="model is ''"):
        bot(fake, model="").respond(PERSONA, TALK)


def _asked(fake: Fake) -> dict[str, object]:
    return {name: value for name, value in fake.asked[-1].items() if name != "path"}


def test_a_field_without_a_value_is_not_sent(fake: Fake) -> None:
    empty: dict[str, Any] = {"temperature": None, "top_p": None, "max_tokens": None}
    bot(fake, **empty).respond((), TALK)
    assert sorted(_asked(fake)) == ["messages", "model", "seed"]
    more: dict[str, Any] = {
        "frequency_penalty": 0.5,
        "presence_penalty": -0.5,
        "stop": "END\n\\n\\n",
    }
    bot(fake, **empty, **more).respond((), TALK)
    asked = _asked(fake)
    assert (asked["frequency_penalty"], asked["presence_penalty"]) == (0.5, -0.5)
    assert asked["stop"] == ["END", "\n\n"]


def test_slots_are_filled_and_empty_paragraphs_left_out(fake: Fake) -> None:
    told = "Be kind.\n\nYou are:\n{{ persona }}\n\n{{brief}}\n\nTopic: {{topic}}; {one} brace."
    known = SeededHistory(TALK, 1, Background("Name: Ann", "tea"))
    bot(fake, told=told).respond(PERSONA, known)
    assert fake.asked[-1]["messages"][0]["content"] == (
        "Be kind.\n\nYou are:\nI sail.\nI have a dog.\n\nName: Ann\n\nTopic: tea; {one} brace."
    )
    bot(fake, told=told).respond((), TALK)
    assert fake.asked[-1]["messages"][0]["content"] == "Be kind."


def test_a_prompt_with_the_history_is_the_whole_request(fake: Fake) -> None:
    bot(fake, told="Go on:\n\n{{history}}\nYou:").respond((), TALK)
    content = "Go on:\n\nPartner: Hi!\nYou: Hello.\nPartner: Any pets?\nYou:"
    assert fake.asked[-1]["messages"] == [{"role": "user", "content": content}]


def test_an_unknown_slot_is_named_with_those_that_there_are(fake: Fake) -> None:
    with pytest.raises(
        InvalidOption, match=r"{{personae}} is no slot; there are {{persona}}, {{br"
    ):
        bot(fake, told="You are {{personae}}.")


OPENED = (Utterance("self", "Hi!"), Utterance("partner", "Hello."), Utterance("partner", "You?"))


@pytest.mark.parametrize("persona", [PERSONA, ()])
@pytest.mark.parametrize("talk", [TALK, OPENED, ()])
def test_a_strict_chat_template_is_met_and_it_is_noted(
    fake: Fake, persona: tuple[str, ...], talk: tuple[Utterance, ...]
) -> None:
    served = bot(fake, "gemma")
    reply = served.respond(persona, talk)
    assert reply.events == ("adapted",)
    assert reply.text.startswith("You said: ")
    assert reply.prompt == _asked(fake)
    messages = fake.asked[-1]["messages"]
    assert [each["role"] for each in messages[:2]] in (["user"], ["user", "assistant"])
    assert messages[0]["content"].startswith("You chat with a stranger.")
    assert isinstance(served, Prompted)
    both = [served.request((persona, talk)), served.request(((), TALK))]
    assert isinstance(served, BatchBot)
    replies = served.respond_many([(persona, talk), ((), TALK)])
    assert [each.events for each in replies] == [("adapted",)] * 2
    assert [each.prompt != plain for each, plain in zip(replies, both, strict=True)] == [True] * 2


def test_other_refusals_are_not_asked_again(fake: Fake) -> None:
    with pytest.raises(ServerFailed, match="System role not supported"):
        bot(fake, "gemma", adapts=False).respond(PERSONA, TALK)
    with pytest.raises(ServerFailed, match="no field seed"):
        bot(fake, "refuses").respond(PERSONA, TALK)
    assert len(fake.asked) == 2


SAID = tuple(Utterance("self" if n % 2 else "partner", f"message {n}") for n in range(9))


@pytest.mark.parametrize(
    ("holds", "kept"),
    [(10, 9), (9, 3), (4, 3), (3, 1), (2, 1)],  # with the system's message; from a partner's on
)
@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_model_cannot_hold_goes_oldest_first(
    fake: Fake, holds: int, kept: int, is_async: bool
) -> None:
    turn = PERSONA, SeededHistory(SAID, 77, Background("You sell boats."))
    served = bot(fake, f"holds {holds}", told="{{persona}} {{brief}}")
    assert isinstance(served, ChatServer)
    if is_async:
        reply = asyncio.run(served.respond_async(*turn))
    else:
        reply, other = served.respond_many([turn, (PERSONA, TALK[:1])])
        assert other.events == ()
    sent = _asked_about(fake, "message 8")[-1]
    messages = sent["messages"]
    assert [each["content"] for each in messages[1:]] == [f"message {n}" for n in range(9)][-kept:]
    assert messages[0]["content"] == "I sail.\nI have a dog. You sell boats."
    assert messages[1]["role"] == "user"
    assert reply.text.startswith("You said: message 8")
    assert reply.events == (() if kept == 9 else ("shortened",))
    assert reply.prompt == {each: sent[each] for each in sent if each != "path"}
    assert {each["seed"] for each in _asked_about(fake, "message 8")} == {77}


def _asked_about(fake: Fake, last: str) -> list[dict[str, Any]]:
    return [each for each in fake.asked if each["messages"][-1]["content"] == last]


@pytest.mark.parametrize(
    "complaint",
    [
        "This model's maximum context length is 4097 tokens. However, you requested 4532 tokens",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_a_prompt_that_is_too_long_is_known_by_the_words_of_several_servers(
    fake: Fake, complaint: str
) -> None:
    fake.too_long = complaint
    assert bot(fake, "holds 2").respond((), SAID).events == ("shortened",)


def test_what_cannot_be_halved_or_may_not_be_fails_in_the_server_s_words(fake: Fake) -> None:
    with pytest.raises(ServerFailed, match="maximum context length"):
        bot(fake, "holds 1").respond(PERSONA, SAID)
    assert [len(each["messages"]) for each in fake.asked] == [10, 4, 2]
    fake.asked.clear()
    with pytest.raises(ServerFailed, match="maximum context length"):
        bot(fake, "holds 2", shortens=False).respond(PERSONA, SAID)
    assert len(fake.asked) == 1


def test_a_key_goes_to_its_own_server_only(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY_LAB", "k-123")
    monkeypatch.setenv("BOT_KEY_LAB_HOSTS", "api.example.org")
    with pytest.raises(
        NotAllowed, match=r"BOT_KEY_LAB is for api\.example\.org:443, and is not sent"
    ):
        bot(fake, key_variable="BOT_KEY_LAB").respond((), TALK)
    assert fake.asked == []
