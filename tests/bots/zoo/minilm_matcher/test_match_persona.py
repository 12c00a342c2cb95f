"""Lines of a persona: asked for, used up, or not there."""

from __future__ import annotations

import torch

from bots.zoo.minilm_matcher.match_persona import SIZE, by_line

ALIKE = torch.tensor([[[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]]])  # one line for each of two replies
HERE = torch.tensor([[True, True, False]])
NEITHER = torch.zeros(1, 3)


def test_a_line_that_was_told_counts_less() -> None:
    told = torch.tensor([[0.8, 0.0, 0.0]])
    fresh, spent, _, drawn, _, _, due = (each[0] for each in by_line(ALIKE, told, NEITHER, HERE))
    assert fresh[1] > fresh[0]
    assert spent[0] > spent[1]
    assert drawn[0] > drawn[1]
    assert due[1] > due[0]


def test_a_line_that_is_asked_for_counts_more() -> None:
    asked = torch.tensor([[0.0, 0.7, 0.0]])
    _, _, wanted, _, near, due, _ = (each[0] for each in by_line(ALIKE, NEITHER, asked, HERE))
    for feature in (wanted, near, due):
        assert feature[1] > feature[0]


def test_nothing_is_drawn_on_where_there_is_no_persona() -> None:
    found = by_line(torch.zeros(1, 3, 2), NEITHER, NEITHER, torch.zeros(1, 3, dtype=torch.bool))
    assert len(found) == SIZE
    assert all(torch.equal(each, torch.zeros(1, 2)) for each in found)
