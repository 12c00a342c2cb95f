"""A torch bot, a chat server and a function through a real broker, with workers that are killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import ROOT
from tests.servers import postgresql, redis_server
from tests.trust.serving import BOTS, PEOPLE, SLOW

pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]
DURATION = re.compile(r"Task answer\[[^]]+\] succeeded in ([\d.]+)s")


def test_each_reply_comes_once_whatever_is_killed_and_tasks_last_as_long(tmp_path: Path) -> None:
    """R11, R12, R15: one installation, and rounds in which everybody writes once."""
    with redis_server() as broker, postgresql() as database:
        made = subprocess.run(
            [sys.executable, "-m", "tests.trust.serving", str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database, "REDIS_URL": broker},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = json.loads(made.stdout.splitlines()[-1])
    everybody = PEOPLE * len(BOTS)
    for number, name in enumerate(("calm", "one killed", "all killed"), start=2):
        most = {bot: round(max(times), 1) for bot, times in found[name]["times"].items()}
        print(
            f"{name}: {found[name]['seconds']:.1f} s until all were there; from the message: {most}"
        )
        assert found[name]["shown"] == [1] * everybody
        assert found[name]["replies"] == number * everybody
    calm = found["calm"]
    assert max(calm["batches"]["seq2seq"]) > 1
    assert set(calm["batches"]["chat_server"] + calm["batches"]["callable"]) == {1}
    assert min(calm["times"]["chat_server"] + calm["times"]["callable"]) >= SLOW
    tasks = [DURATION.findall(log.read_text()) for log in tmp_path.glob("worker*.log")]
    durations = [float(seconds) for log in tasks for seconds in log]
    print(f"tasks lasted {min(durations):.2f} to {max(durations):.2f} s")
    assert max(durations) >= SLOW
    assert found["ended"]["status"] == 0
    assert set(found["ended"]["left"]) <= {"QUEUED"}
