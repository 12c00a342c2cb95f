"""Commands from any folder: entry points of an editable install, and help without a wait."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.analysis.examples import ROOT

HEAVY = {"pandas", "numpy", "scipy", "pyarrow", "matplotlib", "torch", "httpx"}
HELPS = [
    ("analysis", ()),
    *(("analysis", (command,)) for command in ("nexcv", "sample", "tasks", "template")),
    ("bots", ()),
    *(("bots", (command,)) for command in ("list", "train", "predict", "answer", "chat")),
]


@pytest.mark.parametrize(("module", "command"), HELPS)
def test_help_loads_nothing_heavy(module: str, command: tuple[str, ...]) -> None:
    """Counted in modules, not in seconds: these are what takes them."""
    program = (
        f"import sys, runpy; sys.argv = ['x', *{command!r}, '--help']\n"
        f"try:\n    runpy.run_module({module!r}, run_name='__main__')\n"
        f"except SystemExit as end:\n"
        f"    print(end.code, sorted({HEAVY!r} & {{*sys.modules}}))"
    )
    ran = [sys.executable, "-c", program]
    done = subprocess.run(ran, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.startswith("usage: ")
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The folder of the commands that an editable install of a copy of the checkout makes.

    In an environment of its own, which sees what is installed here; nothing is downloaded.
    """
    clone, venv = tmp_path / "clone", tmp_path / "venv"
    for name in ("analysis", "bots"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, clone / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "base.pth").write_text(sysconfig.get_path("purelib") + "\n")
    words = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-e"]
    install: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        venv / "bin" / "python",
        *words,
        clone,
    ]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    return venv / "bin"


def test_four_columns_to_pdf_by_the_installed_command_from_another_folder(
    scripts: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, capture_output=True, text=True, cwd=elsewhere, check=False)

    parley = str(scripts / "parley")
    assert run(parley, "template", "ratings.csv").returncode == 0
    header = (elsewhere / "ratings.csv").read_text().partition("\n")[0]
    assert header == "rater,system,question,value"
    done = run(parley, "ratings.csv", "--pdf", "report.pdf")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (elsewhere / "report.pdf").read_bytes().startswith(b"%PDF")
    bad = run(parley, "none.csv")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("none.csv: cannot be read")
    bots = run(str(scripts / "parley-bots"), "list")
    assert (bots.returncode, "parrot" in bots.stdout) == (0, True)


def test_four_columns_to_json_as_a_module(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("rater,system,question,value\nx,a,q,1\ny,a,q,2\nx,b,q,3\ny,b,q,5\n")
    ran = [sys.executable, "-m", "analysis", str(path), "--json"]
    done = subprocess.run(ran, capture_output=True, text=True, cwd=ROOT, check=True)
    assert {row["system"] for row in json.loads(done.stdout)} >= {"a", "b"}
    assert "without an item column dependence between ratings of one item" in done.stderr
