"""Freed memory goes back to the system after work on a large table, and not after small ones."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

from analysis.freed_memory import LARGE

# Blocks below the size at which glibc asks the system for each, with one kept above them all.
HOLES = """
    from pathlib import Path
    from analysis.freed_memory import give_back

    def held():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    blocks = [bytearray(50_000) for _ in range(1000)]
    last = bytearray(50_000)
    full = held()
    del blocks
    before = held()
    give_back({rows})
    print(full - before, before - held())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process holds")
@pytest.mark.parametrize(("rows", "gives"), [(LARGE - 1, False), (LARGE, True)])
def test_what_is_free_goes_back_after_work_on_many_rows(rows: int, gives: bool) -> None:
    code = dedent(HOLES).format(rows=rows)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    freed, given = map(int, told.stdout.split())
    if gives:
        assert freed + given > 45e6
    else:
        assert given == 0
