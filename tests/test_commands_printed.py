"""Every command that README and the pages of docs print works as printed, in a fresh clone.

A clone of what is committed and about to be; `.venv` is a link to the one that runs this test, so
that nothing is downloaded; the environment is empty but for HOME and PATH. The commands below one
heading share a shell's variables and the clone. What differs from what is printed is named in
`tests.terminal`; what is not run at all is in `NOT_RUN`, with the reason. README's last section is
run each time, the others with script/test --full.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests import terminal
from tests.printed import FENCE, OF_SHELL, PAGES, ROOT, SECTIONS, Section
from tests.servers import redis_server
from tests.terminal import READY, Shell

# A shell's command at the beginning of a line that is no block of a console.
STRAY = re.compile(r"^(?: {4}|\t)(?:\$ |\.venv/|script/|python3? |git |pip )", re.MULTILINE)
BARE = re.compile(r"`(?:\w+=\S+ )*python3? (?:-m (?:analysis|bots)|manage\.py)\b")

NOT_RUN = {
    "script/demo": "takes minutes and opens a browser; tests/webapp/management has its parts",
    "script/simulate --all": "takes minutes; tests/test_simulate.py has it",
    "script/test": "is what runs this test",
    "useradd ": "makes a user of the machine",
    "chmod 700 /var/lib/parley": "is of a folder of that user",
    "cd /opt/parley": "is another clone than this one",
    "install -m 600 /dev/null /etc/parley.env": "writes to the machine's settings",
    "systemd-run ": "needs that user, and systemd",
    "lock": "asks a package index",
    "script/roll": "needs two web processes; tests/trust/test_rolling.py has it",
    "curl -s http": "needs a server; tests/trust/test_probes.py has it",
    ".venv/bin/python -m pip install": "changes .venv; analysis/test_entry_points.py has it",
    "cd ~/my-study": "is another folder, with that command; analysis/test_entry_points.py has it",
    ".venv/bin/python manage.py competition": "is of a study; services/competition has its tests",
    ".venv/bin/python -m analysis predictions.jsonl": "reads what a competition has made",
    ".venv/bin/python docs/protocol/client.py": "needs a server; conformance/test_client.py has it",
    ".venv/bin/python -m tests.conformance": "needs a server; conformance/test_suite.py has it",
    ".venv/bin/python -m tests.families": "takes an hour; tests/families/test_families.py has it",
    ".venv/bin/python manage.py recruit": "goes on; services/recruiting/test_panel.py has it",
    ".venv/bin/python manage.py prolific_webhooks": "asks the panel; test_hooks.py has it",
    ".venv/bin/python manage.py import_transcripts": "is of a campaign; management has its tests",
    ".venv/bin/python manage.py take_conversations": "is of a campaign; rating has its tests",
    ".venv/bin/python -m analysis study-1.zip": "reads an export; services/data has its tests",
    ".venv/bin/python -m analysis select": "reads an export; tests/analysis has it",
    ".venv/bin/python -m bots train minilm_matcher": "takes an hour; bots/zoo has its tests",
    ".venv/bin/python -m bots predict minilm_matcher": "needs what the one before has trained",
    "psql --username postgres --file": "is of PostgreSQL; trust/test_database_rights.py has it",
    ".venv/bin/python manage.py database_rights": "is of PostgreSQL, as above",
    ".venv/bin/python -m analysis simulate": "takes hours; simulation/test_command.py has it",
}
FAST = {("README.md", "On the command line")}


def reason(command: str) -> str:
    """Return why a command is not run, or nothing."""
    whole = (why for start, why in NOT_RUN.items() if f"{command} ".startswith(start))
    return next(whole, "")


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of everything that is committed here or about to be."""
    folder = tmp_path_factory.mktemp("origin")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    run = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"git does not list the files: {run.stderr.strip()}")
    for name in filter(None, run.stdout.split("\0")):
        if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    who = ("-c", "user.name=tests", "-c", "user.email=tests@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


# --- what a page says of the commands below a heading -------------------------------------------

KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def _nothing(shell: Shell) -> None:
    """Leave the shell as it opens."""


def _server(shell: Shell) -> None:
    """Set what /etc/parley.env sets, and have the database that the page has made before."""
    shell.env |= {
        "SECRET_KEY": KEY,
        "ALLOWED_HOSTS": "parley.example.org",
        "DATA_DIR": f"{shell.folders}/var/lib/parley",
        "TRUSTED_PROXIES": "1",
    }


def _running(shell: Shell) -> None:
    _server(shell)
    shell.run(".venv/bin/python manage.py migrate --verbosity 0")


def _restorable(shell: Shell) -> None:
    """Put a backup where the command looks for one, and have no database, as on a new disk."""
    named = shell.folders / "srv/backups/parley-20260105-120000-000000.sqlite3"
    newest = max(named.parent.glob("parley-*"), key=lambda path: path.stat().st_mtime)
    shutil.copy2(newest, named)
    for file in shell.data.glob("parley.sqlite3*"):
        file.unlink()


def _bob(shell: Shell) -> None:
    """Have the account and the project that the page speaks of."""
    account = "User.objects.create_user('bob', is_staff=True)"
    project = "Project.objects.create(name='First project')"
    shell.run(f'.venv/bin/python manage.py shell -c "{account}; {project}"')


# Before the first command below a heading, and before single commands.
SETTING: Mapping[tuple[str, str], Callable[[Shell], None]] = {
    ("docs/running.md", "One process"): _server,
    ("docs/running.md", "PostgreSQL, Redis, several processes"): _running,
    ("docs/running.md", "Backup and restore"): _running,
    ("docs/running.md", "Upgrades"): _running,
    ("docs/running.md", "Projects and roles"): _running,
}
PREPARED: Mapping[str, Callable[[Shell], None]] = {
    "manage.py restore": _restorable,
    "bob --role": _bob,
}
WITH_REDIS = {("docs/running.md", "PostgreSQL, Redis, several processes")}  # SQLite stays


def _slow(section: Section) -> list[pytest.MarkDecorator]:
    limit = pytest.mark.timeout(1200)
    return [limit] if (section.page, section.heading) in FAST else [limit, pytest.mark.slow]


@pytest.mark.parametrize(
    "section", [pytest.param(each, marks=_slow(each), id=str(each)) for each in SECTIONS]
)
def test_the_commands_below_a_heading_work(section: Section, origin: Path, tmp_path: Path) -> None:
    commands = [command for command in section.commands if not reason(command)]
    if not commands:
        pytest.skip(f"nothing to run: {reason(section.commands[0])}")
    shell = _shell(origin, tmp_path)
    where = (section.page, section.heading)
    SETTING.get(where, _nothing)(shell)
    with redis_server() if where in WITH_REDIS else nullcontext("") as url:
        shell.env |= {"REDIS_URL": url} if url else {}
        for command in commands:
            for words, prepare in PREPARED.items():
                if words in command:
                    prepare(shell)
            shell.run(command)


def _shell(origin: Path, folder: Path) -> Shell:
    lock = b"".join(
        (ROOT / f"script/{name}.lock").read_bytes() for name in ("development", "torch", "oracles")
    )
    installed = ROOT / ".venv" / "installed.lock"
    if not installed.is_file() or installed.read_bytes() != lock:
        pytest.skip(".venv is not what the locks say, so script/bootstrap would change it")
    subprocess.run(["git", "clone", "-q", origin, folder / "clone"], check=True)
    (folder / "clone/.venv").symlink_to((ROOT / ".venv").resolve())
    return Shell(folder / "clone", folder)


def lives(pid: int) -> bool:
    """Tell whether a process does something: one that ended may wait to be collected."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("end", ["wait", "exit 1"])
def test_a_command_at_its_limit_leaves_nothing_behind(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it started is ended, where it has ended itself too."""
    monkeypatch.setattr(terminal, "PATIENCE", 1.0)
    started = tmp_path / "pid"
    with pytest.raises((subprocess.TimeoutExpired, AssertionError)):
        Shell(tmp_path, tmp_path).run(f"sleep 300 & echo $! > {started}; {end}")
    deadline = time.monotonic() + 20
    while lives(int(started.read_text())):
        assert time.monotonic() < deadline, "it goes on"
        time.sleep(0.05)


# --- what the pages may not do ------------------------------------------------------------------


def test_commands_are_found() -> None:
    found = {str(section): section.commands for section in SECTIONS}
    assert found["README.md: On the command line"][0].startswith("script/bootstrap")
    assert len(found["docs/running.md: Try it"]) == 5
    assert {page for page, _ in FAST} <= {section.page for section in SECTIONS}
    assert [name for name, commands in found.items() if not commands] == [], "$ before each"


def test_every_exception_is_of_a_command_that_is_printed() -> None:
    printed = [f"{command} " for section in SECTIONS for command in section.commands]
    assert [one for one in NOT_RUN if not any(each.startswith(one) for each in printed)] == []
    headings = {(section.page, section.heading) for section in SECTIONS}
    assert {*SETTING, *WITH_REDIS, *FAST} <= headings
    for words in (*PREPARED, *READY):
        assert [each for each in printed if words in each], words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_stands_in_a_block_of_its_own(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    others = [block for language, block in FENCE.findall(text) if language not in OF_SHELL]
    assert [block for block in others if re.search(r"^\$ ", block, re.MULTILINE)] == []
    assert STRAY.findall(FENCE.sub("", text)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_within_a_line_names_its_interpreter(page: Path) -> None:
    """The changelog tells what there is, not what to type."""
    if page.name != "changelog.md":
        assert BARE.findall(page.read_text(encoding="utf-8")) == []
