"""The conversation over real sockets and plain HTTP, against a server in a process of its own.

Long because all its tests share one running server, which takes seconds to start.
"""

from __future__ import annotations

import asyncio
import html
import json
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import websockets

from tests.live import Client, Server, Study, elsewhere, is_reply, seed, serving

pytestmark = pytest.mark.timeout(300)  # servers start slowly on a busy machine


@dataclass
class Place:
    """A running server; each test takes a conversation that no other test uses."""

    server: Server
    study: Study
    taken: int = 0

    def client(self, **changes: Any) -> Client:
        self.taken += 1
        return Client(self.server, self.study, self.taken - 1, **changes)

    def tab(self) -> Client:
        """Return another tab of the conversation that was taken last."""
        return Client(self.server, self.study, self.taken - 1)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, {"people": 30}) as (server, study):
        yield Place(server, study)


def is_own_event(item: str, frame: Mapping[str, Any]) -> bool:
    return frame["type"] == "event" and frame.get("id") == item


def types(client: Client) -> list[str]:
    return [frame["type"] for frame in client.frames]


async def closed(client: Client) -> int:
    """Read to the end; returns the close code."""
    with pytest.raises(websockets.ConnectionClosed) as end:
        await client.until(lambda _: False)
    assert end.value.rcvd is not None
    return end.value.rcvd.code


async def test_a_message_is_acknowledged_shown_and_answered_once_and_in_order(
    place: Place,
) -> None:
    """R5, R6: acknowledged, then both sides' messages by seq."""
    client = await (await place.client().connect()).hello()
    for number in range(4):
        item = await client.send_message(f"This is number {number}.")
        await client.until(partial(is_own_event, item))
        await client.reply()
    events = [frame for frame in client.frames if frame["type"] == "event"]
    assert [frame["seq"] for frame in events] == list(range(1, 9))
    assert [side for side, _ in client.texts] == ["you", "partner"] * 4
    assert types(client).count("ack") == 4
    await client.close()


async def test_what_is_sent_twice_is_stored_once(place: Place) -> None:
    """R4: both sends are acknowledged with the same seq."""
    client = await (await place.client().connect()).hello()
    item = str(uuid4())
    for _ in range(5):
        await client.send_message("Only once.", item)
    await client.reply()
    await client.send_message("Only once.", item)
    await client.until(lambda frame: types(client).count("ack") == 6)
    await client.send_message("Something else.", item)
    refused = await client.until(lambda frame: frame["type"] == "refused")
    assert refused["code"] == "used_id"
    assert {frame["seq"] for frame in client.frames if frame["type"] == "ack"} == {1}
    assert [text for _, text in client.texts] == ["Only once.", "Only once."]
    await client.close()


async def test_a_refused_message_says_why_and_its_id_is_used_up(place: Place) -> None:
    client = await (await place.client().connect()).hello()
    await client.send_message("word " * 16)
    refused = await client.until(lambda frame: frame["type"] == "refused")
    assert refused["code"] == "check"
    assert "at most 15 words" in refused["notice"]
    await client.send_message("A shorter one.")
    await client.reply()
    await client.close()


async def test_who_comes_back_gets_what_they_missed_and_nothing_twice(place: Place) -> None:
    """R7: replay after last_seq, then ready."""
    client = await (await place.client().connect()).hello()
    await client.send_message("Before the tunnel.")
    await client.reply()
    await client.close()
    again = place.tab()
    await again.connect()
    await again.hello(last_seq=1)
    assert [frame["seq"] for frame in again.frames if frame["type"] == "event"] == [2]
    assert again.frames[-1] == {"type": "ready", "last_seq": 2}
    await again.close()


async def test_without_any_hint_everything_comes_a_little_later(place: Place) -> None:
    """R8, R11: a message of another process gets no hint in this one: workers and sockets poll."""
    client = await (await place.client().connect()).hello()
    secret = place.study.secrets[place.taken - 1]
    await asyncio.to_thread(
        elsewhere, place.server.env, "send", secret=secret, text="From elsewhere."
    )
    await client.reply(seconds=12)
    assert [text for _, text in client.texts] == ["From elsewhere.", "From elsewhere."]
    await client.close()


