"""SS, the penalized semantic distance."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.semantic_distance import semantic_distance
from analysis.text import vectors
from analysis.text.semantic import DULL, distance, penalty, penalty_of, without_dull
from analysis.text.vectors import VectorEncoder
from tests.analysis.prediction_tables import estimate, predictions

LAST, BEFORE = "reply to the last message", "reply to the message before"


def test_published_example() -> None:
    one, other = np.array([1.0, 0]), np.array([0.3, (1 - 0.3**2) ** 0.5])
    assert distance(one, other, penalty(4, 1)) == pytest.approx(1.1852, abs=5e-5)


def test_dull_parts_raise_the_penalty() -> None:
    assert len(set(DULL)) == 60
    assert without_dull("I don't know, but that's a good idea for lunch") == "but for lunch"
    assert penalty_of("Lunch at noon") == 1
    assert penalty_of("Sounds great") == pytest.approx(penalty(2, 0))
    assert penalty(2, 0) > 1


def test_distance_to_both_messages() -> None:
    known = {"tea?": [1, 0], "cats?": [0, 1], "hot tea": [1, 0]}
    encoder = VectorEncoder("table", lambda texts: np.array([known[text] for text in texts], float))
    row: dict[str, object] = {"context": ["cats?", "tea?"], "response": "hot tea"}
    found = semantic_distance(predictions([row]), encoder=encoder)
    assert estimate(found, "semantic_distance", question=LAST) == pytest.approx(0)
    assert estimate(found, "semantic_distance", question=BEFORE) == pytest.approx(1)
    assert set(found["variant"]) == {"table"}


def test_a_reply_to_the_point_is_nearer() -> None:
    if vectors.glove() is None:
        pytest.skip("the extra encoders is not installed")
    context = ["What do you drink?", "Do you like green tea?"]
    table = predictions(
        [
            {"context": context, "response": "Black tea with milk, please.", "system": "near"},
            {"context": context, "response": "The carburetor rusted.", "system": "far"},
        ]
    )
    found = semantic_distance(table)
    near, far = (
        estimate(found, "semantic_distance", question=LAST, system=name) for name in ("near", "far")
    )
    assert near < far
