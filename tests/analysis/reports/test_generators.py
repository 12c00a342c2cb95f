"""Generators in the layout of hredGAN's tables."""

from __future__ import annotations

import math

import pytest

from analysis.reports.generators import generators
from tests.analysis.prediction_tables import predictions


def test_own_generators_stand_above_the_printed_ones() -> None:
    gold = "we like old owls a lot"
    rows: list[dict[str, object]] = [
        {"system": "copy", "response": gold, "log_probs": [-1.0], "discriminator": 0.5},
        {"system": "dull", "response": "i do not know", "log_probs": [-3.0]},
    ]
    rows[0] |= {"candidates": ["no", gold, "yes"], "scores": [0.1, 0.5, 0.3]}
    report = generators(predictions(rows, gold=gold))
    own, ranked, printed = (section.frame for section in report.sections)
    copy, dull = (own[own["model"] == name].iloc[0] for name in ("copy", "dull"))
    assert copy["ppl"] == pytest.approx(math.e)
    assert copy["neg_log_d"] == pytest.approx(math.log(2))
    assert copy["bleu2"] == pytest.approx(1), "a fraction, as printed"
    assert (copy["rouge2_f1"], copy["nasl"], copy["distinct1"]) == (1, 1, 1)
    assert math.isnan(dull["neg_log_d"])
    assert dull["rouge2_f1"] == 0
    assert list(ranked["response"]) == [gold, "yes", "no"]
    assert report.findings == ("copy has the lowest perplexity of 2: 2.7.",)
    assert printed[printed["model"] == "hredGAN_w"]["rouge2_f1"].tolist() == [0.3244, 0.1168]
    assert "agrees only weakly" in report.cautions[0]


def test_an_infinite_perplexity_is_said() -> None:
    report = generators(predictions([{"response": "a", "log_probs": [-math.inf]}]))
    assert report.findings[0].startswith("Every perplexity is infinite: a word")


def test_other_predictions_have_no_generators() -> None:
    report = generators(predictions([{"gold": "a"}]))
    assert report.findings == ("This table has no responses and no log probabilities.",)
    assert len(report.sections) == 1
