"""Recurrent blocks: padding changes nothing, all steps at once are steps one by one."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bots.writers.recurrent import (
    Decoder,
    Encoder,
    Kind,
    MemoryAttention,
    Output,
    last,
    masked_softmax,
    select,
    to_state,
)

LENGTHS = torch.tensor([3, 6, 1, 3, 6, 2])


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("layers", [1, 2])
def test_an_encoder_is_torch_over_packed_rows(kind: Kind, layers: int) -> None:
    torch.manual_seed(1)
    encoder, vectors = Encoder(kind, 4, 5, layers), torch.randn(6, 6, 4, requires_grad=True)
    outputs, state = encoder(vectors, LENGTHS)
    packed = pack_padded_sequence(vectors, LENGTHS, batch_first=True, enforce_sorted=False)
    expected, hidden = encoder.cells(packed)
    padded, _ = pad_packed_sequence(expected, batch_first=True)
    torch.testing.assert_close(outputs, padded)
    torch.testing.assert_close(state, to_state(hidden))
    torch.testing.assert_close(last(outputs, LENGTHS), state["h"][:, -1])
    learned = torch.autograd.grad(outputs.square().sum() + state["h"].sum(), vectors)[0]
    known = torch.autograd.grad(padded.square().sum() + to_state(hidden)["h"].sum(), vectors)[0]
    torch.testing.assert_close(learned, known)


@pytest.mark.parametrize("ways", [1, 2])
def test_what_pads_a_row_changes_nothing(ways: int) -> None:
    torch.manual_seed(2)
    encoder, vectors = Encoder("gru", 4, 5, ways=ways), torch.randn(6, 6, 4)
    outputs, state = encoder(vectors, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        alone, after = encoder(vectors[row : row + 1, :length], torch.tensor([length]))
        torch.testing.assert_close(outputs[row, :length], alone[0])
        torch.testing.assert_close(state["h"][row], after["h"][0])
        assert not outputs[row, length:].any()


def test_attention_scores_by_hand() -> None:
    torch.manual_seed(3)
    query, memory = torch.randn(2, 1, 3), torch.randn(2, 4, 3)
    general = MemoryAttention("general", 3, 3)
    expected = torch.einsum("rsq,mq,rpm->rsp", query, general.weigh.weight, memory)
    torch.testing.assert_close(general.scores(query, memory), expected)
    additive = MemoryAttention("additive", 3, 3)
    for row in range(2):
        for place in range(4):
            inner = additive.weigh(query[row, 0]) + additive.key(memory[row, place])
            score = additive.value(torch.tanh(inner))
            torch.testing.assert_close(additive.scores(query, memory)[row, 0, place], score[0])
    dot = MemoryAttention("dot", 3, 3).scores(query, memory)[1, 0]
    torch.testing.assert_close(dot, memory[1] @ query[1, 0])


def test_attention_is_a_mean_of_what_is_present() -> None:
    memory = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [50.0, 60.0]], [[7.0, 7.0]] * 3])
    present = torch.tensor([[True, True, False], [False, False, False]])
    context, weights = MemoryAttention("dot", 2, 2)(torch.zeros(2, 1, 2), memory, present)
    assert context[:, 0].tolist() == [[2.0, 3.0], [0.0, 0.0]]
    assert weights[:, 0].tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_masked_softmax_by_hand() -> None:
    found = masked_softmax(torch.tensor([0.0, 2.0, 9.0]).log(), torch.tensor([True, True, False]))
    assert found.tolist() == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("attention", ["none", "general", "additive", "dot"])
def test_all_steps_at_once_are_steps_one_by_one(kind: Kind, attention: str) -> None:
    torch.manual_seed(4)
    decoder = Decoder(kind, 4, 5, 2, 0.3, attention, 5).eval()  # type: ignore[arg-type]
    first = {name: torch.randn(3, 2, 5) for name in ("hc" if kind == "lstm" else "h")}
    first |= {"memory": torch.randn(3, 7, 5), "present": torch.rand(3, 7) > 0.4}
    vectors = torch.randn(3, 6, 4)
    at_once, after = decoder(vectors, first)
    state, outputs = first, []
    for step in torch.split(vectors, 1, dim=1):
        output, state = decoder(step, state)
        outputs.append(output)
    torch.testing.assert_close(at_once, torch.cat(outputs, dim=1))
    torch.testing.assert_close(after, state)
    other = {**first, "memory": first["memory"] + 1}
    looks_back = not torch.allclose(decoder(vectors, other)[0], at_once)
    assert looks_back == (attention != "none")


def test_rows_of_a_state_can_come_twice_or_not_at_all() -> None:
    state = {"h": torch.arange(6).view(3, 2), "present": torch.tensor([True, False, True])}
    found = select(state, torch.tensor([2, 0, 2]))
    assert found["h"].tolist() == [[4, 5], [0, 1], [4, 5]]
    assert found["present"].tolist() == [True, True, True]


def test_outputs_are_log_probabilities_and_tied_ones_use_the_words_vectors() -> None:
    torch.manual_seed(5)
    table, outputs = torch.randn(9, 4), torch.randn(2, 3, 5)
    tied = Output(5, 7, tied=4)
    assert isinstance(tied.bias, nn.Parameter)
    tied.bias.data = torch.randn(7)
    expected = torch.log_softmax(tied.layer(outputs) @ table[:7].T + tied.bias, dim=2)
    torch.testing.assert_close(tied(outputs, table), expected)
    plain = Output(5, 7)
    torch.testing.assert_close(plain(outputs, table), plain(outputs, torch.zeros(9, 4)))
    torch.testing.assert_close(plain(outputs, table).exp().sum(2), torch.ones(2, 3))
