"""Campaigns with known truth: what is drawn has it, and the simulation tells bad from good."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.__main__ import main
from analysis.conversations.transcripts import OWN, PARTNER
from analysis.registry import get_metric
from analysis.simulation import campaigns, panels, truths
from analysis.simulation.campaigns import Design
from analysis.simulation.cases import dialogues, functions, logs, preferred, sayings, shares
from analysis.simulation.command import estimators, simulate
from analysis.simulation.trials import Draw, Estimator
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL

LARGE = Design(conversations=4000, each=4, severity=0.9)
SMALL = Design(systems=2, conversations=8, each=2)


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (campaigns.scale, campaigns.scale_truth),
        (campaigns.labels, campaigns.share_truth),
        (campaigns.votes, campaigns.share_truth),
    ],
)
def test_what_is_drawn_has_the_truth_it_says(
    draw: Draw, truth: Callable[[Design], dict[str, float]]
) -> None:
    table = draw(LARGE, np.random.default_rng(1))
    seen = table.groupby("system")["value"].mean()
    for system, value in truth(LARGE).items():
        assert seen[system] == pytest.approx(value, abs=0.06)


def test_designs_are_as_asked() -> None:
    design = Design(systems=3, conversations=8, each=3, missing=0.25)
    table = campaigns.scale(design, np.random.default_rng(2))
    assert len(table) < 24
    crossed = campaigns.scale(replace(design, missing=0.0), np.random.default_rng(2))
    assert (crossed.groupby("system").size() == 8).all()
    assert (crossed.groupby("rater")["system"].nunique() == 3).all()
    nested = campaigns.scale(
        Design(systems=2, conversations=8, each=4, raters_of_one=True), np.random.default_rng(2)
    )
    assert (nested.groupby("rater")["system"].nunique() == 1).all()
    static = campaigns.votes(design, np.random.default_rng(3))
    assert static.groupby("item")["rater"].nunique().max() <= design.votes


def test_a_panel_judges_everything_and_a_pool_each_item_by_other_people() -> None:
    design = Design(systems=2, conversations=30)
    panel = panels.Judged("panel")(design, np.random.default_rng(0))
    assert panel["rater"].nunique() == design.votes
    assert (panel.groupby("item")["rater"].nunique() == design.votes).all()
    pool = panels.Judged("pool", "yes")(design, np.random.default_rng(0))
    assert pool["rater"].nunique() > design.votes
    assert (pool.groupby("item")["rater"].nunique() == design.votes).all()


def test_a_specific_reply_is_sensible() -> None:
    for static in (False, True):
        table = shares.Labeled(static)(Design(), np.random.default_rng(4))
        both = table.pivot_table(index=["item", "rater"], columns="question", values="value")
        assert (both["specific"] <= both["sensible"]).all()
        assert both["specific"].any()


def test_the_better_wins_and_the_first_is_ahead() -> None:
    design = Design(systems=2, conversations=8000, gap=0.0)
    table = preferred.side_by_side(design, np.random.default_rng(5))
    assert table[table["place"] == 0]["value"].mean() < table[table["place"] == 1]["value"].mean()
    ranked = preferred.ranked(replace(design, gap=1.0), np.random.default_rng(5))
    assert ranked[ranked["system"] == "system 1"]["value"].mean() < 1.4


def test_areas_have_the_truth_they_say() -> None:
    design = Design(conversations=40_000)
    table = functions.groups(design, np.random.default_rng(6))
    bad, good = (table["x"][table["bad"] == flag].to_numpy() for flag in (True, False))
    above = np.searchsorted(np.sort(bad), good).mean() / len(bad)
    assert functions.truth_of_groups(design)["auc", ALL] == pytest.approx(above, abs=0.01)


def test_a_side_is_held_against_its_own_truth() -> None:
    design = Design(conversations=60)
    large = truths.Large(dialogues.conversations, "message_length", 300, alike=True)
    truth = large(design)
    own, other = (truth["words_per_message", "system 0", side] for side in (OWN, PARTNER))
    assert own > other + 0.5, "only people send single words"
    assert truth["words_per_message", "system 3", OWN] == own


def test_what_is_expected_is_of_campaigns_of_this_size() -> None:
    short, long = (
        truths.Expected(sayings.repeated_texts, "unique_responses", 5)(
            replace(SMALL, conversations=n)
        )
        for n in (2, 40)
    )
    assert max(long.values()) < min(short.values()) - 0.1


def test_fixed_items_are_the_same_and_their_raters_are_not() -> None:
    draw = panels.Judged("new", fixed=True)
    design = Design(systems=1, conversations=200, votes=40, severity=0.0)
    first, second = (
        draw(design, np.random.default_rng(seed)).groupby("item")["value"].mean() for seed in (1, 2)
    )
    assert first.corr(second) > 0.9


def test_users_come_back_and_retention_can_be_told() -> None:
    table = logs.log(Design(systems=1, conversations=60), np.random.default_rng(0))
    found = get_metric("engagement")(table).set_index("metric")
    assert found["estimate"].notna().all()
    assert 0 < float(str(found.loc["weekly_retention", "estimate"])) < 0.5


def test_a_sound_interval_holds_and_one_that_forgets_the_rater_does_not() -> None:
    design = Design(each=10, raters_of_one=True, severity=1.2, conversations=60)
    truth = truths.Scale("likert")
    good = Estimator("likert", "good", campaigns.scale, design, truth)
    forgetful = Estimator("likert", "forgetful", _one_rater_each, design, truth)
    kept, lost = simulate([good, forgetful], 60, seed=1)
    assert lost["verdict"] == "too narrow"
    assert float(str(kept["coverage"])) > float(str(lost["coverage"])) + 0.2


def _one_rater_each(design: Design, chance: np.random.Generator) -> RatingTable:
    """Return the same ratings as if each came from somebody else."""
    table = campaigns.scale(design, chance)
    return RatingTable(table.assign(rater=[f"r{k}" for k in range(len(table))]))


def _is_large(each: Estimator) -> bool:
    return isinstance(each.truth, truths.Large | truths.Expected)


def test_every_estimator_can_be_simulated() -> None:
    """Those whose truth is one very large campaign are measured against nothing here."""
    for each in {one.name: one for one in estimators(SMALL)}.values():
        known = replace(each, truth=truths.Even(each.name, 0.0)) if _is_large(each) else each
        trials = list(known.trials(range(1)))
        assert trials or _is_large(each), each


def test_the_number_of_workers_changes_nothing() -> None:
    chosen = [each for each in estimators(SMALL) if each.name == "persona_detection"][:1]
    one, two = (list(simulate(chosen, 30, seed=3, workers=workers)) for workers in (1, 2))
    assert one == two


def test_the_command_prints_and_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "simulated.json"
    command = ["simulate", "--campaigns", "4", "--only", "likert", "--json", str(path)]
    assert main([*command, "--systems", "2", "--conversations", "6"]) == 0
    assert "coverage" in capsys.readouterr().out
    written = json.loads(path.read_text())
    assert written["changes"] == {"systems": 2}
    assert {row["estimator"] for row in written["rows"]} == {"likert"}
    assert {row["conversations"] for row in written["rows"]} == {6}


def test_the_former_name_works_and_tells_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--campaigns", "1", "--only", "likert", "--systems", "2", "--conversations", "6"]
    assert main(["rehearse", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == "The command rehearse is called simulate now.\n"
    assert "coverage" in printed.out
    assert main(["simulate", *arguments]) == 0
    assert capsys.readouterr().err == ""
