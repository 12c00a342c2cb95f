"""The typed number of docs/adding.md, pasted as the page says, passes all contracts of a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import newcomer

SECTION = "A kind of question"


@pytest.mark.timeout(400)
def test_a_class_and_a_template_are_enough(tmp_path: Path) -> None:
    names = [Path(path).name for path in newcomer.blocks(SECTION)]
    assert names == ["typed_number.py", "typed_number.html", "test_typed_number.py"]
    newcomer.clone(tmp_path)
    newcomer.paste(SECTION, tmp_path)
    tests = ("tests/contracts/test_kinds.py", "tests/evaluation/kinds/test_typed_number.py")
    assert (
        newcomer.passed(tmp_path, "-k", "typed_number", *tests) >= 12
    )  # 11 of every kind, and its own
