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


def test_a_light_module_brings_neither_pandas_nor_scipy() -> None:
    light = "import sys, analysis.tables.plan_settings; print({'pandas', 'scipy'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", light], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