async def test_the_newest_tab_controls_and_an_older_one_can_take_over(place: Place) -> None:
    """R10."""
    old = await (await place.client().connect()).hello()
    new = await (await place.tab().connect()).hello()
    await old.until(lambda frame: frame["type"] == "superseded")
    assert [f for f in old.frames if f["type"] == "status"][-1]["tab_is_newest"] is False
    await old.send_message("Data is safe either way.")
    await new.reply()
    await old.send(type="takeover", tab=old.tab)
    await new.until(lambda frame: frame["type"] == "superseded")
    await old.until(lambda frame: frame.get("tab_is_newest") is True)
    await old.close()
    await new.close()


async def test_an_older_tab_is_told_by_a_hint_alone(tmp_path: Path) -> None:
    """R10: with a server whose sockets never look by themselves only the hint can tell."""
    with serving(tmp_path, {"people": 1}, faults="no_poll") as (server, study):
        old = await (await Client(server, study).connect()).hello()
        new = await (await Client(server, study).connect()).hello()
        await old.until(lambda frame: frame["type"] == "superseded")
        await old.send(type="takeover", tab=old.tab)
        await new.until(lambda frame: frame["type"] == "superseded")
        await old.close()
        await new.close()


async def test_three_bad_frames_close_the_socket(place: Place) -> None:
    """R24: an error frame each, then 1008; never an exception."""
    client = await (await place.client().connect()).hello()
    for raw in ("{", '{"type": "websocket.disconnect"}', '{"type": "hint", "seq": 1}'):
        await client.socket.send(raw)
    assert await closed(client) == 1008
    assert [f["code"] for f in client.frames if f["type"] == "error"] == ["bad_frame"] * 3


async def test_binary_frames_are_bad_frames(place: Place) -> None:
    client = await (await place.client().connect()).hello()
    await client.socket.send(b'{"type": "ping"}')
    assert (await client.until(lambda f: f["type"] == "error"))["code"] == "bad_frame"
    await client.close()


async def test_a_frame_that_is_too_large_ends_the_socket(place: Place) -> None:
    """S2: 64 KiB."""
    client = await (await place.client().connect()).hello()
    await client.socket.send("x" * 70_000)
    assert await closed(client) == 1009


async def test_who_does_not_say_hello_is_closed(place: Place) -> None:
    """S2: handshake 5 s."""
    client = await place.client().connect()
    assert await closed(client) == 1008


async def test_messages_per_minute_are_limited(place: Place) -> None:
    """S2: 30; what comes too fast is not stored, and not refused for ever."""
    client = await (await place.client().connect()).hello()
    for _ in range(31):
        await client.send_message("Quick!", str(uuid4()))
    error = await client.until(lambda frame: frame["type"] == "error")
    assert error["code"] == "too_fast"
    await client.close()


async def test_a_fourth_socket_closes_the_oldest(place: Place) -> None:
    """S2: three per participation."""
    first = await (await place.client().connect()).hello()
    others = [await (await place.tab().connect()).hello() for _ in range(3)]
    assert await closed(first) == 1008
    for other in others:
        await other.close()


