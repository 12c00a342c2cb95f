"""SSA by depth and tag of contexts: planted, from a file, and what lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import RatingTable, get_report
from analysis.__main__ import main
from analysis.tables.context_tree import read
from analysis.tables.options import BadOption
from tests.analysis.examples import labels
from tests.analysis.samples import EMPTY

meena_contexts = get_report("meena_contexts")
CONTEXTS = 60


def _file(folder: Path) -> Path:
    """Return contexts of one to three messages, every second one about personality."""
    lines = [
        {"id": f"x{k}", "messages": ["a"] * (1 + k % 3), "tags": ["personality"] * (k % 2)}
        for k in range(CONTEXTS)
    ]
    path = folder / "contexts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def _judged() -> RatingTable:
    """Return five votes each; .9, .6 and .3 of replies make sense by depth, none is specific."""
    rng = np.random.default_rng(5)
    given = []
    for k in range(CONTEXTS):
        for system in ("s", "t"):
            good = int(rng.random() < (0.9, 0.6, 0.3)[k % 3])
            given += [(system, f"x{k}", f"r{r}", good, 0) for r in range(5)]
    table = labels(given)
    return RatingTable(table.assign(context=table["item"]))


def test_planted_shares_by_depth_and_tag(tmp_path: Path) -> None:
    known = read(_file(tmp_path))
    table = _judged()
    counts, depth, tag, _ = meena_contexts(table, contexts=known).sections
    assert counts.title == "60 contexts: 20 of 1 message, 20 of 2 messages, 20 of 3 messages"
    assert counts.frame["judged"].tolist() == [20, 20, 20]
    found: Any = depth.frame.set_index(["depth", "system", "metric"])
    for d, planted in (("1", 0.9), ("2", 0.6), ("3", 0.3)):
        for system in ("s", "t"):
            row = found.loc[(d, system, "sensibleness")]
            at = table["item"].isin([f"x{k}" for k in range(int(d) - 1, CONTEXTS, 3)])
            mine = table[at & (table["system"] == system) & (table["question"] == "sensible")]
            assert row["estimate"] == pytest.approx(float(mine["value"].mean()))
            assert abs(row["estimate"] - planted) < 0.25
            assert row["n"] == 20
            assert found.loc[(d, system, "specificity"), "estimate"] == 0
    assert set(tag.frame["tag"]) == {"personality"}
    assert tag.frame["n"].unique().tolist() == [30]
    kept = table[table["item"].isin([f"x{k}" for k in range(1, CONTEXTS, 2)])]
    whole = kept[(kept["question"] == "sensible") & (kept["system"] == "s")]["value"].mean()
    personal = tag.frame.set_index(["system", "metric"])
    assert personal.loc[("s", "sensibleness"), "estimate"] == pytest.approx(float(whole))


def test_what_lacks_is_said(tmp_path: Path) -> None:
    assert "--contexts FILE" in meena_contexts(_judged()).findings[0]
    known = read(_file(tmp_path))
    report = meena_contexts(EMPTY["ratings"], contexts=known)
    assert "No answer names a context" in report.findings[0]
    assert report.sections[-1].frame["contexts"].sum() == 1477
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "messages": ["x"]}\n{"id": "b"}\n', encoding="utf-8")
    with pytest.raises(BadOption, match="line 2"):
        read(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(BadOption, match="a file with a context"):
        read(path)


def test_the_command_takes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _judged().to_csv(tmp_path / "ratings.csv", index=False)
    given = [str(tmp_path / "ratings.csv"), "--report", "meena_contexts"]
    assert main([*given, "--contexts", str(_file(tmp_path))]) == 0
    shown = capsys.readouterr().out
    assert "60 contexts of 60 were judged." in shown
    assert main([*given, "--contexts", str(tmp_path / "none")]) == 2
    assert "contexts is" in capsys.readouterr().err
