"""Torch bots, a chat server and a function through a real broker, with workers that are killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live import ROOT
from tests.servers import postgresql
from tests.trust.serving import BOTS, PEOPLE, SLOW, SLOW_BOTS

pytestmark = [pytest.mark.trust, pytest.mark.timeout(400)]
ROUNDS = ("calm", "one killed", "broker killed", "all killed", "one thread")
DURATION = re.compile(r"Task answer\[[^]]+\] succeeded in ([\d.]+)s")


def test_each_reply_comes_once_whatever_is_killed_and_tasks_last_as_long(tmp_path: Path) -> None:
    """R11, R12, R15: one installation, and rounds in which everybody writes once."""
    with postgresql() as database:
        made = subprocess.run(
            [sys.executable, "-m", "tests.trust.serving", str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = json.loads(made.stdout.splitlines()[-1])
    everybody = PEOPLE * len(BOTS)
    replies = everybody
    for name in ROUNDS:
        times = {bot: seconds for bot, seconds in found[name]["times"].items() if seconds}
        most = {bot: round(max(seconds), 1) for bot, seconds in times.items()}
        print(
            f"{name}: {found[name]['seconds']:.1f} s until all were there; from the message: {most}"
        )
        owed = sum(map(len, times.values()))
        replies += owed
        assert found[name]["shown"] == [1] * owed
        assert found[name]["replies"] == replies
    calm = found["calm"]
    assert max(calm["batches"]["seq2seq"]) > 1
    assert {size for bot in SLOW_BOTS for size in calm["batches"][bot]} == {1}
    assert min(seconds for bot in SLOW_BOTS for seconds in calm["times"][bot]) >= SLOW
    seen_by_celery(found["tasks"])
    tasks = [DURATION.findall(log.read_text()) for log in tmp_path.glob("worker*.log")]
    durations = [float(seconds) for log in tasks for seconds in log]
    print(f"tasks lasted {min(durations):.2f} to {max(durations):.2f} s")
    assert max(durations) >= SLOW
    assert found["lost hint"] < 2, "R11: nobody waits for a broker that is away"
    calls = [call for bot in SLOW_BOTS for call in found["one thread"]["calls"][bot]]
    assert max(began for began, _ in calls) < min(ended for _, ended in calls), (
        "a slow system whose task has a worker's only thread kept another one waiting"
    )
    assert found["ended"]["status"] == 0
    assert set(found["ended"]["left"]) <= {"QUEUED"}


def seen_by_celery(tasks: list[dict[str, Any]]) -> None:
    """Celery's own events, which Flower reads, tell each task's route and its real duration."""
    assert {task["bot"] for task in tasks} == set(BOTS)
    assert {task["state"] for task in tasks} == {"SUCCESS"}
    assert all(task["route"] == f"bot.{task['bot']}" for task in tasks)
    assert {task["worker"] for task in tasks} <= {"replies1@here", "replies2@here"}
    assert len([job for task in tasks for job in task["jobs"]]) == PEOPLE * len(BOTS)
    longest = {bot: max(each["runtime"] for each in tasks if each["bot"] == bot) for bot in BOTS}
    print(f"tasks as Celery's events have them: {longest}")
    assert all(longest[bot] > 0.9 * SLOW for bot in SLOW_BOTS)