@pytest.mark.parametrize(
    "origin",
    [None, "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "null"],
)
async def test_only_pages_of_this_server_may_connect(place: Place, origin: str | None) -> None:
    """S2: the full origin, and a missing one is refused."""
    given = origin.format(port=place.server.port) if origin else None
    with pytest.raises(websockets.InvalidStatus, match="403"):
        await place.tab().connect(origin=given)


@pytest.mark.parametrize("cookie", ["", "parley-{slug}=wrong", "parley-other={secret}", 'a=b;;="'])
async def test_only_ones_own_conversation_can_be_followed(place: Place, cookie: str) -> None:
    """S1: a foreign or missing cookie finds nothing."""
    given = cookie.format(slug=place.study.slug, secret=place.study.secrets[0])
    with pytest.raises(websockets.InvalidStatus, match="403"):
        await place.tab().connect(additional_headers={"Cookie": given} if given else {})


async def test_other_addresses_are_no_sockets(place: Place) -> None:
    client = place.tab()
    with pytest.raises(websockets.InvalidStatus, match="403"):
        await websockets.connect(
            f"ws://{place.server.host}/c/{client.slug}/other",
            additional_headers={"Origin": f"http://{place.server.host}"},
        )


async def test_a_page_follows_the_conversation_that_it_names_and_no_other(
    place: Place,
) -> None:
    async with plain(client := place.client()) as line:
        page = (await line.http.get(f"{line.base}/now")).text
        query = html.unescape(page).split("/frames?")[1].split('"')[0]
        assert f"/socket?{query}" in html.unescape(page)
        foreign = "conversation=0123456789abcdef&version=2"
        for named, status in ((query, 200), (foreign, 404)):
            answer = await line.http.get(f"{line.base}/frames?{named}&after=0")
            assert answer.status_code == status
    client.query = query
    await (await client.connect()).hello()
    await client.close()
    client.query = foreign
    with pytest.raises(websockets.InvalidStatus) as refused:
        await client.connect()
    assert refused.value.response.status_code == 403


async def key_on_page(line: Plain) -> str:
    """Return the key of the conversation, which is the same in both versions."""
    page = html.unescape((await line.http.get(f"{line.base}/now")).text)
    return page.split("/frames?conversation=")[1].split("&")[0]


async def test_a_page_of_version_1_goes_on_over_its_socket(place: Place) -> None:
    """Its address, the frames that it sends and those that it can read have the former words."""
    async with plain(client := place.client()) as line:
        client.query = f"talk={await key_on_page(line)}"
    await client.connect()
    await client.send(type="hello", last_seen=0, tab=client.tab)
    ready = await client.until(lambda frame: frame["type"] == "ready")
    assert ready == {"type": "ready", "last_seen": 0}
    item = str(uuid4())
    await client.send(type="say", id=item, text="Hello from before the deploy.")
    await client.reply()
    await client.send(type="sync", last_seen=2)
    await client.until(lambda frame: frame == {"type": "ready", "last_seen": 2})
    (ack,) = (frame for frame in client.frames if frame["type"] == "ack")
    assert (ack["id"], ack["seq"]) == (item, 1)
    for status in (frame for frame in client.frames if frame["type"] == "status"):
        assert status["unlabelled"] == []
        assert "unlabeled" not in status
    await client.close()


async def test_a_page_of_version_1_goes_on_over_plain_http(place: Place) -> None:
    async with plain(client := place.client()) as line:
        frames = f"{line.base}/frames?talk={await key_on_page(line)}"
        hello = {"type": "hello", "last_seen": 0, "tab": client.tab}
        status, ready = (await line.http.post(frames, json=hello)).json()["frames"]
        assert (status["unlabelled"], ready["last_seen"]) == ([], 0)
        item = {"type": "say", "id": str(uuid4()), "text": "Hello."}
        for _ in range(2):
            assert (await line.http.post(frames, json=item)).json()["frames"][0]["seq"] == 1
        first, *_, last = (await line.http.get(f"{frames}&after=0")).json()["frames"]
        assert (first["text"], "last_seen" in last) == ("Hello.", True)
        foreign = f"{line.base}/frames?talk=0123456789abcdef&after=0"
        assert (await line.http.get(foreign)).status_code == 404


async def test_a_message_that_version_1_left_unanswered_is_stored_once(place: Place) -> None:
    """The page reloads as version 2 and sends what is in its outbox again."""
    client = place.client()
    client.query = ""
    await client.connect()
    item = str(uuid4())
    await client.send(type="hello", last_seen=0, tab=client.tab)
    await client.send(type="say", id=item, text="Once.")
    await client.until(lambda frame: frame["type"] == "ack")
    await client.close()
    client = await (await place.tab().connect()).hello()
    await client.send_message("Once.", item)
    ack = await client.until(lambda frame: frame["type"] == "ack")
    assert ack["seq"] == 1
    await client.close()


@pytest.mark.parametrize(
    "former",
    [
        {"type": "say", "id": str(uuid4()), "text": "Hello."},
        {"type": "sync", "last_seen": 0},
    ],
)
async def test_version_2_has_no_former_words(place: Place, former: dict[str, Any]) -> None:
    client = await (await place.client().connect()).hello()
    await client.send(**former)
    error = await client.until(lambda frame: frame["type"] in ("error", "ack", "ready"))
    assert (error["type"], error["code"]) == ("error", "bad_frame")
    await client.close()


@pytest.mark.parametrize("version", ["0", "3", "x"])
async def test_an_unknown_version_is_refused(place: Place, version: str) -> None:
    """The page is asked to reload, which draws it in a version that the server knows."""
    client = place.tab()
    client.query = f"version={version}"
    await client.connect()
    assert await closed(client) == 1008
    (error,) = client.frames
    assert (error["type"], error["code"]) == ("error", "bad_frame")
    assert "reload" in error["notice"]
    async with plain(client) as line:
        answer = await line.http.get(f"{line.base}/frames?version={version}&after=0")
    assert (answer.status_code, answer.json()["frames"]) == (400, [error])


async def test_pings_are_answered(place: Place) -> None:
    client = await (await place.client().connect()).hello()
    await client.send(type="ping")
    await client.until(lambda frame: frame["type"] == "pong")
    await client.close()


@dataclass
class Plain:
    """A client that speaks plain HTTP only, with the token that the page holds."""

    http: httpx.AsyncClient
    base: str

    async def post(self, **frame: Any) -> list[dict[str, Any]]:
        answer = await self.http.post(f"{self.base}/frames?version=2", json=frame)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["frames"]
        return found

    async def get(self, after: int) -> list[dict[str, Any]]:
        answer = await self.http.get(f"{self.base}/frames?version=2&after={after}")
        found: list[dict[str, Any]] = answer.json()["frames"]
        return found

    async def reply(self, after: int) -> None:
        async with asyncio.timeout(20):
            while not any(map(is_reply, await self.get(after))):
                await asyncio.sleep(0.1)


@asynccontextmanager
async def plain(client: Client) -> AsyncIterator[Plain]:
    base = f"http://{client.server.host}/c/{client.slug}"
    async with httpx.AsyncClient(headers={"Cookie": client.cookie}, timeout=30) as http:
        page = await http.get(f"{base}/now")
        http.headers["Cookie"] = f"{client.cookie}; csrf={page.cookies['csrf']}"
        http.headers["X-CSRFToken"] = page.text.split('name="csrf-token" content="')[1].split('"')[
            0
        ]
        http.headers["X-Tab"] = client.tab
        http.cookies.clear()
        yield Plain(http, base)


async def test_plain_http_does_all_that_the_socket_does(place: Place) -> None:
    """R8: send, follow and finish without any websocket."""
    async with plain(client := place.client()) as line:
        first = await line.post(type="hello", last_seq=0, tab=client.tab)
        assert [frame["type"] for frame in first] == ["status", "ready"]
        for number in range(first[0]["minimum"] // 2):
            (ack,) = await line.post(
                type="message", id=str(uuid4()), text=f"This is number {number}."
            )
            assert ack["type"] == "ack"
            await line.reply(ack["seq"])
        (refused,) = await line.post(type="message", id=str(uuid4()), text="  ")
        assert refused["code"] == "empty"
        (done,) = await line.post(type="finish", id=str(uuid4()))
        assert done["type"] == "ack"
        assert (await line.get(99))[0]["ended"] is True


async def test_plain_http_is_checked_as_the_socket_is(place: Place) -> None:
    """R24, S1, S3."""
    async with plain(place.client()) as line:
        frames = f"{line.base}/frames"
        bad = await line.http.post(frames, content="{")
        assert (bad.status_code, bad.json()["frames"][0]["code"]) == (400, "bad_frame")
        assert (await line.http.get(f"{frames}?after=x")).status_code == 400
        forged = await line.http.post(frames, json={"type": "ping"}, headers={"X-CSRFToken": ""})
        assert forged.status_code == 403
    async with httpx.AsyncClient() as stranger:
        assert (await stranger.get(frames)).status_code == 404


async def test_frames_name_no_system_and_no_row(place: Place) -> None:
    """S11."""
    client = await (await place.client().connect()).hello()
    await client.send_message("Who are you?")
    await client.reply()
    shown = json.dumps(client.frames)
    for word in ("parrot", "alpha", "system", "bot", "conversation", "persona"):
        assert word not in shown
    await client.close()


async def test_the_end_closes_the_socket(place: Place) -> None:
    client = await (await place.client().connect()).hello()
    minimum = client.frames[0]["minimum"]
    for number in range(minimum // 2):
        await client.send_message(f"This is number {number}.")
        await client.reply()
    await client.until(lambda frame: frame.get("may_finish"))
    await client.send(type="finish", id=str(uuid4()))
    assert await closed(client) == 1000
    assert client.frames[-1]["ended"] is True


async def test_a_killed_server_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    """R6, R12: kill -9 after a message was sent; the client repeats it; one reply comes."""
    with serving(tmp_path, {"people": 1}) as (server, study):
        client = Client(server, study)
        seen = 0
        for number in range(2):
            await (await client.connect()).hello(seen)
            item = await client.send_message(f"This is number {number}.")
            if number % 2:  # else the kill may come before the message arrived
                await client.until(partial(is_own_event, item))
            server.kill(signal.SIGKILL)
            server.start()
            seen = max((f["seq"] for f in client.frames if f["type"] == "event"), default=0)
            await client.connect()
            await client.hello(seen)
            await client.send_message(f"This is number {number}.", item)
            await client.until(
                lambda _: sum(map(is_reply, client.frames)) == number + 1  # noqa: B023
            )
            seen = max(f["seq"] for f in client.frames if f["type"] == "event")
            await client.close()
        events = [frame["seq"] for frame in client.frames if frame["type"] == "event"]
        assert events == [1, 2, 3, 4]
        assert [side for side, _ in client.texts] == ["you", "partner"] * 2


async def test_a_broker_that_is_down_delays_no_acknowledgement(tmp_path: Path) -> None:
    """R11: hints are lost and counted; the message is stored, acknowledged and shown."""
    down = "redis://127.0.0.1:9/0"
    with serving(tmp_path, {"people": 1}, REDIS_URL=down) as (server, study):
        client = await Client(server, study).connect()
        await client.send(type="hello", last_seq=0, tab=client.tab)
        await client.until(lambda frame: frame["type"] == "ready")
        await client.send_message("Is anybody there?")
        await client.until(lambda frame: frame["type"] == "ack", seconds=2)
        await client.until(lambda frame: frame["type"] == "event", seconds=12)
        await client.close()


async def test_two_people_see_each_other_at_once(place: Place) -> None:
    study = await asyncio.to_thread(
        seed, place.server.env, protocol="personachat_human", bot="people", people=2
    )
    first, second = (Client(place.server, study, number) for number in range(2))
    for client in (first, second):
        await (await client.connect()).hello()
    for number in range(3):
        for speaker, listener in ((first, second), (second, first)):
            item = await speaker.send_message(f"This is number {number}.")
            await speaker.until(partial(is_own_event, item))
            await listener.reply(seconds=5)
    assert [side for side, _ in second.texts] == ["partner", "you"] * 3
    await first.close()
    await second.close()
