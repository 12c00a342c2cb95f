"""The list of bots, and of the papers' systems that nobody can run."""

from __future__ import annotations

import re

from bots import bot_names
from bots.commands.catalog import bots, lines, systems
from tests.bots.commands.test_commands import run


def test_every_bot_is_listed_with_what_it_is() -> None:
    found = {entry.name: entry for entry in bots()}
    assert sorted(found) == bot_names()
    assert found["profile_memory"].about.startswith("Ranking Profile Memory network;")
    cited = 'Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.2'
    assert found["profile_memory"].source == cited
    assert all(entry.about.endswith(".") and entry.source for entry in found.values())
    assert found["profile_memory"].presets == ("toy", "small", "released")
    assert not found["parrot"].trained


def test_what_cannot_be_run_carries_the_printed_scores_and_is_no_bot() -> None:
    found = {entry.name: entry for entry in systems()}
    assert dict(found["ADAPT Centre"].scores)["engagingness (1-4, calibrated)"] == 1.6
    assert dict(found["Little Baby"].scores)["hits@1/20 %"] == 64.8
    assert dict(found["POSNet"].scores)["P@1"] == 69.1
    assert len(found) == 25  # 21 entrants without a recipe, 4 systems that do not chat
    assert not any(entry.runnable for entry in found.values())
    assert not set(found) & set(bot_names())


def test_no_row_of_the_specification_is_shown() -> None:
    assert not re.search(r"\b[ABP]-[A-Z0-9]{2,}\b", "\n".join(lines()))


def test_the_command_prints_both() -> None:
    done = run("list")
    assert done.returncode == 0
    assert done.stdout.splitlines() == list(lines())
    assert "Reported by papers, not runnable:" in done.stdout
