"""Reports as PDF: everything a report says can be read back, and nothing of it is markup."""

from __future__ import annotations

import io
from datetime import date
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pypdf
import pytest
from pypdf._text_extraction import mult

from analysis import Report, Section, summary
from analysis.__main__ import main
from analysis.output.charts import MOST, alt_text, chart
from analysis.output.pdf import BREAK, Origin, pdf, pictures
from analysis.output.terminal import decimals_of, written
from analysis.report import Chart
from tests.analysis.examples import raw, simulated

COMMAND = "python -m analysis ratings.csv --pdf out.pdf"
HOSTILE = [
    '#import "x.typ": *',
    "$x^2$ $",
    "*b* _i_ `r`",
    "\\ \\n \\u{1F}",
    "= head\n/ term: <label> @ref",
    "</svg><script> & \"quotes'",
    "#panic()[",
    "// gone /* gone",
    "-- --- ... ~ [x]",
    "Ежи Ωμέγα ß",
    "\x00\x1b\x07",
]


def _read(content: bytes) -> str:
    pages = pypdf.PdfReader(io.BytesIO(content)).pages
    text = "\n".join(page.extract_text() for page in pages)
    return " ".join(text.replace(BREAK, "").split())


def _ranking(systems: list[str], title: str = "Best is a.") -> Section:
    middle = [3.5 - 0.25 * k for k in range(len(systems))]
    columns = {
        "system": systems,
        "mean": middle,
        "mean low": [x - 0.5 for x in middle],
        "mean high": [x + 0.5 for x in middle],
        "beats next": [*[0.75] * (len(systems) - 1), None][: len(systems)],
    }
    rows = [
        {"system": name, "series": "mean", "estimate": x, "low": x - 0.5, "high": x + 0.5}
        for name, x in zip(systems, middle, strict=True)
    ]
    drawn = Chart(kind="intervals", rows=rows, axis="score", domain=(1, 5), line=2.0)
    return Section(title, pd.DataFrame(columns), "How it was done.", chart=drawn)


def _report(section: Section) -> Report:
    found = ("A finding.", "Another.")
    return Report("r", "The title", found, (section,), ("Be careful.",), ("We asked.",))


def test_everything_is_read_back_in_order() -> None:
    section = _ranking(["a", "b", "c"])
    text = _read(pdf(_report(section), Origin(COMMAND, 7)))
    decimals = [decimals_of(section.frame[name]) for name in section.frame]
    rows = [" ".join(map(written, row, decimals)) for row in section.frame.itertuples(index=False)]
    wanted = ["The title", "A finding.", "Another.", "Best is a.", " ".join(section.frame.columns)]
    wanted += [
        *rows,
        "How it was done.",
        "Be careful.",
        "We asked.",
        "simulation: 7.",
        "pandas ",
        COMMAND,
    ]
    found = [text.index(each) for each in wanted]
    assert found == sorted(found)


def test_it_is_tagged_titled_and_dated_only_when_asked() -> None:
    report = _report(_ranking(["a", "b"]))
    undated = pdf(report, Origin(COMMAND))
    dated = pdf(report, Origin(COMMAND, made=date(2026, 5, 31)))
    read = pypdf.PdfReader(io.BytesIO(undated))
    assert read.metadata is not None
    assert (read.metadata.title, read.metadata.creation_date) == ("The title", None)
    assert b"pdfuaid:part" in undated
    assert dated != undated
    assert b"<xmp:CreateDate>2026-05-31" in dated
    assert undated == pdf(report, Origin(COMMAND))


def test_names_are_never_markup() -> None:
    frame = pd.DataFrame({"system": HOSTILE, "#let x = 1": HOSTILE[::-1]})
    text = _read(pdf(_report(Section("#{1 + 1} $1$", frame, "*note*")), Origin("echo '#x' \\")))
    for each in (*HOSTILE[:-1], "#let x = 1", "#{1 + 1} $1$", "*note*", "echo '#x' \\"):
        assert " ".join(each.split()) in text


