"""A rolling restart under people who write all the while: who is refused, parted, or kept waiting.

    python -m tests.trust.rolling --people 40
    python -m tests.trust.rolling --people 12 --former

Two web processes behind nginx, on PostgreSQL and Redis, and a sweeper; pairs write through sockets
and one person in four over plain HTTP. In the middle `script/roll` restarts both processes. Prints
JSON; exits 1 where a request was refused, a message lost or doubled, or a pair parted (R41).

With --former the code of the commit before the newest migration (or of a commit that is named)
serves first, on its own tables; under people who write the present one migrates, then takes over.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import websockets

from tests import live, servers
from tests.trust import proxy
from tests.trust.outages import connect
from webapp.crowd.page import read

PATIENCE = 60.0
AGAIN = 0.2  # seconds until a browser that lost its socket tries again


@dataclass
class Found:
    """What the clients saw: acknowledged ids, when each was sent and how long it took, refusals."""

    acks: list[tuple[float, float]] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    moved: int = 0  # sockets that were closed with 1001

    def take(self, frame: Mapping[str, Any], item: str, sent: float) -> None:
        """Note the answer to a message; who is not in turn writes another one later."""
        if frame["type"] == "ack":
            self.stored.append(item)
            self.acks.append((sent, time.monotonic() - sent))
        elif frame.get("code") != "not_your_turn":
            self.refusals.append(repr(frame))


@dataclass
class Web:
    """A web process that is started again whenever it ends, as systemd does."""

    port: int
    folder: Path
    env: Mapping[str, str]
    code: Path  # of its first start; the later ones are of the present code
    is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def pid(self) -> Path:
        return self.folder / f"{self.port}.pid"

    def keep_running(self) -> None:
        words = ["webapp.asgi:application", "--port", str(self.port), "--no-access-log"]
        limits = ["--ws-max-size", "65536", "--ws-per-message-deflate", "false"]
        command = [sys.executable, "-m", "uvicorn", *words, *limits, "--log-level", "warning"]
        command += ["--timeout-graceful-shutdown", "10"]
        code = self.code
        while not self.is_over.is_set():
            with (self.folder / f"{self.port}.log").open("ab") as log:
                process = subprocess.Popen(command, cwd=code, env=self.env, stderr=log)
                code = live.ROOT
                self.pid.write_text(str(process.pid))
                while process.poll() is None and not self.is_over.wait(0.05):
                    pass
        process.terminate()
        process.wait(PATIENCE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--pause", type=float, default=2.5, help="seconds between two messages")
    parser.add_argument("--around", type=float, default=10.0, help="seconds before and after")
    parser.add_argument("--late", type=float, default=0.0, help="seconds until nginx rereads")
    parser.add_argument("--former", nargs="?", const="", metavar="COMMIT", help="serves first")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and so end what was started
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        env = live.environment(
            folder,
            DATABASE_URL=stack.enter_context(servers.postgresql(connections=200)),
            REDIS_URL=stack.enter_context(servers.redis_server()),
        )
        code = live.ROOT if wanted.former is None else stack.enter_context(former(wanted.former))
        study = _seed(code, env, wanted.people // 2 * 2)
        before = _migrations(env)
        ports = [servers.free_port(), servers.free_port()]
        stack.enter_context(_served(folder, env, ports, code))
        nginx = stack.enter_context(proxy.running(folder, ports))
        roll = _roll(folder, ports, nginx, wanted.late)
        found = asyncio.run(_measure(wanted, study, nginx, roll, env))
        found["migrated"] = _migrations(env) - before
    print(json.dumps(found))
    return 1 if any(found[name] for name in ("refused", "lost", "doubled", "torn")) else 0


@contextlib.contextmanager
def former(commit: str) -> Iterator[Path]:
    """Check out a commit beside this tree: by default the one before the newest migration."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "former"
        _git("worktree", "add", "--quiet", "--detach", str(place), commit or "HEAD")
        try:
            if not commit:
                _before_the_newest_migration(place)
            yield place
        finally:
            _git("worktree", "remove", "--force", str(place))


def _before_the_newest_migration(place: Path) -> None:
    """Check that commit out; one that merges are not done with migrates nothing, and is passed."""
    for newest in _git("rev-list", "--first-parent", "HEAD", "--", "webapp/migrations").split():
        _git("-C", str(place), "checkout", "--quiet", "--detach", f"{newest}^")
        plan = [sys.executable, "manage.py", "migrate", "--plan", "--skip-checks"]
        env = {**os.environ, "DEBUG": "1", "DATABASE_URL": "sqlite://:memory:"}
        if subprocess.run(plan, cwd=place, env=env, stdout=sys.stderr, check=False).returncode == 0:
            return
    raise SystemExit("no commit before the newest migration can be migrated")


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=live.ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def _seed(code: Path, env: Mapping[str, str], people: int) -> live.Study:
    """Migrate and fill the database as the code that serves first does."""
    words = ["tests.live", "seed", json.dumps({"people": people, "bot": "people"})]
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=code, env=env, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return live.Study(found["slug"], tuple(found["secrets"]))


