"""Exact search among cached candidates."""

from __future__ import annotations

import pytest
import torch

from bots.encoders import topk


@pytest.mark.parametrize("rows", [1, 300, 5000, 600_000])
@pytest.mark.parametrize("most", [1, 7])
def test_it_finds_what_sorting_everything_finds(rows: int, most: int) -> None:
    chance = torch.Generator().manual_seed(rows)
    matrix = torch.randn(rows, 4, generator=chance)
    queries = torch.randn(2, 4, generator=chance)
    for asked in (queries, queries[:1]):
        scores, places = topk.best(matrix, asked, most)
        products = asked @ matrix.T
        whole, order = products.sort(dim=1, descending=True, stable=True)
        torch.testing.assert_close(scores, whole[:, :most])
        torch.testing.assert_close(products.gather(1, places), whole[:, :most])
        assert places.shape == order[:, :most].shape


def test_of_equal_ones_the_earlier_comes_first_in_every_block() -> None:
    matrix = torch.zeros(topk.ROWS + 600, 1)
    matrix[[5, 700, topk.ROWS + 3]] = 1.0
    _, places = topk.best(matrix, torch.ones(1, 1), 5)
    assert places.tolist() == [[5, 700, topk.ROWS + 3, 0, 1]]
    _, first = topk.best(matrix, torch.ones(1, 1), 1)
    assert first.tolist() == [[5]]


def test_more_than_there_are_gives_all_and_none_gives_none() -> None:
    matrix = torch.eye(3)
    assert topk.best(matrix, torch.eye(3), 9)[1].shape == (3, 3)
    assert topk.best(matrix, torch.eye(3), 0)[1].shape == (3, 0)
    assert topk.best(matrix, torch.zeros(0, 3), 2)[1].shape == (0, 2)


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of the same length"):
        topk.best(torch.zeros(3, 4), torch.zeros(1, 5), 1)
