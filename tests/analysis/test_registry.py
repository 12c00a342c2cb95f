"""The folder is the registry."""

from __future__ import annotations

import pytest

from analysis import UnknownAnalysis, get_metric, get_report, metric_names, report_names
from analysis.registry import options_of, table_of
from tests.analysis.examples import ROOT


@pytest.mark.parametrize(
    ("folder", "names"), [("metrics", metric_names()), ("reports", report_names())]
)
def test_every_file_is_listed_once(folder: str, names: list[str]) -> None:
    files = sorted(path.stem for path in (ROOT / "analysis" / folder).glob("*.py"))
    assert names == [name for name in files if name != "__init__"]


def test_a_metric_is_the_function_named_as_its_file() -> None:
    assert get_metric("likert").__name__ == "likert"
    assert get_report("summary").__name__ == "summary"


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownAnalysis, match=r"no 'mean' in metrics; there are .*likert"):
        get_metric("mean")


def test_table_and_options_come_from_the_signature() -> None:
    assert table_of(get_metric("ssa")) == "ratings"
    assert options_of(get_metric("ssa")) == {"votes"}
