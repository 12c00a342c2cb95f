"""A real server in a process of its own, with people who already chat, and a client for them.

python -m tests.live '{"people": 2}'    seeds the database that the environment names
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.servers import free_port

ROOT = Path(__file__).parents[1]
PATIENCE = 30.0  # seconds for whatever is waited for
STARTS = 120.0  # seconds in which a server listens: others may want the processor, too


@dataclass
class Server:
    """One `manage.py serve`; it can be killed and started again on the same port."""

    env: Mapping[str, str]
    port: int = field(default_factory=free_port)
    faults: str = ""  # of tests.trust.faults, which the server is started with
    process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        program = ["-m", "tests.trust.sabotage", self.faults, "manage"]
        words = ["serve", "--port", str(self.port)]
        command = [sys.executable, *(program if self.faults else ["manage.py"]), *words]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.env, stdout=subprocess.DEVNULL, start_new_session=True
        )
        wait_for_port(self.port, self.process)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE)
            self.process = None


def wait_for_port(port: int, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a server listens, which the process is to do."""
    deadline = time.monotonic() + STARTS
    while not _answers(port):
        assert process is None or process.poll() is None, "the server ended at once"
        assert time.monotonic() < deadline, "the server does not answer"
        time.sleep(0.05)


def _answers(port: int) -> bool:
    """Tell whether the server listens: it does so once it has started everything."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@dataclass(frozen=True)
class Study:
    """A seeded campaign: its address, and the cookie secrets of those who chat."""

    slug: str
    secrets: tuple[str, ...]


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Return the environment of a server whose database and files are in this folder."""
    kept = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL"}}
    return {**kept, "DEBUG": "1", "DATA_DIR": str(folder), **changes}


def seed(env: Mapping[str, str], **wanted: Any) -> Study:
    """Seed the database of this environment."""
    found = elsewhere(env, "seed", **wanted)
    return Study(found["slug"], tuple(found["secrets"]))


def elsewhere(env: Mapping[str, str], what: str, **wanted: Any) -> Any:
    """Do something in a process of its own, of which no hint reaches the server."""
    command = [sys.executable, "-m", "tests.live", what, json.dumps(wanted)]
    result = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


@contextmanager
def serving(
    folder: Path, wanted: Mapping[str, Any], *, faults: str = "", **changes: str
) -> Iterator[tuple[Server, Study]]:
    """Migrate, seed and serve; the server is ended at the end."""
    env = environment(folder, **changes)
    study = seed(env, **wanted)
    server = Server(env, faults=faults)
    server.start()
    try:
        yield server, study
    finally:
        server.kill(signal.SIGTERM)


class Client:
    """One browser tab: sends, waits, and keeps what it was shown."""

    def __init__(self, server: Server, study: Study, number: int = 0, tab: str = "") -> None:
        self.server, self.slug = server, study.slug
        self.cookie = f"parley-{study.slug}={study.secrets[number]}"
        self.tab = tab or str(uuid4())
        self.query = "version=2"  # of a page's addresses
        self.frames: list[dict[str, Any]] = []
        self.socket: Any = None

    async def connect(self, **changes: Any) -> Client:
        import websockets  # not for those who only seed

        options: dict[str, Any] = {
            "origin": f"http://{self.server.host}",
            "additional_headers": {"Cookie": self.cookie},
            "compression": None,
        }
        address = f"ws://{self.server.host}/c/{self.slug}/socket?{self.query}"
        self.socket = await websockets.connect(address, **{**options, **changes})
        return self

    async def hello(self, last_seq: int = 0) -> Client:
        await self.send(type="hello", last_seq=last_seq, tab=self.tab)
        await self.until(lambda frame: frame["type"] == "ready")
        return self

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def until(self, found: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """Read until a frame is found; returns it."""
        async with asyncio.timeout(seconds):
            while True:
                frame: dict[str, Any] = json.loads(await self.socket.recv())
                self.frames.append(frame)
                if found(frame):
                    return frame

    async def send_message(self, text: str, item: str = "") -> str:
        item = item or str(uuid4())
        await self.send(type="message", id=item, text=text)
        return item

    async def reply(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """Read until the partner's next message."""
        return await self.until(is_reply, seconds)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What was shown, in the order in which it came."""
        return [
            (frame["side"], frame["text"])
            for frame in self.frames
            if frame.get("kind") == "message"
        ]

    async def close(self) -> None:
        await self.socket.close()


def is_reply(frame: Mapping[str, Any]) -> bool:
    return frame.get("kind") == "message" and frame["side"] == "partner"


def _seed(
    protocol: str = "personachat_bot",
    bot: str = "parrot",
    options: dict[str, Any] | None = None,
    people: int = 1,
    free: int = 1,
    pace: float = 0.0,
    reply_seconds: int = 60,
    languages: tuple[str, ...] = ("en",),
    changes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    from django.utils import timezone

    from tests.databases import migrate
    from tests.factories import make_campaign, make_participation, make_staff
    from webapp.services.conversation import opening
    from webapp.services.rules import access

    migrate()
    now = timezone.now()
    campaign = make_campaign(
        protocol,
        owner=make_staff(
            f"staff {access.new_secret()[:8]}"
        ),  # one database is seeded several times
        systems={"alpha": bot},
        target=people + free,
        changes=({"chat.pace": pace} if protocol == "personachat_bot" else {}) | (changes or {}),
        reply_seconds=reply_seconds,
        languages=list(languages),
    )
    system = campaign.systems.get()
    system.options = options or {}
    system.save()
    secrets = [access.new_secret() for _ in range(people)]
    seated = [
        make_participation(
            campaign,
            secret_hash=access.secret_hash(secret),
            state="MATCHED" if bot == "people" else "READY",
            seen_at=now,
            state_at=now,
        )
        for secret in secrets
    ]
    if bot == "people":
        for first, second in zip(seated[::2], seated[1::2], strict=True):
            opening.open_with_person(first=first, second=second, system=system, now=now)
    for person in seated:
        if bot == "people":
            opening.meet(person=person, now=now)
        else:
            opening.open_with_bot(person=person, system=system, now=now)
    return {"slug": campaign.slug, "secrets": secrets}


def _send(secret: str, text: str) -> int:
    from django.utils import timezone

    from webapp.models import Participation
    from webapp.services.conversation import chat
    from webapp.services.rules import access

    person = Participation.objects.get(secret_hash=access.secret_hash(secret))
    return chat.send_message(person=person, client_id=uuid4(), text=text, now=timezone.now()).seq


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    commands: dict[str, Callable[..., object]] = {"seed": _seed, "send": _send}
    print(json.dumps(commands[sys.argv[1]](**json.loads(sys.argv[2]))))
