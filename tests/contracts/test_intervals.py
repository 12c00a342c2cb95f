"""Every interval and every p is rehearsed: where it is made, and which rehearsal tries it.

A new metric or report with an interval fails here until it is rehearsed, or named with the one that
has the same function of the same kind of numbers.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from analysis import get_metric, metric_names
from analysis.registry import table_of
from analysis.rehearsal import estimators
from analysis.simulated import Design
from tests.analysis.examples import ROOT
from tests.analysis.samples import tables

# What makes an interval, or a p; a module that calls one of them is listed below.
MAKERS = frozenset(
    "area_interval averaged binomial binomtest bootstrap chdtrc chi_square circles control_tests "  # noqa: SIM905
    "detection interval mannwhitneyu mean_per mean_row ndtr ndtri normal_interval over_clusters "
    "over_parts over_raters over_repeats paired_t_test pearson per_message percentile_interval "
    "permutation_p quantile rate_interval rater_intervals ratio_row share share_interval "
    "share_intervals skewed_interval slope_t "
    "spearman stdtr stdtrit t_interval t_test wilson_interval win_intervals".split()
)
FOLDER = ROOT / "analysis" / "metrics"
P = re.compile(r'"(p(?:_[a-z]+)?)":')
MEANS = "a mean over examples (analysis.predicted.mean_row) as that of"
# Metrics that are not rehearsed under their own name: which is, and what they have in common.
LIKE = {
    "echo_index": ("word_f1", f"{MEANS} word_f1"),
    "pmi_coherence": ("nasl", f"{MEANS} nasl's length"),
    "semantic_distance": ("nasl", f"{MEANS} nasl's length"),
    "vector_extrema": ("nasl", f"{MEANS} nasl's length"),
}
WITHOUT = {
    "auc": "no interval: scores of an example share its context",
    "entropy": "no interval: of all responses together",
    "nist": "no interval: weights come from the whole set of references",
    "rank_probability": "a probability, of which --probabilities tells how often it is so",
    "win_probability": "a probability, of which --probabilities tells how often it is so",
    "win_probability_learned": "a probability, of which --probabilities tells how often it is so",
}
# p values of metrics, and the estimator that tries each.
P_VALUES = {
    ("order_effect", "p"): "order_effect",
    ("system_difference", "p"): "system_difference",
    ("system_difference", "p_equivalent"): "system_difference",
    ("system_difference", "p_holm"): "system_difference",
    ("system_difference", "p_permutation"): "system_difference",
    ("turn_effect", "p"): "turn_effect",
    ("turn_effect", "p_holm"): "turn_effect",
}
# Modules beside the metrics: the estimators that try what they make, or why none does.
MODULES: dict[str, tuple[str, ...] | str] = {
    "agreement": ("krippendorff_alpha", "percent_agreement", "gwet_ac1", "gwet_ac2"),
    "ballots": ("agreement over raters",),
    "calibration": ("calibrated_score",),
    "circles": ("circles",),
    "clustering": ("likert", "ssa", "learned_metric p"),
    "cohen": ("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"),
    "correlation": ("correlation", "correlations", "learned_metric p"),
    "detection": ("areas", "flagged_conversations"),
    "differences": ("system_difference",),
    "filtering": ("areas",),
    "intervals": "the functions themselves",
    "latent": ("ordinal_score",),
    "predicted": ("recall", "word_f1", "nasl"),
    "preferences": ("win_rate",),
    "raters": ("control_p",),
    "repeated": ("over_clusters", "over_raters"),
    "reports/calibration": "quantiles of raters' severities, not an interval of an estimate",
    "reports/chikai_sentiment": ("over_raters", "fleiss_kappa"),
    "reports/convai2_blind": ("convai2_blind p",),
    "reports/convai2_wild": ("over_clusters",),
    "reports/learned_metric": ("learned_metric p", "correlation"),
    "reports/meena_repeatability": ("over_raters",),
    "reports/persona_metrics_aupr": ("areas",),
    "reports/persona_metrics_nol": ("correlations",),
    "reports/preferences": ("shown_first",),
    "reports/rater_agreement": ("agreement over raters", "Brennan-Prediger", "krippendorff_alpha"),
    "reports/thred_human": ("over_clusters", "over_raters"),
    "reports/thred_metrics": ("thred_metrics p", "learned_metric p"),
    "sampling": "the posterior of calibrated_score and ordinal_score by another way to compute it",
    "significance": ("simple tests", "convai2_blind p"),
    "simulated": "truths of the rehearsal",
    "speakers": ("simple tests",),
    "standardizing": ("control_p",),
    "turns": ("ssa", "likert"),
    "transcripts": ("message_length", "repeats", "engagement"),
}


@cache
def _rehearsed() -> frozenset[str]:
    return frozenset(each.name for each in estimators(Design()))


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_with_an_interval_is_rehearsed(name: str) -> None:
    listed = [name in _rehearsed(), name in LIKE, name in WITHOUT]
    assert sum(listed) == 1, f"rehearse {name}, or list it here with what is like it"
    if name in LIKE:
        assert LIKE[name][0] in _rehearsed()
    if name in WITHOUT:
        found = get_metric(name)(tables()[table_of(get_metric(name))])
        assert found["low"].isna().all()
        assert found["high"].isna().all()


def test_every_p_of_a_metric_is_rehearsed() -> None:
    sources = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    columns = {(name, key) for name, text in sources.items() for key in P.findall(text)}
    assert columns == set(P_VALUES)
    tried = {(each.name, column) for each in estimators(Design()) for column in each.tests}
    assert {(named, column) for (_, column), named in P_VALUES.items()} <= tried


def test_every_module_that_makes_an_interval_or_a_p_is_listed() -> None:
    assert {name for name in _modules() if not name.startswith("metrics/")} == set(MODULES)
    named = {one for given in MODULES.values() if isinstance(given, tuple) for one in given}
    assert named <= _rehearsed()


def _modules() -> set[str]:
    """Return the modules of the library that call what makes an interval."""
    folder = ROOT / "analysis"
    paths = [*folder.glob("*.py"), *folder.glob("metrics/*.py"), *folder.glob("reports/*.py")]
    return {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in paths
        if path.stem != "rehearsal" and _called(path) & MAKERS
    }


def _called(path: Path) -> set[str]:
    calls = (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    functions = (node.func for node in calls if isinstance(node, ast.Call))
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in functions
        if isinstance(each, ast.Name | ast.Attribute)
    }
