"""Exporters: an export for a download is written by a child process, and handed on as a file.

What makes tables takes a second to load and 150 MB, which a server would keep for ever. Where no
server runs, as in a test of a page, this process writes it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

from django.conf import settings

from webapp.services.rules.access import StaffCampaign, StaffStudy

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "manage.py", "export")
NAME = "export.zip"
_command: Sequence[str] = ()


class NoExport(Exception):
    """The child wrote no export; its own log says why."""


def start(command: Sequence[str] = COMMAND) -> None:
    """Let a child write each export from now on."""
    global _command
    _command = command


def stop() -> None:
    """Let this process write them again."""
    start(())


def download(*, of: StaffCampaign | StaffStudy, by: str, now: datetime) -> IO[bytes]:
    """Return the export for a member of staff as an open file, logged (S15); it has no name.

    Raises `NoExport`.
    """
    if not _command:
        return _written_here(of, by, now)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        kind = ["--study"] if isinstance(of, StaffStudy) else []
        words = [*_command, str(of.pk), *kind, "--by", by, "--out", str(path)]
        _run(words)
        return path.open("rb")  # which can be read when the folder is gone


def _run(words: Sequence[str]) -> None:
    try:
        subprocess.run(  # noqa: S603 (our own program)
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=settings.RESULTS_SECONDS,
            check=True,
        )
    except subprocess.CalledProcessError as problem:
        raise NoExport(f"the process that wrote it failed ({problem.returncode})") from None
    except subprocess.TimeoutExpired:
        raise NoExport(f"it took longer than {settings.RESULTS_SECONDS:g} seconds") from None


def _written_here(of: StaffCampaign | StaffStudy, by: str, now: datetime) -> IO[bytes]:
    # Only here: see above.
    from webapp.services.data import exports, study_exports

    if isinstance(of, StaffStudy):
        return study_exports.download(study=of, by=by, now=now)
    return exports.download(campaign=of, by=by, now=now)
