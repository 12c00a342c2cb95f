"""SSA against perplexity: the line by hand, and what is said without one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from analysis import (
    PredictionTable,
    RatingTable,
    Report,
    Section,
    get_report,
    prediction_table,
    rating_table,
)
from tests.analysis.examples import labels
from tests.analysis.prediction_tables import predictions

meena_ssa_perplexity = get_report("meena_ssa_perplexity")
PERPLEXITIES = {"small": 20.0, "middle": 14.0, "large": 10.0}
SENSIBLE = {"small": 8, "middle": 11, "large": 18}


def rated(systems: dict[str, int] = SENSIBLE, n: int = 20) -> RatingTable:
    """Return labels: so many of a system's replies are sensible, half of these specific."""
    given = [
        (name, f"{name}{k}", "r", int(k < right), int(k < right // 2))
        for name, right in systems.items()
        for k in range(n)
    ]
    return labels(given)


def likely() -> PredictionTable:
    """Return predictions with these perplexities."""
    frames = [
        predictions([{"gold": "a b", "log_probs": [-math.log(ppl)] * 2}], system=name)
        for name, ppl in PERPLEXITIES.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    return prediction_table(table.assign(prediction=[f"p{k}" for k in range(len(table))]))


def test_points_and_r2_by_hand() -> None:
    report = meena_ssa_perplexity(rated(), likely())
    fits, points, *_pictures, printed = (section.frame for section in report.sections)
    assert list(points["system"]) == ["large", "middle", "small"]
    assert list(points["perplexity"]) == pytest.approx([10, 14, 20])
    sensible, specific = [90, 55, 40], [45, 25, 20]
    ssa = [(a + b) / 2 for a, b in zip(sensible, specific, strict=True)]
    scores: list[Sequence[float]] = [ssa, sensible, specific]
    for row, values in zip(fits.to_dict("records"), scores, strict=True):
        assert row["R²"] == pytest.approx(np.corrcoef([10, 14, 20], values)[0, 1] ** 2)
        assert row["slope"] < 0
    explained = f"{fits['R²'].iloc[0]:.2f}"
    assert report.findings == (
        f"Perplexity explains {explained} of the variance of SSA, which falls with it.",
    )
    assert set(printed["r2"]) == {0.93, 0.94}


def test_two_systems_are_no_line() -> None:
    two = {name: SENSIBLE[name] for name in ("small", "large")}
    report = meena_ssa_perplexity(rated(two), likely())
    assert report.findings == ("Too few systems for a line: three are needed.",)


def test_systems_without_labels_or_perplexity_leave_the_print() -> None:
    report = meena_ssa_perplexity(rating_table(rated().iloc[:0]), likely())
    assert report.findings == ("No system has a perplexity and decided labels of its replies.",)
    assert len(report.sections) == 1


def test_systems_whose_labels_are_open_are_no_points() -> None:
    report = meena_ssa_perplexity(rating_table(rated().assign(votes=2)), likely())
    assert report.findings == ("No system has a perplexity and decided labels of its replies.",)
    some = rated()
    asked = np.where(some["system"].eq("small"), 2, 1)
    report = meena_ssa_perplexity(rating_table(some.assign(votes=asked)), likely())
    assert report.findings == ("Too few systems for a line: three are needed.",)
    assert list(report.sections[1].frame["system"]) == ["large", "middle"]


def both() -> RatingTable:
    """Return the labels of conversations, and of replies to contexts, as two campaigns."""
    live = rated({**SENSIBLE, "human": 19}).assign(context="", campaign="live")
    still = rated({**SENSIBLE, "human": 17}).assign(context="k", campaign="still", protocol="fixed")
    table = pd.concat([live, still], ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


def pictures(report: Report) -> dict[str, Section]:
    return {section.key: section for section in report.sections if section.chart is not None}


def test_two_campaigns_are_six_charts_and_who_has_no_perplexity_is_a_line() -> None:
    report = meena_ssa_perplexity(both(), likely())
    drawn = pictures(report)
    assert [section.title.split(" by ")[0] for section in drawn.values()] == [
        "Static SSA",
        "Static sensibleness",
        "Static specificity",
        "Interactive SSA",
        "Interactive sensibleness",
        "Interactive specificity",
    ]
    chart = drawn["d-meena-sensibleness"].chart
    assert chart is not None
    flat = [row for row in chart.rows if row["series"] == "human"]
    assert [(row["x"], row["y"], row["joined"]) for row in flat] == [
        (pytest.approx(10), 95, True),
        (pytest.approx(20), 95, True),
    ]
    assert {row["name"] for row in chart.rows if not row["joined"]} == set(PERPLEXITIES)


def test_who_has_no_perplexity_leaves_r2_unchanged() -> None:
    table = both()
    fewer = rating_table(table[table["system"] != "human"].reset_index(drop=True))
    with_line, without = (meena_ssa_perplexity(each, likely()) for each in (table, fewer))
    pd.testing.assert_frame_equal(with_line.sections[0].frame, without.sections[0].frame)
    assert with_line.findings == without.findings


def test_named_vocabularies_that_differ_are_refused_in_one_fit() -> None:
    named = likely().assign(vocabulary=["words", "words", "pieces"])
    report = meena_ssa_perplexity(rated(), prediction_table(named))
    fits = report.sections[0].frame
    assert fits["R²"].isna().all()
    wanted = "perplexities of different vocabularies (pieces: large; words: middle, small)"
    assert set(fits["reason"]) == {wanted}
    assert report.findings == (f"P{wanted[1:]}.",)
    for section in pictures(report).values():
        assert section.chart is not None
        assert [row["name"] for row in section.chart.rows] == ["large", "middle", "small"]
        assert not any(row["joined"] for row in section.chart.rows)
    same = likely().assign(vocabulary="words")
    assert (
        meena_ssa_perplexity(rated(), prediction_table(same)).sections[0].frame["R²"].notna().all()
    )


@pytest.mark.parametrize(("tokens", "refused"), [(1, True), (2, False), (3, True)])
def test_another_number_of_tokens_of_a_reply_is_another_vocabulary(
    tokens: int, refused: bool
) -> None:
    table = likely()
    cells = list(table["log_probs"])
    cells[0] = [-math.log(20.0)] * tokens
    report = meena_ssa_perplexity(rated(), prediction_table(table.assign(log_probs=cells)))
    assert report.sections[0].frame["R²"].isna().all() == refused
    assert ("different vocabularies: of e0" in report.findings[0]) == refused


def test_each_dataset_has_a_fit_of_its_own_whatever_its_vocabulary() -> None:
    one, other = likely(), likely().assign(dataset="other", vocabulary="pieces")
    table = pd.concat([one.assign(vocabulary="words"), other], ignore_index=True)
    table["prediction"] = [f"p{k}" for k in range(len(table))]
    fits = meena_ssa_perplexity(rated(), prediction_table(table)).sections[0].frame
    assert fits["R²"].notna().all()
    assert set(fits["dataset"]) == {"d", "other"}
