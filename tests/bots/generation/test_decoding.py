"""The shared decoder against slow, obvious ways to do the same."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from bots import Decoding, ReplyCandidate
from bots.bot import Turn
from bots.generation.decoding import _walk, propose, truncated
from bots.text.vocabulary import END, MARKS, PAD, START, UNKNOWN
from tests.bots.stepping import ALLOWED, TURNS, Tiny

Row = tuple[tuple[int, ...], float]  # tokens and their total log-probability


def ids(model: Tiny, candidate: ReplyCandidate) -> tuple[int, ...]:
    """Return a candidate's tokens, the end mark too where it was written."""
    written = tuple(model.codec.encode(candidate.text))
    return written if len(candidate.log_probs) == len(written) else (*written, END)


def test_greedy_in_a_batch_is_the_slow_loop() -> None:
    model = Tiny(lasting=1.0)
    found = propose(model, TURNS, Decoding(max_tokens=6))
    for turn, candidates in zip(TURNS, found, strict=True):
        tokens, said = model.greedy(turn, 6)
        assert len(candidates) == 1
        assert list(ids(model, candidates[0])) == tokens
        assert candidates[0].log_probs == pytest.approx(said)
    lengths = {len(candidates[0].log_probs) for candidates in found}
    assert len(lengths) > 1  # or the test would not see rows that end before others


@pytest.mark.parametrize("method", ["beam", "sample"])
def test_rows_of_a_batch_do_not_know_each_other(method: str) -> None:
    model = Tiny(lasting=1.0)
    decoding = Decoding(method=method, number=3, max_tokens=6, seed=4)  # type: ignore[arg-type]
    alone = [propose(model, [turn], decoding)[0] for turn in TURNS]
    assert propose(model, TURNS, decoding) == alone
    assert propose(model, TURNS[::-1], decoding) == alone[::-1]
    assert propose(model, [], decoding) == []


def test_a_wide_beam_finds_everything() -> None:
    model = Tiny()
    decoding = Decoding("beam", number=40, max_tokens=3, rank_by="sum_logp")
    for turn, found in zip(TURNS, propose(model, TURNS, decoding), strict=True):
        expected = model.everything(turn, 3)
        assert {ids(model, each): sum(each.log_probs) for each in found} == pytest.approx(expected)
        totals = [sum(each.log_probs) for each in found]
        assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 9])
def test_a_beam_in_a_batch_is_the_slow_loop(width: int) -> None:
    model = Tiny(lasting=0.5)
    decoding = Decoding("beam", width, max_tokens=6, rank_by="sum_logp")
    for turn, found in zip(TURNS, propose(model, TURNS, decoding), strict=True):
        expected = slow_beam(model, turn, width, 6)
        assert [ids(model, each) for each in found] == [tokens for tokens, _ in expected]
        totals = [total for _, total in expected]
        assert [sum(each.log_probs) for each in found] == pytest.approx(totals)


def slow_beam(model: Tiny, turn: Turn, width: int, most: int) -> list[Row]:
    """Search one turn; of the best moves, those that end are set aside until `width` go on."""
    going: list[Row] = [((), 0.0)]
    ended: list[Row] = []
    for _ in range(most):
        moves = [
            ((*tokens, token), total + float(model.log_probs(turn, tokens)[token]))
            for tokens, total in going
            for token in ALLOWED
        ]
        going = []
        for move in sorted(moves, key=lambda move: -move[1])[: 2 * width]:
            if len(going) < width:
                (ended if move[0][-1] == END else going).append(move)
        ended.sort(key=lambda move: -move[1])
        if not going or (len(ended) >= width and ended[width - 1][1] >= going[0][1]):
            break
    return sorted([*ended, *going][:width], key=lambda move: -move[1])


