"""Vector extrema."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.vector_extrema import vector_extrema
from analysis.text import vectors
from analysis.text.vectors import Vectors, extrema
from tests.analysis.prediction_tables import estimate, said

OWN = Vectors("own", {"up": 0, "down": 1, "side": 2}, np.array([[1.0, 0], [-3, 1], [0, 2]]))


def test_identical_text_has_1_and_unknown_words_0() -> None:
    assert estimate(
        vector_extrema(said(("up, down", "Up down!")), vectors=OWN), "vector_extrema"
    ) == pytest.approx(1)
    assert estimate(vector_extrema(said(("what", "up")), vectors=OWN), "vector_extrema") == 0


def test_the_value_farthest_from_zero_is_kept() -> None:
    assert extrema(["up", "down", "side"], OWN).tolist() == [-3, 2]
    found = vector_extrema(said(("up down", "side")), vectors=OWN)
    assert estimate(found, "vector_extrema") == pytest.approx(1 / 10**0.5)
    assert found["variant"].item() == "own"
    assert "agrees only weakly" in found["note"].item()


def test_packaged_vectors_know_that_tea_is_like_coffee() -> None:
    if vectors.glove() is None:
        pytest.skip("the extra encoders is not installed")
    near = estimate(vector_extrema(said(("tea", "coffee"))), "vector_extrema")
    far = estimate(vector_extrema(said(("tea", "carburetor"))), "vector_extrema")
    assert near > 0.5 > far


def test_without_vectors_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PACKAGE", "no_such_package")
    vectors.glove.cache_clear()
    found = vector_extrema(said(("tea", "coffee")))
    vectors.glove.cache_clear()
    assert found["estimate"].isna().all()
    assert found["reason"].item().startswith('needs word vectors: pip install "parley[encoders]"')
