"""Examples of docs/adding.md, pasted into a fresh clone as the page says, pass what is there.

One clone has all of them, and nothing else changed. One process runs every test of them: what
takes longest is to start it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from evaluation.registry import protocol_names
from tests import newcomer

# By section: the contract tests, and how many of them there are at least for one example.
CONTRACTS: Mapping[str, tuple[str, int]] = {
    "A protocol": ("protocols", 8),
    "A kind of question": ("kinds", 11),
    "A bot": ("bots", 6),
    "A dataset": ("datasets", 3),
    "A metric": ("metrics", 6),
    "A report": ("reports", 4),
}
ACCESS = "tests/webapp/views/staff/test_access.py"
VIEW = "webapp/views/staff/quiet.py"
DATA = "tests/webapp/services/data"
# Whole files that the examples change or that look for them, and how many tests of each pass.
WHOLE = {
    "tests/test_house.py": 4,
    ACCESS: 28,
    f"{DATA}/test_export_columns.py": 9,
}
# All but the plans of protocols that come with Parley, of which no example changes anything.
CODEBOOK = f"{DATA}/test_codebook.py"
ONE = "test_csv_and_parquet_say_the_same"  # of test_exports, which is long


def own_tests(section: str) -> str:
    """Return the path of an example's own tests, which stand last."""
    return [*newcomer.blocks(section)][-1]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone with all that the page adds."""
    folder = tmp_path_factory.mktemp("clone")
    newcomer.clone(folder)
    for section in (*CONTRACTS, "A staff page"):
        newcomer.paste(section, folder)
    newcomer.insert("An export column", folder)
    return folder


def test_every_section_has_its_files_and_their_test() -> None:
    for section in CONTRACTS:
        file, *_, test = newcomer.blocks(section)
        assert test == f"tests/{Path(file).parent}/test_{Path(file).name}"
        assert len(newcomer.blocks(section)) == (3 if section == "A kind of question" else 2)
    names = [Path(path).name for path in newcomer.blocks("A kind of question")]
    assert names == ["typed_number.py", "typed_number.html", "test_typed_number.py"]
    assert [Path(path).parent.as_posix() for path in newcomer.blocks("A staff page")] == [
        "webapp/services/monitoring",
        "webapp/views/staff",
        "templates/staff",
        "tests/webapp/views/staff",
    ]
    paths = [path for path, _, _ in newcomer.lines("An export column")]
    assert [path.startswith("tests/") for path in paths].count(False) == 2
    assert len(paths) == 3


@pytest.mark.timeout(400)
def test_the_examples_pass_the_contracts_their_own_tests_and_the_house(clone: Path) -> None:
    own = [own_tests(section) for section in (*CONTRACTS, "A staff page")]
    least = dict.fromkeys(own, 1) | WHOLE | {CODEBOOK: 9, f"{DATA}/test_exports.py": 1}
    chosen = [Path(path).name for path in (*own, *WHOLE)] + [ONE]
    chosen.append(f"({Path(CODEBOOK).name} and not ({' or '.join(protocol_names())}))")
    for section, (contract, count) in CONTRACTS.items():
        name = Path(next(iter(newcomer.blocks(section)))).stem
        chosen.append(f"(test_{contract}.py and {name})")
        least[f"tests/contracts/test_{contract}.py"] = count
    passed = newcomer.passed(clone, "-k", " or ".join(chosen), *least)
    assert {path: passed[path] for path in least if passed[path] < least[path]} == {}


@pytest.mark.timeout(400)
def test_a_staff_page_without_its_decorator_is_noticed(clone: Path) -> None:
    view = clone / VIEW
    code = view.read_text(encoding="utf-8")
    decorator = next(line for line in code.splitlines() if line.startswith("@campaign_page"))
    view.write_text(code.replace(f"{decorator}\n", ""), encoding="utf-8")
    try:
        with pytest.raises(AssertionError, match=r"campaigns/<int:pk>/quiet/"):
            newcomer.passed(clone, ACCESS, "-k", "every_view_says")
    finally:
        view.write_text(code, encoding="utf-8")