def test_a_narrow_beam_is_not_worse_than_greedy() -> None:
    model = Tiny(lasting=0.5)
    for turn in TURNS:
        best = propose(model, [turn], Decoding("beam", 4, max_tokens=8, rank_by="sum_logp"))[0][0]
        tokens, said = model.greedy(turn, 8)
        if tokens[-1] == END:
            assert sum(best.log_probs) >= sum(said) - 1e-6


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.6])
def test_samples_come_as_often_as_the_softmax_says(temperature: float) -> None:
    model, number = Tiny(), 4_000
    decoding = Decoding("sample", number, temperature, max_tokens=1, seed=3)
    found = propose(model, TURNS[1:2], decoding)[0]
    counted = Counter(ids(model, each)[0] for each in found)
    logits = model.log_probs(TURNS[1], ()) / temperature
    logits[[PAD, START, UNKNOWN]] = -torch.inf
    for token, share in enumerate(logits.softmax(0).tolist()):
        spread = (share * (1 - share) / number) ** 0.5
        assert counted[token] / number == pytest.approx(share, abs=4 * spread)


def test_log_probabilities_of_samples_are_those_at_temperature_1() -> None:
    model = Tiny(lasting=1.0)
    decoding = Decoding("sample", 20, temperature=3.0, top_k=3, max_tokens=5)
    for found, turn in zip(propose(model, TURNS, decoding), TURNS, strict=True):
        for each in found:
            tokens = ids(model, each)
            expected = [
                float(model.log_probs(turn, tokens[:i])[token]) for i, token in enumerate(tokens)
            ]
            assert each.log_probs == pytest.approx(expected)


def test_truncation_by_hand() -> None:
    logits = torch.tensor([[0.5, 0.1, 0.3, 0.1]]).log()
    assert truncated(logits, 0, 1.0)[0].tolist() == pytest.approx([0.5, 0.1, 0.3, 0.1])
    assert truncated(logits, 2, 1.0)[0].tolist() == pytest.approx([0.625, 0, 0.375, 0])
    nucleus = truncated(logits, 0, 0.75)[0]
    assert (nucleus / nucleus.sum()).tolist() == pytest.approx([0.625, 0, 0.375, 0])
    assert (truncated(logits, 0, 0.01)[0] > 0).tolist() == [True, False, False, False]
    both = truncated(logits, 3, 0.5)[0]
    assert (both > 0).tolist() == [True, False, False, False]


def test_only_the_likeliest_are_sampled() -> None:
    model = Tiny()
    logits = model.log_probs(TURNS[3], ()).clone()
    logits[[PAD, START, UNKNOWN]] = -torch.inf
    best = logits.topk(2).indices.tolist()
    found = propose(model, TURNS[3:], Decoding("sample", 500, top_k=2, max_tokens=1))[0]
    assert {ids(model, each)[0] for each in found} == set(best)


def test_a_sample_alone_is_the_first_of_many() -> None:
    model = Tiny(lasting=1.0)
    for seed in range(5):
        one = _walk(model, TURNS, Decoding("sample", 1, max_tokens=6, seed=seed))
        many = _walk(model, TURNS, Decoding("sample", 7, max_tokens=6, seed=seed))
        assert [rows[0].tokens for rows in one] == [rows[0].tokens for rows in many]
    assert len({tuple(row.tokens) for row in many[0]}) > 1


def test_a_temperature_of_almost_0_is_greedy() -> None:
    model = Tiny(lasting=1.0)
    greedy = propose(model, TURNS, Decoding(max_tokens=6))
    for temperature in (0.0, 1e-4):
        decoding = Decoding("sample", 1, temperature, max_tokens=6)
        assert propose(model, TURNS, decoding) == greedy


def test_seeds_draw_differently() -> None:
    model = Tiny(lasting=2.0)
    drawn = [propose(model, TURNS, Decoding("sample", 2, max_tokens=6, seed=i)) for i in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_marks_are_never_written(method: str) -> None:
    decoding = Decoding(method, 5, temperature=5.0, max_tokens=8)  # type: ignore[arg-type]
    for found in propose(Tiny(lasting=1.0), TURNS, decoding):
        assert not {token for each in found for token in each.tokens} & set(MARKS)