def test_hostile_names_are_drawn_in_a_chart() -> None:
    assert _read(pdf(_report(_ranking(HOSTILE)), Origin(COMMAND))).count("0.750") == 10


def test_letters_of_every_script_are_read_back_from_a_tagged_file() -> None:
    content = pdf(_report(_ranking(["猫", "🦜", "\U00012000"])), Origin(COMMAND))
    assert b"pdfuaid:part" in content
    text = _read(content)
    assert all(each in text for each in ("猫 3.50", "🦜 3.25", "\U00012000 3.00"))


def test_long_words_stay_on_the_page() -> None:
    word = "w" * 400
    content = pdf(
        _report(Section(word, pd.DataFrame({"system": [word], "n": [12345]}))), Origin("")
    )
    text = _read(content).replace(" ", "")
    assert text.count(word) == 2
    assert "12345" in text
    assert len(pypdf.PdfReader(io.BytesIO(content)).pages) == 1


def test_wide_tables_lie_on_their_side_and_long_ones_repeat_their_header() -> None:
    wide = pd.DataFrame([range(14)] * 90, columns=[f"c{k}" for k in range(14)])
    pages = pypdf.PdfReader(io.BytesIO(pdf(_report(Section("t", wide)), Origin("")))).pages
    assert len(pages) > 2
    assert all(page.mediabox.width > page.mediabox.height for page in pages)
    assert "c13" in pages[1].extract_text()


def test_names_above_many_columns_can_be_broken() -> None:
    names = [f"language_model_{k}" for k in range(11)]
    content = pdf(_report(Section("t", pd.DataFrame([[0.5] * 11], columns=names))), Origin(""))
    assert len(pypdf.PdfReader(io.BytesIO(content)).pages) == 1
    header = pypdf.PdfReader(io.BytesIO(content)).pages[0].extract_text().replace(BREAK, "")
    assert "language_model_10" in "".join(header.split())
    assert "language_model_0 language_model_1" not in header


def _heads(content: bytes, letters: str) -> list[tuple[float, float, bool]]:
    """Return size, place from the left and uprightness of the texts that have these letters."""
    found: list[tuple[float, float, bool]] = []

    def note(text: str, page: list[float], line: list[float], _: object, size: float) -> None:
        if letters in text:
            at = mult(line, page)
            found.append((size * max(map(abs, at[:2])), at[4], abs(at[1]) > 0.5))

    for page in pypdf.PdfReader(io.BytesIO(content)).pages:
        page.extract_text(visitor_text=note)
    return found


@pytest.mark.parametrize(("name", "stands"), [("eightlet", False), ("ninelette", True)])
def test_long_names_above_a_crowd_of_numbers_stand_upright_and_can_be_read(
    name: str, stands: bool
) -> None:
    names = ["system", *(f"{name[:-1]}{k}" for k in range(10))]
    table = pd.DataFrame([["eins", *[0.5] * 10]], columns=names)
    heads = _heads(pdf(_report(Section("t", table)), Origin("")), name[:-1])
    assert len(heads) == 10
    assert {upright for _, _, upright in heads} == {stands}
    assert min(size for size, *_ in heads) >= 7
    places = sorted(place for _, place, _ in heads)
    assert min(b - a for a, b in pairwise(places)) > 8 or not stands


def test_the_longest_names_stay_on_the_page() -> None:
    names = ["system", *(f"{k}{'w' * 150}" for k in range(10))]
    table = pd.DataFrame([["eins", *[0.5] * 10]], columns=names)
    content = pdf(_report(Section("t", table)), Origin(""))
    pages = pypdf.PdfReader(io.BytesIO(content)).pages
    assert len(pages) == 1
    assert pages[0].extract_text().replace(BREAK, "").count("w") >= 1500


