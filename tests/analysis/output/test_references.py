"""References: each citation resolves, is in the list and in the file, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import summary
from analysis.__main__ import main
from analysis.output.methods import SENTENCES
from analysis.output.references import bibtex, citations, cited, sources, written
from analysis.output.scored import SOURCES
from evaluation.registry import get_protocol, protocol_names
from tests.analysis.examples import simulated


def test_citations_are_found_as_papers_write_them() -> None:
    text = (
        "By t (Holm 1979), shares (Korn & Graubard 1998; Cameron, Gelbach &\nMiller 2011), z (Ji "
        "et al. 2022). In May 2026 people talked."
    )
    assert citations(text) == [
        "Holm 1979",
        "Korn & Graubard 1998",
        "Cameron, Gelbach & Miller 2011",
        "Ji et al. 2022",
    ]


def test_every_citation_that_the_text_can_have_resolves() -> None:
    own = [text for _, text in SENTENCES.values()]
    protocols = [get_protocol(name).source for name in protocol_names()]
    named = {each for text in (*own, *SOURCES.values(), *protocols) for each in citations(text)}
    assert len(named) > 10
    assert named - set(sources()) == set()


def test_a_report_lists_and_writes_what_it_cites_and_nothing_else() -> None:
    report = summary(simulated(raters=10))
    (listed,) = (each for each in report.sections if each.key == "references")
    notes = [each.note for each in report.sections]
    wanted = {name for text in (*report.methods, *notes) for name in citations(text)}
    assert wanted <= set(sources())
    assert list(listed.frame["source"]) == [
        written(each) for each in cited([*report.methods, *notes])
    ]
    assert len(listed.frame) == len(wanted) == bibtex(report).count("\n@") + 1
    assert "Cameron & Miller" not in bibtex(report)


def test_entries_are_bibtex_with_keys_of_their_own(tmp_path: Path) -> None:
    keys = [re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in sources()]
    assert len(set(keys)) == len(keys)
    table, out = tmp_path / "r.csv", tmp_path / "r.bib"
    simulated(raters=10).to_csv(table, index=False)
    assert main([str(table), "--bib", str(out)]) == 0
    text = out.read_text()
    assert "@article{holm-1979,\n  author = {Holm, Sture},\n  year = {1979}," in text
    assert text.count("{") == text.count("}")
    assert re.search(r"(?<!\\)&", text) is None


def test_title_and_author_without_a_pdf_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "r.csv"
    simulated(raters=10).to_csv(table, index=False)
    assert main([str(table), "--author", "Ada"]) == 2
    assert "add --pdf" in capsys.readouterr().err
