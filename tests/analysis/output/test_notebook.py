"""Notebooks of a report: their code, run from the top elsewhere, prints the same numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
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


def _written(folder: Path, *options: str) -> tuple[Path, Path]:
    file, notebook = folder / 'it\'s "#odd".csv', folder / "out.ipynb"
    table = planted() if "--without-flagged" in options else simulated(raters=10)
    table.to_csv(file, index=False)
    assert main([str(file), *options, "--notebook", str(notebook)]) == 0
    return file, notebook


def _run(notebook: Path) -> str:
    command = [sys.executable, "-W", "error", "-c", RUN, str(notebook)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=115, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


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
    _, notebook = _written(tmp_path)
    nbformat.validate(json.loads(notebook.read_text()))
