"""Per-token accuracy and -log D."""

from __future__ import annotations

import math

import pytest

from analysis import BadTable
from analysis.metrics.token_accuracy import token_accuracy
from tests.analysis.prediction_tables import estimate, only, predictions


def test_a_perfect_model_has_1() -> None:
    found = token_accuracy(predictions([{"token_hits": [1, 1]}, {"token_hits": "[1]"}]))
    assert estimate(found, "token_accuracy") == 1
    found = token_accuracy(predictions([{"token_hits": [1, 0]}, {"token_hits": [1]}]))
    assert estimate(found, "token_accuracy") == 0.75, "the mean over replies"


def test_minus_log_d() -> None:
    found = token_accuracy(predictions([{"discriminator": 0.5}, {"discriminator": "0.125"}]))
    assert estimate(found, "neg_log_d") == pytest.approx(math.log(2) * 2)
    found = token_accuracy(predictions([{"discriminator": 0.0}]))
    assert "outside 0 to 1" in only(found, "neg_log_d")["reason"]


def test_other_tables_have_no_rows_and_bad_ones_are_refused() -> None:
    assert token_accuracy(predictions([{"response": "Hi."}])).empty
    with pytest.raises(BadTable, match="row 1: token_hits is a list with 2"):
        predictions([{"token_hits": [2]}])
    with pytest.raises(BadTable, match="discriminator is 'high'"):
        predictions([{"discriminator": "high"}])