def test_a_chart_is_titled_by_its_finding_and_always_the_same() -> None:
    drawn = chart(_ranking(["a", "b"], "a < b & c"))
    assert drawn is not None
    assert "<dc:title>a &lt; b &amp; c</dc:title>" in drawn
    assert "dc:date" not in drawn
    assert drawn == chart(_ranking(["a", "b"], "a < b & c"))
    assert drawn != chart(_ranking(["a", "x"], "a < b & c"))


@pytest.mark.parametrize("systems", [[], [f"s{k}" for k in range(MOST + 1)]])
def test_a_chart_of_nothing_or_of_too_much_is_not_drawn(systems: list[str]) -> None:
    assert chart(_ranking(systems)) is None
    assert chart(Section("t", pd.DataFrame({"n": [1]}))) is None


DRAWN = {
    "bars": Chart(
        kind="bars",
        axis="people",
        rows=[
            {"step": "began", "kind": "reached", "people": 9},
            {"step": "– left", "kind": "lost", "people": 2},
        ],
    ),
    "shares": Chart(
        kind="shares",
        axis="share",
        answers=["1", "2"],
        rows=[
            {"system": name, "answer": answer, "rank": rank, "count": 3 + rank}
            for name in "ab"
            for rank, answer in enumerate("12")
        ],
    ),
    "grouped": Chart(
        kind="grouped",
        axis="questions",
        rows=[
            {"system": name, "series": who, "value": 3.5}
            for name in "ab"
            for who in ("model", "human")
        ],
    ),
    "plane": Chart(
        kind="plane",
        axis="perplexity",
        upright="SSA",
        rows=[
            {"series": "systems", "name": "a", "x": 10.0, "y": 70.0, "joined": False},
            {"series": "line", "name": "", "x": 10.0, "y": 70.0, "joined": True},
            {"series": "line", "name": "", "x": 20.0, "y": 50.0, "joined": True},
        ],
    ),
    "matrix": Chart(
        kind="matrix",
        rows=[{"system": "a", "other": "b", "p": 0.9}, {"system": "b", "other": "a", "p": 0.1}],
    ),
}


@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_every_kind_of_chart_is_drawn_and_told(kind: str) -> None:
    section = Section("What it shows", pd.DataFrame({"n": [1]}), chart=DRAWN[kind])
    drawn = chart(section)
    assert drawn is not None
    assert "<dc:title>What it shows</dc:title>" in drawn
    assert alt_text(section).startswith("What it shows. ")
    assert "The table below has the numbers" in alt_text(section)
    assert _read(pdf(_report(section), Origin(COMMAND)))


def test_pages_are_pictures() -> None:
    (page,) = pictures(_report(_ranking(["a", "b"])), Origin(COMMAND))
    assert page.startswith(b"\x89PNG")


def test_the_command_writes_the_pdf(tmp_path: Path) -> None:
    file, out = tmp_path / "r.csv", tmp_path / "r.pdf"
    table = simulated(raters=10)
    table.to_csv(file, index=False)
    assert main([str(file), "--pdf", str(out), "--seed", "3", "--simulate", "0"]) == 0
    text = _read(out.read_bytes())
    assert all(" ".join(each.split()) in text for each in summary(table, seed=3).findings)
    command = f"python -m analysis {file} --pdf {out} --seed 3 --simulate 0"
    assert command.replace(" ", "") in text.replace(" ", "")


def test_what_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def alt_text(*options: str) -> str:
        assert main([str(file), *options]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err

    file, out = tmp_path / "r.csv", str(tmp_path / "r.pdf")
    raw([{"value": 1}, {"value": 2}]).to_csv(file, index=False)
    missing = tmp_path / "none" / "r.pdf"
    assert alt_text("--pdf", str(missing)).startswith(f"{missing}: cannot be written (No such file")
    assert "leave one" in alt_text("--json", "--pdf", out)
    assert "reads messages" in alt_text("--report", "convai2_length", "--pdf", out)
    with pytest.raises(SystemExit):
        main([str(file), "--pdf", out, "--date", "May"])
    assert "'May' is no day" in capsys.readouterr().err
