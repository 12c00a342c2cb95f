"""The first commands in a fresh clone: they work, or say in a sentence what to set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("DEBUG", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "DATA_DIR", "DJANGO_SETTINGS_MODULE")


def run(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with no setting of ours but these."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | changes,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone that nothing was done in, with the tracked files as they are here."""
    folder = tmp_path / "clone"
    command = ["git", "clone", "--quiet", "--shared", str(ROOT), str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"git does not clone: {made.stderr.strip()}")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        elif not (ROOT / name).exists():
            (folder / name).unlink(missing_ok=True)
    assert not (folder / "var").exists()
    return folder


def test_a_fresh_clone_can_be_migrated(clone: Path) -> None:
    done = run(clone, "manage.py", "migrate", "-v0", DEBUG="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (clone / "var" / "parley.sqlite3").is_file()
    assert (clone / "var").stat().st_mode & 0o777 == 0o700  # what people write is in it


def test_a_fresh_clone_can_be_tested(clone: Path) -> None:
    some = "tests/webapp/services/ops/test_sweeper.py::test_a_sweeper_shows_that_it_lives"
    done = run(clone, "-m", "pytest", "-q", some)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    data = tmp_path / "file" / "data"
    done = run(ROOT, "manage.py", "migrate", DEBUG="1", DATA_DIR=str(data))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"manage.py: DATA_DIR is {data}, which cannot be made (Not a directory): "
        "name a folder that this user may write to.\n"
    )


@pytest.mark.parametrize("command", [("help",), ("migrate",), ()])
@pytest.mark.parametrize("key", [{}, {"SECRET_KEY": ""}])
def test_a_command_without_a_key_says_what_to_set(
    command: tuple[str, ...], key: dict[str, str]
) -> None:
    done = run(ROOT, "manage.py", *command, **key)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "manage.py: SECRET_KEY is not set: set DEBUG=1 on your own machine, or on a server "
        "SECRET_KEY to 50 random characters or more.\n"
    )


def test_a_weak_key_and_no_hosts_are_refused_in_a_sentence() -> None:
    weak = run(ROOT, "manage.py", "help", SECRET_KEY=("abcde" * 10)[1:])
    assert (weak.returncode, len(weak.stderr.splitlines())) == (1, 1)
    assert "SECRET_KEY has 49 characters" in weak.stderr
    no_hosts = run(ROOT, "manage.py", "help", SECRET_KEY="abcde" * 10)
    assert (no_hosts.returncode, len(no_hosts.stderr.splitlines())) == (1, 1)
    assert "ALLOWED_HOSTS" in no_hosts.stderr


def test_help_is_printed_with_a_key() -> None:
    done = run(ROOT, "manage.py", "help", DEBUG="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "check_servers" in done.stdout


def test_the_environment_is_made_with_a_python_compiled_with_optimizations(
    clone: Path, tmp_path: Path
) -> None:
    """A name that leads nowhere and a slow Python stand before it on the path."""
    answers = {
        "shim": "exit 127",
        "slow": 'case "$2" in *enable-optimizations*) exit 1 ;; esac',
        "fast": "",
    }
    for name, answer in answers.items():
        (program := tmp_path / name / "python3.11").parent.mkdir()
        program.write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo "the {name} one"\n{answer}\n')
        program.chmod(0o755)
    path = os.pathsep.join([*(str(tmp_path / name) for name in answers), "/usr/bin:/bin"])
    done = subprocess.run(
        ["script/bootstrap"], cwd=clone, env={"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode != 0, "these make no environment"
    assert done.stderr.splitlines()[0] == "bootstrap: making .venv with the fast one"
