"""What a web process imports before its first page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.urls import clear_url_caches, get_resolver
from django.urls.resolvers import RegexPattern, URLResolver
from django.utils import translation

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
from django.urls import get_resolver
print(*sorted(get_resolver()._reverse_dict))
"""


def test_a_web_process_starts_without_statistics_and_models() -> None:
    """They take seconds and hundreds of megabytes; the views of results fetch what they need."""
    told = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, check=True
    )
    services, heavy, languages = told.stdout.splitlines()
    assert services == "[]", "commands pay for them, and tests.mutation could not change them"
    assert heavy == "[]"
    assert languages.split() == sorted(code for code, _name in settings.LANGUAGES)


def served(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python as an embedded server is run, with a database in the folder."""
    environment = {**os.environ, "DEBUG": "1", "DATA_DIR": str(folder)}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )


def test_a_web_process_that_showed_every_page_has_none_of_them_either(tmp_path: Path) -> None:
    """Results pages, live figures and downloads included: children computed them meanwhile."""
    told = served(tmp_path, "-m", "tests.webapp.served_pages")
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


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_addresses_are_listed_before_the_first_page_as_django_lists_them(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from webapp import asgi

    clear_url_caches()
    asgi.know_addresses()
    known: Any = get_resolver()
    own: Any = URLResolver(RegexPattern(r"^/"), settings.ROOT_URLCONF)
    with translation.override(language):
        wanted = (own.reverse_dict, own.namespace_dict, own.app_dict)
        monkeypatch.setattr(known, "_populate", None)  # nobody lists them again
        assert (known.reverse_dict, known.namespace_dict, known.app_dict) == wanted
    assert len(wanted[0]) > 100
    assert language in own._reverse_dict


LIVES = """
import asyncio, gc
import webapp.asgi
from tests.databases import migrate
migrate()
async def live():
    inbox, sent = asyncio.Queue(), []
    async def send(message):
        sent.append(message)
        if message["type"] == "lifespan.startup.complete":
            print(gc.get_freeze_count(), gc.get_threshold()[2])
            inbox.put_nowait({"type": "lifespan.shutdown"})
    inbox.put_nowait({"type": "lifespan.startup"})
    await webapp.asgi.application({"type": "lifespan"}, inbox.get, send)
asyncio.run(live())
"""


def test_a_search_for_garbage_leaves_out_what_a_server_began_with(tmp_path: Path) -> None:
    """A search of all stops every thread: what never goes is not searched, the rest rarely."""
    told = served(tmp_path, "-c", LIVES)
    frozen, oldest = map(int, told.stdout.split()[-2:])
    assert frozen > 50_000  # modules, classes and functions of Django and ours
    assert oldest > 10  # as Python has it
