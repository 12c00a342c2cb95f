"""A warm process that runs tests of a tree, each request in a fork that imports the tree anew.

    python -P tests/mutation/warm.py            with the tree as the working directory

Importing Django, pandas and the rest takes longer than most tests. Here it is done once; a fork
then imports only the tree's own modules, which the caller may have changed between two requests.
Requests and answers are lines of JSON:

    {"do": "load", "tests": [...]}              -> {"loaded": 1234}
    {"do": "run", "tests": [...], "seconds": 9} -> {"outcome": "passed", "test": "", "seconds": 1.2}
    {"do": "trace", "tests": [...], "files": [...], "seconds": 99}
        -> {"outcome": "passed", ..., "touched": {test: {"seconds": 0.1, "lines": {file: [3, 4]}}}}

An outcome is passed, failed or timeout. The standard library is all that is imported before `load`.

Long because it runs by itself and imports nothing of the tree that it changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

Reply = dict[str, Any]
ROOT = Path.cwd()
LOG = ROOT / "var" / "log"  # what the last fork wrote
TEMPLATE = ROOT / "var" / "template.sqlite3"  # the empty, migrated database
# Plugins are imported before a fork; nothing of them needs rewritten assertions.
NO_REWRITING = "ignore::pytest.PytestAssertRewriteWarning"
# A fork has a deadline of its own, and tests that are traced take several times as long.
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-W", NO_REWRITING, "--timeout=0")
WITHOUT_SLOW = ("-m", "not slow")  # as `script/test` runs them
LONGEST = 600.0  # seconds that loading may take


def fork(work: Callable[[], Reply], seconds: float) -> Reply:
    """Return what `work` returns in a fork, which is killed when it takes too long."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(read)
        try:  # whatever happens, nothing of the parent's goes on in here
            _be_silent()
            with os.fdopen(write, "w") as out:
                out.write(json.dumps(work()))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(0)
    os.close(write)
    return _await(child, read, time.monotonic() + seconds)


def _be_silent() -> None:
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (0, 1, 2):
        os.dup2(log, number)
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull), os.fdopen(1, "w"), os.fdopen(2, "w")  # noqa: SIM115 (until the end)


def _await(child: int, read: int, deadline: float) -> Reply:
    parts: list[bytes] = []
    with contextlib.closing(os.fdopen(read, "rb", buffering=0)) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            part = pipe.read(1 << 20)
            if not part:
                break
            parts.append(part)
        else:
            parts = [b'{"outcome": "timeout", "test": ""}']
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):  # what it started and left behind
        os.killpg(child, signal.SIGKILL)
    reply: Reply = json.loads(b"".join(parts) or b'{"outcome": "failed", "test": "(crashed)"}')
    return reply | {"log": LOG.read_text(errors="replace")[-3000:]}


# --- inside a fork


def collect(tests: Sequence[str]) -> Reply:
    """Import what the tests import, make the database, and say what came from other places."""
    import pytest

    sys.dont_write_bytecode = False  # the forks to come read what this one compiles
    code = pytest.main(["--collect-only", "-q", *tests])
    foreign = [
        name
        for name, module in sys.modules.items()
        if (file := getattr(module, "__file__", None)) and not _is_ours(file)
    ]
    if _has_django():
        _make_database()
    return {"code": int(code), "foreign": foreign}


def _is_ours(file: str) -> bool:
    return file.startswith(f"{ROOT}{os.sep}") and f"{os.sep}.venv{os.sep}" not in file


def _has_django() -> bool:
    return (ROOT / "webapp" / "settings.py").exists()


def _make_database() -> None:
    from django.db import connection
    from django.test.utils import setup_databases

    setup_databases(verbosity=0, interactive=False)
    made = connection.settings_dict["NAME"]
    connection.close()
    shutil.copy(made, TEMPLATE)


def run(tests: Sequence[str], files: Sequence[str] = ()) -> Reply:
    """Run tests until one fails, in the order given; with `files`, note which lines each runs."""
    import pytest

    began = time.monotonic()
    plugin = _Plugin(tests, files)
    code = pytest.main([*OPTIONS, *WITHOUT_SLOW, *tests], plugins=[plugin])
    failed = plugin.failed or ("" if code == 0 else f"(exit {int(code)})")
    return {
        "outcome": "failed" if failed else "passed",
        "test": failed,
        "seconds": round(time.monotonic() - began, 2),
        "touched": plugin.touched,
    }


class _Plugin:
    """The order of the tests, the first that fails, a database of its own, and the lines run."""

    def __init__(self, tests: Sequence[str], files: Sequence[str]) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.names = {str(ROOT / file): file for file in files}
        self.failed = ""
        self.touched: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, set[int]] = defaultdict(set)

    def pytest_configure(self, config: Any) -> None:
        if TEMPLATE.exists():  # registered here to come after pytest-django's fixture of the name
            config.pluginmanager.register(_own_database())

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self.order.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtest_protocol(self, item: Any) -> None:
        self._end()
        self.current, self.began = item.nodeid, time.monotonic()
        if self.names:
            threading.settrace(self._called)
            sys.settrace(self._called)

    def pytest_runtest_logfinish(self) -> None:
        sys.settrace(None)
        threading.settrace(None)
        self._end()

    def _end(self) -> None:
        if self.lines:
            lines = {file: sorted(numbers) for file, numbers in self.lines.items()}
            seconds = round(time.monotonic() - self.began, 3)
            self.touched[self.current] = {"seconds": seconds, "lines": lines}
            self.lines.clear()

    def _called(self, frame: FrameType, event: str, value: object) -> Any:
        file = self.names.get(frame.f_code.co_filename)
        return None if file is None else self._tracer(self.lines[file])

    def _tracer(self, lines: set[int]) -> Any:
        def trace(frame: FrameType, event: str, value: object) -> Any:
            lines.add(frame.f_lineno)
            return trace

        return trace


def _own_database() -> object:
    import pytest

    class Database:
        @pytest.fixture(scope="session")
        def django_db_setup(self, django_db_blocker: Any) -> Iterator[None]:
            from django.db import connection

            own = str(ROOT / "var" / "mutant.sqlite3")
            shutil.copy(TEMPLATE, own)
            with django_db_blocker.unblock():
                connection.close()
                connection.settings_dict["NAME"] = own
                yield
                connection.close()

    return Database()


# --- the process itself


def load(tests: Sequence[str]) -> Reply:
    """Import here what the tests import from other places than the tree."""
    found = fork(lambda: collect(tests), LONGEST)
    if found.get("code") != 0:
        return {"loaded": 0, "problem": found.get("log", str(found))}
    loaded = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if _has_django():
            os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
            import django

            django.setup()
        for name in found["foreign"]:
            with contextlib.suppress(Exception):  # a plugin of a process that is not ours to be
                __import__(name)
                loaded += 1
    sys.dont_write_bytecode = True
    ours = [
        name for name, one in sys.modules.items() if _is_ours(getattr(one, "__file__", "") or "")
    ]
    return {"loaded": loaded, "ours": ours}


def answer(request: Reply) -> Reply:
    """Do what a line asks for."""
    if request["do"] == "load":
        return load(request["tests"])
    files = request.get("files", ())
    return fork(lambda: run(request["tests"], files), request["seconds"])


def main() -> None:
    sys.path.insert(0, str(ROOT))
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
