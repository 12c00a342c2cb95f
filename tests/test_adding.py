"""Examples of docs/adding.md, pasted into a fresh clone as the page says, pass the contracts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import newcomer

# By section: the contract tests, and how many of them there are at least for one example.
CONTRACTS: Mapping[str, tuple[str, int]] = {
    "A protocol": ("protocols", 8),
    "A bot": ("bots", 6),
    "A dataset": ("datasets", 3),
    "A metric": ("metrics", 6),
    "A report": ("reports", 4),
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone with all the files of these sections, and with nothing else changed."""
    folder = tmp_path_factory.mktemp("clone")
    newcomer.clone(folder)
    for section in CONTRACTS:
        newcomer.paste(section, folder)
    return folder


def test_every_section_has_one_file_and_its_test() -> None:
    for section in CONTRACTS:
        file, test = newcomer.blocks(section)
        assert test == f"tests/{Path(file).parent}/test_{Path(file).name}"


@pytest.mark.timeout(400)
def test_the_examples_pass_the_contracts(clone: Path) -> None:
    """In one process: what takes longest is to start it."""
    chosen, contracts = [], []
    for section, (contract, _) in CONTRACTS.items():
        name = Path(next(iter(newcomer.blocks(section)))).stem
        chosen.append(f"(test_{contract} and {name})")
        contracts.append(f"tests/contracts/test_{contract}.py")
    expected = sum(least for _, least in CONTRACTS.values())
    assert newcomer.passed(clone, "-k", " or ".join(chosen), *contracts) >= expected


@pytest.mark.timeout(400)
def test_their_own_tests_pass_and_the_house_takes_them(clone: Path) -> None:
    own = [[*newcomer.blocks(section)][1] for section in CONTRACTS]
    assert newcomer.passed(clone, *own, "tests/test_house.py") >= 2 * len(own)
