"""The results page at several sizes: what it takes, and what the process that serves it holds.

    python -m tests.benchmarks.results_page [--conversations 1000 10000]

Prints seconds and megabytes: of the first page after a start; of the results page when nothing is
stored, until the numbers are there, and when they are stored; and the resident memory of the web
process after each. The child computes; nothing else runs in the web process. On an SQLite file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it is loaded where the process that serves is measured
    from django.test import Client

ROUNDS = 5
SERVE = "from tests.benchmarks.results_page import serve; serve()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--conversations", type=int, nargs="+", default=[1_000, 10_000])
    sizes = parser.parse_args().conversations
    print(f"load {os.getloadavg()[0]:.1f}")
    columns = (
        "first page s",
        "CPU s",
        "MB",
        "wait page s",
        "computed s",
        "stored s",
        "CPU s",
        "MB",
    )
    print(f"{'conversations':>14} " + " ".join(f"{name:>12}" for name in columns))
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "DEBUG": "1", "DATA_DIR": folder}
            environment["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
            environment.pop("DATABASE_URL", None)
            fill = f"from tests.benchmarks.results_page import fill; fill({size})"
            subprocess.run([sys.executable, "-c", fill], env=environment, check=True)
            told = subprocess.run(
                [sys.executable, "-c", SERVE], env=environment, check=True, stdout=subprocess.PIPE
            )
            print(f"{size:>14,} {told.stdout.decode().rstrip()}", flush=True)


def fill(size: int) -> None:
    """Make a campaign with this many rated conversations, four answers each."""
    import django

    django.setup()
    from django.db import transaction

    from tests.databases import migrate
    from tests.webapp.services import rated

    migrate()
    with transaction.atomic():
        rated.personachat(each=size // len(rated.QUALITY))


def serve() -> None:
    """Serve pages of that campaign and print what they took."""
    begun = time.perf_counter()
    from django.test import Client
    from django.urls import reverse

    import webapp.asgi  # noqa: F401 (what a server loads)
    from webapp.calculators import Calculators
    from webapp.models import Campaign, StoredResult

    client = Client(HTTP_HOST="localhost")
    client.get(reverse("login"))
    first = [time.perf_counter() - begun, time.process_time(), _megabytes()]
    from tests.factories import make_staff

    client.force_login(make_staff("benchmark"))
    campaign = Campaign.objects.get()
    calculators = Calculators()
    calculators.start()
    results = reverse("results", args=[campaign.pk])
    begun = time.perf_counter()
    assert client.get(results).status_code == 202
    waited = time.perf_counter() - begun
    while StoredResult.objects.filter(wanted_at__isnull=False).exists():
        time.sleep(0.05)
    computed = time.perf_counter() - begun
    row = StoredResult.objects.get()
    assert not row.problem, row.problem
    stored = [_once(client, results) for _ in range(ROUNDS)]
    calculators.stop()
    medians = [sorted(column)[ROUNDS // 2] for column in zip(*stored, strict=True)]
    found = [*first, waited, computed, *medians, _megabytes()]
    print(" ".join(f"{each:12.3f}" for each in found))


def _once(client: Client, address: str) -> tuple[float, float]:
    """Return the seconds and the CPU seconds that a page takes."""
    begun, cpu = time.perf_counter(), time.process_time()
    assert client.get(address).status_code == 200
    return time.perf_counter() - begun, time.process_time() - cpu


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
