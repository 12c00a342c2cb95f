"""Limits in the server, with no proxy: bodies, headers, joins, frames, labels (R40, S2, S3)."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
import uuid
from typing import Any

import pytest
from django.conf import LazySettings
from redis import Redis
from uvicorn.config import Config
from uvicorn.server import ServerState

from tests.factories import make_staff
from tests.servers import redis_server
from tests.webapp.services.people import bot_says, join
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.asgi import application
from webapp.management.commands.serve import Impatient
from webapp.models import Event, Participation
from webapp.services.participation import consents, limits
from webapp.sockets import frames, handshake

MIB = 1_048_576
CHUNK = b"x" * 65_536


@pytest.fixture(autouse=True)
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock stand in the middle of a minute: counts of two do not mix."""
    monkeypatch.setattr("time.time", lambda: 1_800_000_030.0)


# --- bodies


def spooled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes at which files in memory were moved to the disk, as they happen."""
    found: list[int] = []
    rollover = tempfile.SpooledTemporaryFile.rollover

    def note(file: Any) -> None:
        found.append(file.tell())
        rollover(file)

    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", note)
    return found


async def post(path: str, size: int, *, declared: bool = True, cookie: str = "") -> tuple[int, int]:
    """Send a body in chunks; return the status, and how many bytes the server took."""
    headers = [(b"host", b"testserver"), (b"content-type", b"text/plain")]
    headers += [(b"cookie", cookie.encode())] if cookie else []
    length = (b"content-length", str(size).encode())
    headers.append(length if declared else (b"transfer-encoding", b"chunked"))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 5),
        "server": ("testserver", 80),
    }
    taken, answers = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal taken
        if taken >= size:
            await asyncio.Event().wait()
        part = CHUNK[: size - taken]
        taken += len(part)
        return {"type": "http.request", "body": part, "more_body": taken < size}

    async def send(message: Any) -> None:
        answers.append(message)

    async with asyncio.timeout(30):
        await application(scope, receive, send)
    return answers[0]["status"], taken


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/login/", "/nowhere", "/c/x/consent", "/campaigns/1/personas/"])
@pytest.mark.parametrize("declared", [True, False])
def test_400_megabytes_leave_no_temporary_file(
    path: str, declared: bool, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    """T9: 422 MB of temporary files, then 403."""
    settings.ALLOWED_HOSTS = ["testserver"]
    files = spooled(monkeypatch)
    forged = f"{settings.SESSION_COOKIE_NAME}=forgedforgedforgedforgedforgedfo"
    for cookie in ("", forged):
        status, taken = asyncio.run(post(path, 400 * MIB, declared=declared, cookie=cookie))
        assert status == 413
        assert taken <= (0 if declared else MIB + len(CHUNK))
    assert files == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("over", "refused"), [(-1, False), (0, False), (1, True)], ids=["below", "just", "beyond"]
)
def test_a_body_may_have_a_mebibyte_and_of_who_is_signed_in_more(
    over: int, refused: bool, settings: LazySettings, client: Any
) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    client.force_login(make_staff("ann"))
    session = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    for declared in (True, False):
        anybody, _ = asyncio.run(post("/nowhere", MIB + over, declared=declared))
        assert (anybody == 413) == refused
        settings.MAX_UPLOAD_BYTES = 2 * MIB
        staff = post("/nowhere", 2 * MIB + over, declared=declared, cookie=session)
        assert (asyncio.run(staff)[0] == 413) == refused


# --- headers


def test_half_sent_requests_are_closed_and_whole_ones_answered(settings: LazySettings) -> None:
    """T9: 600 of them stayed open."""
    settings.HEADER_SECONDS = 0.2

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": []}
        await send(head | {"headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def attack() -> None:
        config = Config(answer, http=Impatient, lifespan="off", log_level="critical")
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        made = lambda: Impatient(config, state, {})  # noqa: E731 (what a server makes for each)
        server = await loop.create_server(made, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        halves = []
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"POST / HT"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            halves.append((reader, writer))
        reader, kept = await asyncio.open_connection("127.0.0.1", port)
        kept.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        kept.write(b"GET / HTTP/1.1\r\nHost")  # the second one of this connection
        async with asyncio.timeout(20):
            for waiting, _ in [*halves, (reader, kept)]:
                assert await waiting.read() == b""
        for _, writer in [*halves, (reader, kept)]:
            writer.close()
        server.close()
        assert not state.connections

    asyncio.run(attack())


# --- joins, frames and labels


@pytest.mark.parametrize("kind", limits.PER_MINUTE)
def test_a_minute_takes_so_many_and_the_next_begins_anew(kind: str) -> None:
    most = limits.PER_MINUTE[kind]
    assert [limits.allow(kind, 7, at=59.0) for _ in range(most + 1)] == [*[True] * most, False]
    assert limits.allow(kind, 8, at=59.0)
    assert limits.allow(kind, 7, at=60.0)
    assert (limits.seconds_left(59.0), limits.seconds_left(60.0)) == (1, 60)


@pytest.fixture
def chatting() -> Visit:
    visit = Visit(campaign_of("meena_interactive"))
    visit.join()
    visit.post("start")
    return visit


@pytest.mark.django_db
def test_requests_for_what_is_new_are_limited_over_both_doors(chatting: Visit) -> None:
    """T9: 400 in 4.6 s."""
    for _ in range(115):
        assert handshake.allow(chatting.person.pk, frames.Ping())  # as a socket asks
    answers = [chatting.get("frames?version=2&after=0") for _ in range(8)]
    assert [each.status_code for each in answers] == [200] * 5 + [429] * 3
    assert answers[-1].json()["frames"][0]["code"] == "too_fast"
    assert answers[-1].headers["Retry-After"] == "30"
    assert not handshake.allow(chatting.person.pk, frames.Ping())
    assert chatting.get().status_code == 200  # the page itself stays


@pytest.mark.django_db
def test_labels_are_limited_over_http(chatting: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.PER_MINUTE, limits.LABELS, 4)
    room = chatting.person.seats.get().conversation
    seq = bot_says(room, "Hello.").seq
    codes = []
    for revision in range(1, limits.PER_MINUTE[limits.LABELS] + 3):
        body = {"type": "label", "id": str(uuid.uuid4()), "seq": seq, "question": "sensible"}
        body |= {"value": str(revision % 2), "revision": revision}
        answer = chatting.post(
            "frames?version=2", json.dumps(body), content_type="application/json"
        )
        codes.append(answer.status_code)
    assert codes.count(429) == 2
    assert codes[-2:] == [429, 429]
    stored = Event.objects.filter(conversation=room, kind=Event.Kind.LABEL).count()
    assert stored == limits.PER_MINUTE[limits.LABELS]


@pytest.mark.django_db
def test_joins_are_limited_by_address_and_a_claim_uses_up_nobodys_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(limits.PER_MINUTE, limits.ADDRESS, 13)
    honest = Visit(campaign_of())
    honest.join()
    attacker = Visit(honest.campaign)
    attacker.name = honest.name
    assert {attacker.join().status_code for _ in range(11)} == {409}
    assert honest.join().status_code == 200  # the claims did not count against the id
    assert attacker.join().status_code == 429
    far = Visit(honest.campaign, REMOTE_ADDR="192.0.2.7")
    assert far.join().status_code == 200
    assert Participation.objects.count() == 2


@pytest.mark.django_db
def test_further_browsers_of_a_person_are_limited() -> None:
    campaign = campaign_of()
    most = limits.PER_MINUTE[limits.JOINS]
    for _ in range(most):
        join(campaign, "ann")
    with pytest.raises(consents.Closed, match="too_fast"):
        join(campaign, "ann")


def test_what_is_counted_at_once_is_counted_for_each(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all their kinds, in memory as in Redis; twice the same person is counted twice."""
    monkeypatch.setitem(limits.PER_MINUTE, limits.FRAMES, 3)
    monkeypatch.setitem(limits.PER_MINUTE, limits.MESSAGES, 1)
    message = frames.Message(id=uuid.uuid4(), text="Hello.")
    at_once = [
        (1, message),
        (2, frames.Ping()),
        (1, frames.Ping()),
        (1, message),
        (1, frames.Ping()),
    ]

    def count() -> tuple[list[bool], list[bool]]:
        return handshake.allow_all(at_once), handshake.allow_all([(2, message), (1, frames.Ping())])

    monkeypatch.setattr(time, "time", lambda: 61.0)
    expected = [True, True, True, False, False], [True, False]
    assert count() == expected
    assert handshake.allow_all([]) == []
    with redis_server() as url:
        settings.REDIS_URL = url
        assert count() == expected
        assert handshake.allow_all([]) == []


def test_processes_count_together_in_redis_and_alone_while_it_is_away(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(limits.PER_MINUTE, limits.JOINS, 2)
    with redis_server() as url:
        settings.REDIS_URL = url
        with Redis.from_url(url) as of_another:  # as another process has it
            of_another.incr("limit:joins:5:0")
            assert [limits.allow(limits.JOINS, 5, at=1.0) for _ in range(2)] == [True, False]
            assert 0 < int(str(of_another.ttl("limit:joins:5:0"))) <= 2 * limits.MINUTE
    assert [limits.allow(limits.JOINS, 5, at=1.0) for _ in range(3)] == [True, True, False]
    limits._failed_at.clear()
