"""Bots in a child process: the same answers, and nothing of it survives or is lost."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bots import Utterance
from webapp import inference
from webapp.pipes import Process

ROOT = Path(__file__).parents[2]
TURNS = [((), (Utterance("partner", f"This is {number}."),)) for number in range(3)]


@pytest.fixture
def child() -> Iterator[inference.Child]:
    child = inference.Child(patience=20)
    yield child
    child.close()


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Tell whether a process ended; one that nobody waited for has ended too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return state(pid) == "Z"


def state(pid: int) -> str:
    """Return the letter of a process's state in /proc, where there is one."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else ""


def unread(child: inference.Child) -> int:
    """Return the bytes that were sent to a child and not read by it."""
    assert child._pipe is not None
    assert child._pipe.process.stdin is not None
    told = fcntl.ioctl(child._pipe.process.stdin, termios.FIONREAD, bytes(4))
    return int.from_bytes(told, sys.byteorder)


def test_a_child_answers_as_this_process_does(child: inference.Child) -> None:
    here = inference.respond_here("parrot", {}, TURNS)
    there = child.respond("parrot", {}, TURNS)
    assert [reply.text for reply in there.replies] == [reply.text for reply in here.replies]
    assert there.version == here.version


def test_an_error_of_a_bot_is_told_and_the_child_goes_on(child: inference.Child) -> None:
    pid = None
    for _ in range(2):
        with pytest.raises(inference.BotFailed, match="parrot has no option 'colour'"):
            child.respond("parrot", {"colour": "red"}, TURNS)
        assert pid in (None, child.pid)
        pid = child.pid


def test_a_child_that_is_killed_while_it_answers_is_replaced(child: inference.Child) -> None:
    """R14: its batch is lost, which the caller is told; the next one goes to a new child."""
    child.respond("parrot", {}, TURNS)
    pid = child.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: state(pid) == "T")  # else it may read what comes before it stops
    problems: list[BaseException] = []

    def ask() -> None:
        try:
            child.respond("parrot", {}, TURNS)
        except inference.WorkerLost as lost:
            problems.append(lost)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: unread(child) > 0)
    os.kill(pid, signal.SIGKILL)
    asking.join(timeout=20)
    assert len(problems) == 1
    assert len(child.respond("parrot", {}, TURNS).replies) == 3
    assert child.pid != pid


def test_a_child_that_hangs_is_ended() -> None:
    """R13: nobody waits for a model without end."""
    child = inference.Child(patience=20)
    child.respond("parrot", {}, TURNS)
    child._patience = 0.2
    assert child.pid is not None
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(inference.WorkerLost):
        child.respond("parrot", {}, TURNS)
    child.close()


def test_a_closed_child_starts_no_more(child: inference.Child) -> None:
    child.respond("parrot", {}, TURNS)
    pid = child.pid
    assert pid is not None
    child.close()
    assert is_gone(pid)
    with pytest.raises(inference.WorkerLost):
        child.respond("parrot", {}, TURNS)


def test_a_child_that_is_closed_while_its_process_begins_ends_it() -> None:
    """Who closed it saw no process to end: the reply under way would have been waited for."""
    began: list[Process] = []

    def begin() -> Process:
        began.append(inference.begin_process())
        one.close()
        return began[0]

    one = inference.Child(begin=begin)
    with pytest.raises(inference.WorkerLost, match="the server is stopping"):
        one.respond("parrot", {}, TURNS)
    assert is_gone(began[0].pid)


def test_a_child_ends_with_its_parent_even_a_killed_one() -> None:
    program = (
        "import sys, time; from webapp import inference; child = inference.Child();"
        "child.respond('parrot', {}, [((), ())]); print(child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: is_gone(pid))


def test_a_child_gets_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """S9, S17."""
    monkeypatch.setenv("SECRET_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:password@host/name")
    assert {"SECRET_KEY", "DATABASE_URL"}.isdisjoint(inference._environment())


def test_an_error_of_the_device_means_that_the_process_must_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R14."""

    def broken(name: str, **options: object) -> object:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(inference, "get_bot", broken)
    with pytest.raises(inference.WorkerLost, match="illegal memory access"):
        inference.respond_here("parrot", {}, TURNS)


def test_which_bots_belong_in_a_child() -> None:
    assert inference.needs_own_process("profile_memory")
    assert not inference.needs_own_process("parrot")
    assert inference.needs_own_process("callable")
    assert inference.needs_own_process("checkpoint")
    assert inference.needs_own_process("sample_and_rank")  # what it wraps may be anything


def test_the_web_never_loads_torch() -> None:
    program = (
        "import sys, django; django.setup(); import webapp.asgi;"
        "from webapp import workers; assert 'torch' not in sys.modules"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings", "DEBUG": "1"}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, check=True)
