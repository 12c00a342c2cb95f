"""What a web process imports before its first page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"pandas", "scipy", "torch", "transformers", "altair", "matplotlib", "statsmodels"}
# What only some installations or some pages need, and takes a tenth of a second and more each.
AT_FIRST_USE = {"celery", "cryptography", "httpx", "markdown_it", "pygments", "redis", "rich"}
START = f"""
import os, sys
import django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()
print([name for name in sys.modules if name.startswith("webapp.services.")])
import webapp.asgi
import webapp.urls
print(sorted({HEAVY | AT_FIRST_USE!r} & {{*sys.modules}}))
"""


def test_a_web_process_starts_without_statistics_and_models() -> None:
    """They take seconds and hundreds of megabytes; the views of results fetch what they need."""
    told = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, check=True
    )
    services, heavy = told.stdout.splitlines()
    assert services == "[]", "commands pay for them, and tests.mutation could not change them"
    assert heavy == "[]"


def test_a_web_process_that_showed_every_page_has_none_of_them_either(tmp_path: Path) -> None:
    """Results pages, live figures and downloads included: children computed them meanwhile."""
    environment = {**os.environ, "DEBUG": "1", "DATA_DIR": str(tmp_path)}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    told = subprocess.run(
        [sys.executable, "-m", "tests.webapp.served_pages"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = json.loads(told.stdout.splitlines()[-1])
    assert len(found["statuses"]) > 40
    results = {at: status for at, status in found["statuses"].items() if "/results" in at}
    assert {status for at, status in results.items() if at.endswith(("/", ".pdf", ".json"))} >= {
        200
    }
    assert 202 not in found["statuses"].values()
    assert [at for at, status in found["statuses"].items() if status >= 500] == []
    assert found["exported"][0] == "ann"
    assert {"messages.csv", "ratings.parquet", "manifest.json"} <= {*found["exported"]}
    assert found["heavy"] == []
