"""What every test may need: settings that run anywhere, the shared data, a browser.

Django is set up here, because the settings need DEBUG=1 before anything reads them.
"""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import django
import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.cache import caches

from tests import servers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
os.environ.setdefault("DEBUG", "1")
# Most tests of pages are of other things than the self-test, which takes seconds.
os.environ.setdefault("RESULTS_SIMULATE", "0")
# Tests run side by side, and start processes: threads that wait for each other slow all of them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
SHARED_WEIGHTS = "PARLEY_TESTS_WEIGHTS"  # names the folder of what all processes of a run train
# The first has no window to draw, which is all that tests need.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
BROWSER_PATHS = ("/Applications/Chromium.app/Contents/MacOS/Chromium",)
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """The program named by CHROMIUM, else the first of the usual places."""
    named = os.environ.get("CHROMIUM")
    places = (named,) if named else (*BROWSERS, *BROWSER_PATHS)
    return next((found for place in places if (found := shutil.which(place))), None)


def pytest_configure(config: pytest.Config) -> None:
    django.setup()
    if not hasattr(config, "workerinput"):  # this process began those that share the work
        made = tempfile.TemporaryDirectory(prefix="parley-tests-")
        os.environ[SHARED_WEIGHTS] = made.name
        config.add_cleanup(made.cleanup)
    # A hash says its own number of rounds, so servers that tests start can check these as well.
    PBKDF2PasswordHasher.iterations = 1_000
    settings.WHITENOISE_AUTOREFRESH = True  # else each client of a test looks for every static file


@pytest.fixture(autouse=True)
def _new_minute() -> None:
    """Begin each test's counts anew: rows of different tests have the same numbers."""
    from webapp.services.participation import limits  # it needs Django set up

    for cache in caches.all(initialized_only=True):
        cache.clear()
    limits.own.clear()


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    if find_chromium() is not None:
        return
    skip = pytest.mark.skip(reason="no Chromium: install it, or set CHROMIUM to its path")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _same_rows() -> None:
    """Have factories make the same rows in every test: results of the same data are kept."""
    if (factories := sys.modules.get("tests.factories")) is not None:
        factories.restart()


def pytest_collectstart() -> None:
    gc.disable()  # until all is collected: what is imported is no garbage


def pytest_collection_finish() -> None:
    """Let no later search for garbage go through what was imported, and let it be seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.fixture(scope="session")
def django_db_keepdb(
    django_db_modify_db_settings: None, tmp_path_factory: pytest.TempPathFactory
) -> bool:
    """Have the tests' own database begin as a copy: so it is migrated once for all processes.

    It lies in a folder of this process, so that several runs at once do not disturb each other.
    """
    from django.db import connection

    from tests.databases import make_copy, put_copy

    if connection.vendor != "sqlite":
        return False
    file = tmp_path_factory.mktemp("database") / "test.sqlite3"
    connection.settings_dict["TEST"]["NAME"] = str(file)
    make_copy()
    return put_copy(file)


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """DATABASE_URL where it names PostgreSQL, else that of a server of our own."""
    named = os.environ.get("DATABASE_URL", "")
    if named.startswith("postgres"):
        yield named
        return
    with servers.postgresql() as url:
        yield url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """REDIS_URL where it is set, else that of a server of our own."""
    named = os.environ.get("REDIS_URL", "")
    if named:
        yield named
        return
    with servers.redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository; most clones do not have it."""
    if not SHARED.is_dir():
        pytest.skip("no folder shared/data beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    """How pytest-playwright starts the browser: the system's own, never a download.

    Its sync interface keeps an event loop running in the test's thread, where Django refuses
    database calls unless told that nothing else shares them.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    return {"executable_path": find_chromium(), "args": list(BROWSER_FLAGS), "headless": True}
