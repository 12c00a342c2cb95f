"""The reference client in a campaign of each protocol, on a server that this starts.

python -m tests.conformance.protocols PROTOCOL FOLDER    one of them, in a process of its own
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation import Screening
from evaluation.registry import protocol_names
from tests.live import ROOT, environment

if TYPE_CHECKING:
    from tests.simulate.campaign import Simulated
    from webapp.models import Campaign

CLIENT = ROOT / "docs" / "protocol" / "client.py"
PEOPLE = 6  # two for each of three bots, and three pairs
SECONDS = 240.0
WITHOUT_END = {"live_engagement"}  # people stop when they have had enough
NOBODY = "the study takes nobody now"
LINES, OUTCOMES = "clients.jsonl", "outcomes.txt"


def main(names: Sequence[str]) -> int:
    """Print a line per protocol; return 1 where the client did not complete one."""
    chosen = list(names) or protocol_names()
    failed = [name for name in chosen if not _is_completed(name)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} protocols completed by the client.")
    return int(bool(failed))


def _is_completed(name: str) -> bool:
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="parley-client-") as temporary:
        found = completed(name, Path(temporary))
    verdict = f"FAILED: {found.problem}" if found.problem else "completed"
    print(f"{name:28} {found}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    return not found.problem


@dataclass(frozen=True)
class Found:
    """What the clients of one protocol printed, how they ended, and what is missing."""

    clients: tuple[dict[str, Any], ...]
    outcomes: Mapping[str, int]
    problem: str

    def __str__(self) -> str:
        kinds = ("messages", "labels", "pages")
        sums = [f"{sum(line[kind] for line in self.clients)} {kind}" for kind in kinds]
        codes = sum(bool(line["code"]) for line in self.clients)
        ends = [f"{count} {outcome}" for outcome, count in sorted(self.outcomes.items())]
        return ", ".join([*ends, f"{codes} codes", *sums])


def completed(name: str, folder: Path) -> Found:
    """Let the client take part in a campaign of the protocol."""
    words = [sys.executable, "-m", "tests.conformance.protocols", name, str(folder)]
    result = subprocess.run(
        words, cwd=ROOT, env=environment(folder), capture_output=True, text=True, check=False
    )
    clients = tuple(json.loads(line) for line in _lines(folder / LINES))
    outcomes = Counter(_lines(folder / OUTCOMES))
    problems = [line["problem"] for line in clients if line["problem"]]
    # More come than there are places: on a busy machine one may come after everybody is done.
    late = [each for each in problems if NOBODY in each]
    if len(late) == 1:
        problems.remove(late[0])
    if result.returncode:
        problems += result.stderr.strip().splitlines()[-1:] or [f"status {result.returncode}"]
    if not outcomes["COMPLETED"] + outcomes["QUIT"] * (name in WITHOUT_END):
        problems.append("nobody completed it")
    if sum(bool(line["code"]) for line in clients) < outcomes["COMPLETED"]:
        problems.append("somebody who completed it has no code")
    return Found(clients, outcomes, "; ".join(problems[:2]))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


# --- in a process of its own --------------------------------------------------------------------


def visit(name: str, folder: Path) -> None:
    """Make a campaign of the protocol, and let the client take part until everybody has ended."""
    from django.contrib.auth import get_user_model

    from tests.databases import migrate
    from tests.servers import free_port
    from tests.simulate import campaign, files
    from webapp.management.demo import stage
    from webapp.services.accounts import projects
    from webapp.services.rules.access import Role

    migrate()
    staff = get_user_model().objects.create_superuser("conformance")
    projects.admit(account=staff, name="Conformance", roles=(Role.ADMINISTRATOR,))
    campaign.let_visit = let_clients_visit
    campaign.TALKERS_SHORT = campaign.TALKERS_WITH_BOTS = PEOPLE
    protocol = files.protocol(name)
    rate = protocol.after  # of those who judge conversations as a whole each judges all
    people = rate.votes if rate is not None and rate.over == "conversation" else PEOPLE
    with stage.Server(free_port()) as server:
        order = campaign.Simulated(
            base=server.base, folder=folder, people=people, seed=0, short=True, staff=staff
        )
        campaign.filled(protocol, order)


def let_clients_visit(
    campaign: Campaign, qualities: object, order: Simulated, *, prefix: str = "sim", **more: Any
) -> None:
    """Let the reference client take part in place of the crowd. Raises `CalledProcessError`."""
    words = [sys.executable, str(CLIENT), f"{order.base}/c/{campaign.slug}/"]
    words += ["--participations", str(order.people), "--name", prefix, "--seconds", str(SECONDS)]
    words += ["--answers", json.dumps(_right_answers(campaign))]
    words += ["--keep", str(order.folder / f"{campaign.pk}-{prefix}")]  # who comes again goes on
    with (order.folder / LINES).open("ab") as file:
        subprocess.run(words, stdout=file, check=False, timeout=SECONDS + 60)
    with (order.folder / OUTCOMES).open("a") as file:
        file.writelines(f"{one.outcome or one.state}\n" for one in campaign.participations.all())


def _right_answers(campaign: Campaign) -> Mapping[str, str]:
    """Return what the requester knows of the questions before the work."""
    from webapp.services.rules.protocols import protocol_of

    return {
        known.question: str(known.values[0])
        for step in protocol_of(campaign).admissions
        for known in (step.passes if isinstance(step, Screening) else step.answers)
    }


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    visit(sys.argv[1], Path(sys.argv[2]))
