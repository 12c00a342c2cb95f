"""Settings of systems, read from the plan of an export or of each campaign of a study."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from analysis import BadTable, read
from analysis.tables.system_settings import DEFAULTS, options, settings_by_system
from bots import bot_options
from tests.analysis.examples import raw

DRAWN = {"bot": "sample_and_rank", "options": {"bot": "markov", "number": 20}}
HUMAN = {"name": "human", "bot": "people", "options": {}}


def zipped(folder: Path, plans: dict[str, object]) -> pd.DataFrame:
    """Return the ratings of a zip with these plans, by path."""
    rows: list[dict[str, object]] = [
        {"campaign": campaign, "system": system, "value": 1}
        for campaign in ("one", "two")
        for system in ("a", "human")
    ]
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("ratings.csv", raw(rows).to_csv(index=False))
        for name, plan in plans.items():
            text = plan if isinstance(plan, str) else json.dumps(plan)
            archive.writestr(name, text)
    found = read(folder / "export.zip").ratings
    assert found is not None
    return found


def plan(temperature: float) -> dict[str, object]:
    system = {**DRAWN, "options": {**DRAWN["options"], "temperature": temperature}}  # type: ignore[dict-item]
    return {"systems": [{"name": "a", "sees_persona": True, "target": 5, **system}, HUMAN]}


def test_one_plan_is_of_all_rows_and_people_have_no_settings(tmp_path: Path) -> None:
    found = zipped(tmp_path, {"plan.json": plan(0.88)})
    ((text,),) = settings_by_system(found).values()
    assert set(settings_by_system(found)) == {"a"}
    assert options(text) == {
        "bot": "sample_and_rank", "sees_persona": True, "number": 20, "temperature": 0.88,
        "top_k": 0,
    }  # fmt: skip


def test_each_campaign_of_a_study_has_its_own(tmp_path: Path) -> None:
    found = zipped(tmp_path, {"one/plan.json": plan(0.88), "two/plan.json": plan(1.0)})
    told = {
        campaign: [options(text)["temperature"] for text in settings_by_system(rows)["a"]]
        for campaign, rows in found.groupby("campaign")
    }
    assert told == {"one": [0.88], "two": [1.0]}
    assert len(settings_by_system(found)["a"]) == 2


def test_without_a_plan_nothing_is_known(tmp_path: Path) -> None:
    assert settings_by_system(zipped(tmp_path, {})) == {}
    unfrozen = zipped(tmp_path, {"plan.json": "null"})
    assert settings_by_system(unfrozen) == {}


def test_a_broken_plan_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"one/plan\.json"):
        zipped(tmp_path, {"one/plan.json": "{"})


@pytest.mark.parametrize("text", ["N = 20", "[1]", "20"])
def test_a_cell_that_is_no_object_names_no_options(text: str) -> None:
    assert options(text) == {}


def test_a_wrapper_stands_before_what_it_wraps() -> None:
    inner = {"bot": "markov", "options": {"temperature": 0.7, "number": 3}}
    outer = {"bot": "sample_and_rank", "options": {**inner, "number": 20}}
    assert options(json.dumps(outer)) == {
        # It draws at a temperature of its own, whatever that of the bot inside is.
        "bot": "sample_and_rank", "number": 20, "temperature": 0.88, "top_k": 0,
    }  # fmt: skip
    around = {"bot": "no_repeat", "options": inner}
    assert options(json.dumps(around)) == {"bot": "no_repeat", "number": 3, "temperature": 0.7}


def test_what_is_left_at_its_default_is_told_of_a_bot_whose_decoding_is_reported() -> None:
    for bot, usual in DEFAULTS.items():
        known = {each.name: each.default for each in bot_options(bot)}
        assert usual == {name: known[name] for name in usual}
    drawn = {"bot": "sample_and_rank", "options": {"bot": "markov", "options": {"number": 8}}}
    found = options(json.dumps(drawn))
    assert (found["number"], found["temperature"], found["top_k"]) == (20, 0.88, 0)
    around = {"bot": "no_repeat", "options": drawn | {"options": {"number": 400}}}
    assert options(json.dumps(around))["number"] == 400
