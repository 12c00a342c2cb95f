"""Every page of staff, in a process that serves pages alone; run with an empty DATA_DIR.

    python -m tests.webapp.served_pages

Seeds a campaign elsewhere, looks at each page until nothing is computed any more, by real children,
and prints the statuses and which modules of HEAVY were loaded here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

HEAVY = {
    *("altair", "krippendorff", "matplotlib", "pandas", "pyarrow", "scipy", "statsmodels"),
    *("torch", "transformers"),
}
SEED = """
import django; django.setup()
from tests.databases import migrate; migrate()
from tests.webapp.served_pages import seed; seed()
"""


def seed() -> None:
    """Make one row of everything that addresses of staff name, and ratings to compute."""
    from tests.webapp.services import rated
    from tests.webapp.views import conftest
    from webapp.models import Campaign, System

    campaign: Campaign = conftest.campaign.__wrapped__()  # type: ignore[attr-defined]
    system = System.objects.get(campaign=campaign)
    for _ in range(3):
        rated.rate(campaign, system)


def main() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    subprocess.run([sys.executable, "-c", SEED], env=environment, check=True)
    import webapp.asgi  # noqa: F401 (what a server loads)

    print(json.dumps({"statuses": _visited(), "heavy": sorted(HEAVY & {*sys.modules})}))


def _visited() -> dict[str, int]:
    from django.test import Client

    from tests.factories import make_staff
    from tests.webapp.views.staff.addresses import addresses
    from webapp.calculators import Calculators
    from webapp.models import Campaign, StoredResult

    client = Client(HTTP_HOST="localhost", raise_request_exception=True)
    client.force_login(make_staff("ann"))
    found = list(addresses(Campaign.objects.earliest("pk")))
    calculators, pause = Calculators(), threading.Event()
    calculators.start()
    statuses = {each: client.get(each).status_code for each in found}
    while StoredResult.objects.filter(wanted_at__isnull=False).exists():
        pause.wait(0.2)
    calculators.stop()
    waited = [each for each, status in statuses.items() if status == 202]
    return statuses | {each: client.get(each).status_code for each in waited}


if __name__ == "__main__":
    main()
