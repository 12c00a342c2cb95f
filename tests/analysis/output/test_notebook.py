"""Notebooks of a report: their code, run from the top elsewhere, prints the same numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from analysis import rendered, summary
from analysis.__main__ import main
from analysis.output.charts import picture
from analysis.report import Report
from tests.analysis.examples import ROOT, simulated
from tests.analysis.raters.test_raters import planted

# As a kernel does: what a cell's last line is worth is printed.
RUN = """
import ast, json, sys
names = {}
with open(sys.argv[1], encoding="utf-8") as file:
    cells = json.load(file)["cells"]
for cell in cells:
    if cell["cell_type"] == "code":
        body = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Interactive(body), "cell", "single"), names)
"""


FAST = ("--simulate", "0")


def _file(folder: Path, table: pd.DataFrame) -> Path:
    table.to_csv(file := folder / 'it\'s "#odd".csv', index=False)
    return file


def _written(folder: Path, *options: str) -> tuple[Path, Path]:
    table = planted() if "--without-flagged" in options else simulated(raters=10)
    file, notebook = _file(folder, table), folder / "out.ipynb"
    assert main([str(file), *options, "--notebook", str(notebook)]) == 0
    return file, notebook


def _ran(notebook: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run it in its own folder, which is not the checkout."""
    command = [sys.executable, "-W", "error", "-c", RUN, str(notebook)]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=notebook.parent, capture_output=True, text=True, timeout=115, check=False,
        env=known | more,
    )  # fmt: skip


def _run(notebook: Path) -> str:
    done = _ran(notebook, PYTHONPATH=str(ROOT))  # as an editable install has it
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_files_are_found_from_the_folder_of_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, simulated(raters=10))
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main([file.name, *FAST, "--notebook", "deep/out.ipynb"]) == 0
    assert _run(tmp_path / "deep" / "out.ipynb")


def test_a_python_without_the_package_says_how_to_install_it(tmp_path: Path) -> None:
    _, notebook = _written(tmp_path, *FAST)
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'analysis':\n"
        "            raise ModuleNotFoundError('No module', name='analysis')\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    done = _ran(notebook, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "python -m pip install --editable /path/to/parley" in done.stderr


def _told(report: Report) -> str:
    parts = [rendered(report)]
    for section in report.sections:
        parts += [section.title, section.note, repr(section.frame)]
        if (drawn := picture(section)) is not None:
            assert drawn._repr_svg_().startswith("<?xml")
            parts.append(repr(drawn))
    return "\n".join(parts) + "\n"


def test_its_cells_print_the_report_and_every_table(tmp_path: Path) -> None:
    _, notebook = _written(tmp_path, "--seed", "3", "--simulate", "40")
    assert _run(notebook) == _told(summary(simulated(raters=10), seed=3, simulate=40))


def test_raters_are_left_out_and_files_read_there_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("tea\t3\nrare\t1\n", encoding="utf-8")
    options = ("--report", "rater_quality", "--without-flagged", "--corpus", str(corpus))
    file, notebook = _written(tmp_path, *options)
    capsys.readouterr()
    main([str(file), *options])
    printed = capsys.readouterr().out
    assert "0 of 12 raters have a flag" in printed
    assert _run(notebook).startswith(printed)
    code = "".join("".join(each["source"]) for each in json.loads(notebook.read_text())["cells"])
    assert f"read_corpus(Path({str(corpus)!r}))" in code


def test_it_is_a_notebook_of_the_format(tmp_path: Path) -> None:
    _, notebook = _written(tmp_path, *FAST)
    nbformat.validate(json.loads(notebook.read_text()))
