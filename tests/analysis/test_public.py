"""The library's names come when they are asked for, and nothing heavy comes before."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

import analysis
from analysis import public


def test_every_public_name_is_offered() -> None:
    assert public.__all__ == sorted(public.__all__)
    for name in public.__all__:
        assert getattr(analysis, name) is getattr(public, name)
    assert set(public.__all__) <= set(dir(analysis))


def test_no_public_name_is_that_of_a_module() -> None:
    """Python looks for modules of the folder first, so that such a name would mean two things."""
    assert [name for name in public.__all__ if find_spec(f"analysis.{name}")] == []


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'evaluated'"):
        _ = analysis.evaluated


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("analysis.tables.plan_settings", {"pandas", "scipy"}),
        ("analysis.__main__", {"scipy.stats", "scipy.optimize", "matplotlib", "sklearn"}),
    ],
)
def test_a_module_brings_nothing_that_only_some_of_its_users_need(
    module: str, heavy: set[str]
) -> None:
    """They take up to half a second each; every start of the command would wait for them."""
    program = f"import sys, {module}; print({heavy!r} & {{*sys.modules}})"
    ran = [sys.executable, "-c", program]
    told = subprocess.run(ran, capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
