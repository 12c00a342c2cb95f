"""Export column of docs/adding.md: inserted where the page says, it is exported and explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import newcomer

SECTION = "An export column"


@pytest.mark.timeout(400)
def test_a_field_and_a_text_are_enough(tmp_path: Path) -> None:
    """The lines go into two files of ours; the third is the test of what each column holds."""
    paths = [path for path, _, _ in newcomer.lines(SECTION)]
    ours = [path for path in paths if not path.startswith("tests/")]
    assert (len(ours), len(paths)) == (2, 3)
    newcomer.clone(tmp_path)
    newcomer.insert(SECTION, tmp_path)
    folder = "tests/webapp/services/data"
    tests = [f"{folder}/test_{name}.py" for name in ("export_columns", "codebook")]
    one = f"{folder}/test_exports.py::test_csv_and_parquet_say_the_same"
    assert newcomer.passed(tmp_path, *tests, one) >= 16
