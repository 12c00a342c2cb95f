"""Every page of staff, and those of a participant, in a process that only serves pages.

    python -m tests.webapp.served_pages

Run with an empty DATA_DIR. Seeds a campaign elsewhere, looks at each page until nothing is computed
any more, by real children, and prints the statuses and which modules of HEAVY were loaded here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile

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
    """Make one row of everything, print the addresses of staff, and make ratings to compute."""
    from tests.webapp.services import rated
    from tests.webapp.views import conftest
    from tests.webapp.views.staff.addresses import addresses
    from tests.webapp.views.visiting import campaign_of
    from webapp.models import Campaign, System

    campaign: Campaign = conftest.campaign.__wrapped__()  # type: ignore[attr-defined]
    system = System.objects.get(campaign=campaign)
    print(json.dumps(list(addresses(campaign))))
    campaign_of(changes={"chat.minimum": [2]})
    for _ in range(3):
        rated.rate(campaign, system)


def main() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    seeded = subprocess.run(
        [sys.executable, "-c", SEED], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    found = json.loads(seeded.stdout.splitlines()[-1])
    import webapp.asgi  # noqa: F401 (what a server loads)

    told = {"statuses": _visited(found), "exported": _exported()}
    print(json.dumps(told | {"heavy": sorted(HEAVY & {*sys.modules})}))


def _exported() -> list[str]:
    """Return who is logged as taking an export that a child wrote, and the names of its files."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from webapp import exporters
    from webapp.models import AuditEntry, Campaign
    from webapp.services.rules import access

    of = access.campaign(
        get_user_model().objects.get(username="ann"), Campaign.objects.latest("pk").pk
    )
    exporters.start()
    with exporters.download(of=of, by="ann", now=timezone.now()) as file:
        names = zipfile.ZipFile(file).namelist()
    return [AuditEntry.objects.filter(action="exported").latest("number").actor, *names]


def _visited(found: list[str]) -> dict[str, int]:
    from django.test import Client

    from tests.factories import make_staff
    from tests.webapp.views.visiting import rating_visit
    from webapp.calculators import Calculators
    from webapp.models import Campaign, OwnProtocol, StoredResult

    client = Client(HTTP_HOST="localhost")
    client.force_login(ann := make_staff("ann"))
    OwnProtocol.objects.update(owner=ann)
    campaign = Campaign.objects.latest("pk")  # a participant's pages, to the last one
    rating = rating_visit(campaign, HTTP_HOST="localhost").get()
    assert "<fieldset" in rating.content.decode()
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
