"""Rows rounded to bytes leave out only what cannot be among the best."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from bots.encoders import shortlist, topk
from bots.encoders.shortlist import RowSearch

SIZE = 24


def _normal(chance: torch.Generator, rows: int) -> Tensor:
    return torch.randn(rows, SIZE, generator=chance)


def _unlike(chance: torch.Generator, rows: int) -> Tensor:
    """Return rows of lengths from a millionth to a million, and some of zeros."""
    lengths = 10 ** torch.empty(rows, 1).uniform_(-6, 6, generator=chance)
    lengths[::7] = 0
    return _normal(chance, rows) * lengths


def _spiked(chance: torch.Generator, rows: int) -> Tensor:
    """Return rows of one large number each, beside which rounding leaves nothing of the others."""
    found = _normal(chance, rows)
    found[:, 0] *= 1000
    return found


def _near(chance: torch.Generator, rows: int) -> Tensor:
    """Return rows that differ by less than a step of rounding."""
    return _normal(chance, 1) + 1e-3 * _normal(chance, rows)


def _few_kinds(chance: torch.Generator, rows: int) -> Tensor:
    """Return rows of which many are the same."""
    return _normal(chance, 5)[torch.randint(5, (rows,), generator=chance)]


KINDS: list[Callable[[torch.Generator, int], Tensor]] = [
    _normal, _unlike, _spiked, _near, _few_kinds,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortlist, "MANY", 500)


@pytest.mark.parametrize("most", [1, 2, 30, 499, 500, 501])
@pytest.mark.parametrize("make", KINDS)
def test_it_finds_what_a_product_with_all_rows_finds(
    make: Callable[[torch.Generator, int], Tensor], most: int
) -> None:
    for seed in range(6):
        chance = torch.Generator().manual_seed(seed)
        matrix, queries = make(chance, 500), _normal(chance, 2)
        search = RowSearch(matrix)
        assert search.rounded is not None
        for some in (queries[:1], queries):
            scores, rows = search.best(some, most)
            whole, order = topk.best(matrix, some, most)
            largest = float(whole.abs().max())
            torch.testing.assert_close(scores, whole, rtol=1e-5, atol=1e-6 * largest)
            products = (some @ matrix.T).gather(1, rows)
            torch.testing.assert_close(products, whole, rtol=1e-5, atol=1e-6 * largest)
            assert rows.shape == order.shape


def test_of_the_same_rows_the_earlier_comes_first() -> None:
    matrix = torch.zeros(600, SIZE)
    matrix[[5, 77, 300]] = 1.0
    _, rows = RowSearch(matrix).best(torch.ones(1, SIZE), 4)
    assert rows[0, :3].tolist() == [5, 77, 300]


def test_most_rows_are_left_out_and_a_bound_that_is_too_small_loses_some() -> None:
    """The bound is what makes it exact: without it, a coarse rounding misses the best."""
    missed = 0
    for seed in range(40):
        chance = torch.Generator().manual_seed(seed)
        matrix, query = _normal(chance, 5000), _normal(chance, 1)[0]
        rounded = shortlist.RoundedRows(matrix)
        best = int(torch.mv(matrix, query).argmax())
        kept = rounded.kept(query, 1)
        assert best in kept
        assert len(kept) < 50
        rounded.errors.zero_()
        rounded.lengths.zero_()
        missed += best not in rounded.kept(query, 1)
    assert missed > 0


@pytest.mark.parametrize(
    ("rows", "kind", "is_rounded"),
    [
        (499, torch.float32, False),
        (500, torch.float32, True),
        (500, torch.float64, False),
    ],
)
def test_only_many_rows_of_plain_numbers_are_rounded(
    rows: int, kind: torch.dtype, is_rounded: bool
) -> None:
    assert (RowSearch(torch.zeros(rows, 2, dtype=kind)).rounded is not None) == is_rounded


def test_no_query_has_no_answer_and_one_of_another_length_is_refused() -> None:
    search = RowSearch(torch.zeros(600, 3))
    assert search.best(torch.zeros(0, 3), 2)[1].shape[0] == 0
    with pytest.raises(ValueError, match="rows of the same length"):
        search.best(torch.zeros(1, 4), 2)


def test_many_queries_are_multiplied_together() -> None:
    chance = torch.Generator().manual_seed(0)
    matrix, queries = _normal(chance, 600), _normal(chance, shortlist.FEW + 1)
    found = RowSearch(matrix).best(queries, 3)
    torch.testing.assert_close(found, topk.best(matrix, queries, 3))