def _migrations(env: Mapping[str, str]) -> int:
    with psycopg.connect(env["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT count(*) FROM django_migrations").fetchone()
    return int(row[0]) if row else 0


@contextlib.contextmanager
def _served(
    folder: Path, env: Mapping[str, str], ports: Sequence[int], code: Path
) -> Iterator[None]:
    webs = [Web(port, folder, env, code) for port in ports]
    threads = [threading.Thread(target=web.keep_running) for web in webs]
    sweeper = subprocess.Popen([sys.executable, "manage.py", "sweep"], cwd=code, env=env)
    try:
        for thread in threads:
            thread.start()
        for port in ports:
            live.wait_for_port(port)
        yield
    finally:
        for web in webs:
            web.is_over.set()
        sweeper.terminate()
        sweeper.wait(PATIENCE)
        for thread in threads:
            thread.join(PATIENCE)


def _roll(folder: Path, ports: Sequence[int], nginx: proxy.Proxy, late: float) -> list[str]:
    """Return the command, with what this machine has in place of systemd."""
    reload = f"(sleep {late}; {nginx.reload}) &" if late else nginx.reload
    pid = shlex.quote(str(folder)) + "/{port}.pid"
    again = f'while [ "$(cat {pid})" = "$old" ]; do sleep 0.05; done'
    return [
        *(sys.executable, "script/roll", *map(str, ports), "--upstream", str(nginx.upstream)),
        *("--reload", reload, "--drain", f"kill -USR1 $(cat {pid})"),
        *("--restart", f"old=$(cat {pid}); kill $old; {again}"),
    ]


async def _measure(
    wanted: argparse.Namespace,
    study: live.Study,
    nginx: proxy.Proxy,
    command: list[str],
    env: dict[str, str],
) -> dict[str, Any]:
    found, is_over = Found(), asyncio.Event()
    people = [
        asyncio.create_task(_person(number, study, nginx.port, wanted.pause, found, is_over))
        for number in range(len(study.secrets))
    ]
    await asyncio.sleep(wanted.around)
    began = time.monotonic()
    await asyncio.to_thread(connect, env)  # which migrates, under those who write
    roll = await asyncio.create_subprocess_exec(*command, cwd=live.ROOT, stdout=sys.stderr)
    status = await roll.wait()
    ended = time.monotonic()
    assert status == 0, "script/roll failed"
    await asyncio.sleep(wanted.around)
    is_over.set()
    await asyncio.gather(*people)
    during = [took for sent, took in found.acks if began <= sent + took and sent <= ended]
    otherwise = [took for sent, took in found.acks if sent + took < began or sent > ended]
    return {
        "people": len(people),
        "refused": found.refusals,
        **await asyncio.to_thread(_stored, found.stored),
        "acknowledged": len(found.stored),
        "sockets moved": found.moved,
        "roll s": round(ended - began, 1),
        "during": _times(during),
        "otherwise": _times(otherwise),
    }


def _times(took: list[float]) -> dict[str, float]:
    p95 = statistics.quantiles(took, n=20, method="inclusive")[-1] if len(took) > 1 else 0.0
    return {"messages": len(took), "p95 s": round(p95, 3), "max s": round(max(took, default=0), 3)}


def _stored(acknowledged: list[str]) -> dict[str, int]:
    from webapp.models import Conversation, Event, Participation

    rows = Event.objects.filter(kind="message", client_id__isnull=False)
    ids = [str(each) for each in rows.values_list("client_id", flat=True)]
    parted = Participation.objects.exclude(state=Participation.State.CHATTING).count()
    return {
        "lost": len({*acknowledged} - {*ids}),
        "doubled": len(ids) - len({*ids}),
        "torn": parted + Conversation.objects.exclude(state="OPEN").count(),
    }


async def _person(
    number: int,
    study: live.Study,
    port: int,
    pause: float,
    found: Found,
    is_over: asyncio.Event,
) -> None:
    cookie = f"parley-{study.slug}={study.secrets[number]}"
    base = f"127.0.0.1:{port}"
    await asyncio.sleep(pause * number / len(study.secrets))
    write = _over_http if number % 4 == 3 else _over_sockets
    async with asyncio.timeout(600):
        await write(base, study.slug, cookie, pause, found, is_over)


async def _over_http(
    base: str, slug: str, cookie: str, pause: float, found: Found, is_over: asyncio.Event
) -> None:
    """Write by forms of JSON; every request has to be answered."""
    tab = str(uuid.uuid4())
    async with httpx.AsyncClient(base_url=f"http://{base}", timeout=PATIENCE) as browser:
        for pair in cookie.split("; "):
            browser.cookies.set(*pair.split("=", 1))
        page = read((await browser.get(f"/c/{slug}/now")).text)
        path = f"/c/{slug}/frames?conversation={page.key}&version=2"
        headers = {"X-CSRFToken": page.token, "X-Tab": tab, "Accept": "application/json"}
        while not is_over.is_set():
            frame = {"type": "message", "id": str(uuid.uuid4()), "text": "I write by forms."}
            sent = time.monotonic()
            try:
                answer = await _ask(browser, "POST", path, headers=headers, json=frame)
                await _ask(browser, "GET", f"/c/{slug}/now")
            except httpx.HTTPError as problem:
                found.refusals.append(repr(problem))
            else:
                answers = [each for each in answer.json()["frames"] if each["type"] != "event"]
                frames = {each.get("id"): each for each in answers}
                found.take(frames[frame["id"]], frame["id"], sent)
            await asyncio.sleep(pause)


async def _ask(browser: httpx.AsyncClient, method: str, path: str, **options: Any) -> Any:
    """Ask as a browser does: once more where the proxy closed a kept connection as it was used.

    RFC 9112, section 9.3.1: a client may repeat what was sent to a connection that ended so. One
    that was made for the request has to answer.
    """
    made: list[str] = []

    async def note(event: str, _info: object) -> None:
        made.extend([event] * (event == "connection.connect_tcp.started"))

    options["extensions"] = {"trace": note}
    try:
        answer = await browser.request(method, path, **options)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        if made:
            raise
        answer = await browser.request(method, path, **options)
    answer.raise_for_status()
    return answer


async def _over_sockets(
    base: str, slug: str, cookie: str, pause: float, found: Found, is_over: asyncio.Event
) -> None:
    """Write through a socket, and through the next one when it is closed, as a browser does."""
    async with httpx.AsyncClient(base_url=f"http://{base}", timeout=PATIENCE) as browser:
        page = read((await browser.get(f"/c/{slug}/now", headers={"Cookie": cookie})).text)
    address = f"ws://{base}/c/{slug}/socket?conversation={page.key}&version=2"
    tab, waiting, last = str(uuid.uuid4()), list[tuple[str, float]](), 0
    while not is_over.is_set():
        try:
            async with websockets.connect(
                address,
                origin=f"http://{base}",  # type: ignore[arg-type]
                additional_headers={"Cookie": cookie},
                compression=None,
                open_timeout=PATIENCE,
            ) as socket:
                hello = {"type": "hello", "last_seq": last, "tab": tab}
                await socket.send(json.dumps(hello))
                await _write(socket, waiting, pause, found, is_over)
        except websockets.ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else None
            found.moved += code == 1001
            if code != 1001:
                found.refusals.append(f"closed with {code}")
        except (OSError, websockets.InvalidHandshake) as problem:
            found.refusals.append(repr(problem))
        await asyncio.sleep(AGAIN)


async def _write(
    socket: websockets.ClientConnection,
    waiting: list[tuple[str, float]],
    pause: float,
    found: Found,
    is_over: asyncio.Event,
) -> None:
    """Send what waits again, then a message after each pause, until each was acknowledged."""
    due = time.monotonic() + (0 if not waiting else pause)
    for item, _ in waiting:
        await socket.send(_message(item))
    while waiting or not is_over.is_set():
        if time.monotonic() >= due and not waiting:
            waiting.append((str(uuid.uuid4()), time.monotonic()))
            await socket.send(_message(waiting[0][0]))
            due = time.monotonic() + pause
        with contextlib.suppress(TimeoutError):
            frame = json.loads(await asyncio.wait_for(socket.recv(), 0.1))
            is_answer = frame["type"] in ("ack", "refused")  # one's own entry has the id as well
            if is_answer and waiting and frame["id"] == waiting[0][0]:
                found.take(frame, *waiting.pop())


def _message(item: str) -> str:
    return json.dumps({"type": "message", "id": item, "text": "Do you still hear me?"})


if __name__ == "__main__":
    sys.exit(main())
