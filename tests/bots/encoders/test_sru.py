"""Simple recurrent units, and what pools their states."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bots.encoders.sru import SRU, Scan, SRULayer
from bots.encoders.text_encoder import AttentionPooling, LastStates


def by_hand(layer: SRULayer, x: Tensor) -> Tensor:
    """Read one text (step, size) step by step and unit by unit, as the equations say."""
    width, weight = layer.width, layer.project.weight
    skip = weight[3 * width :] if len(weight) == 4 * width else torch.eye(width)
    out = torch.zeros(len(x), width)
    for unit in range(width):
        backwards = unit >= width - layer.turned
        state = torch.tensor(0.0)
        for step in reversed(range(len(x))) if backwards else range(len(x)):
            w, f, r = (weight[part * width + unit] @ x[step] for part in range(3))
            before = state
            forget = torch.sigmoid(f + layer.peephole[0, unit] * before + layer.bias[0, unit])
            reset = torch.sigmoid(r + layer.peephole[1, unit] * before + layer.bias[1, unit])
            state = forget * before + (1 - forget) * w
            out[step, unit] = reset * state + (1 - reset) * (skip[unit] @ x[step])
    return out


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize(("size", "bidirectional"), [(6, True), (4, True), (3, False), (5, False)])
def test_a_layer_computes_the_equations(size: int, bidirectional: bool, learns: bool) -> None:
    torch.manual_seed(0)
    layer = SRULayer(size, 3, bidirectional=bidirectional)
    torch.nn.init.normal_(layer.peephole)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(7, 2, size)
    with torch.set_grad_enabled(learns):
        found = layer(x, torch.ones(7, 2, 1))
    for text in range(2):
        torch.testing.assert_close(found[:, text], by_hand(layer, x[:, text]))


def test_a_network_reads_alike_while_it_learns_and_after() -> None:
    torch.manual_seed(4)
    network = SRU(300, 300, 2)
    x, present = torch.randn(30, 3, 300), torch.rand(30, 3) < 0.8
    learning = network(x, present)
    with torch.inference_mode():
        torch.testing.assert_close(network(x, present), learning, rtol=1e-4, atol=1e-5)


def test_the_gradient_of_the_scan_is_right() -> None:
    torch.manual_seed(1)
    inputs, gates = torch.randn(2, 6, 2, 3, dtype=torch.double, requires_grad=True)
    peephole = torch.randn(3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(Scan.apply, (inputs, gates, peephole))


def test_padding_changes_nothing() -> None:
    torch.manual_seed(2)
    network = SRU(5, 4, 3)
    texts = [torch.randn(length, 5) for length in (6, 1, 4)]
    padded = torch.full((6, 3, 5), 9.0)
    present = torch.zeros(6, 3, dtype=torch.bool)
    for place, text in enumerate(texts):
        padded[: len(text), place] = text
        present[: len(text), place] = True
    together = network(padded, present)
    assert not together[~present].any()
    for place, text in enumerate(texts):
        alone = network(text.unsqueeze(1), torch.ones(len(text), 1, dtype=torch.bool))
        torch.testing.assert_close(together[: len(text), place], alone[:, 0])


def test_pooling_averages_what_each_head_sums() -> None:
    torch.manual_seed(3)
    pool = AttentionPooling(4, heads=3, size=2)
    states = torch.randn(5, 1, 4)
    heads = []
    for head in range(3):
        weight = pool.project.weight[head * 2 : head * 2 + 2]
        scores = torch.sigmoid(states[:, 0] @ weight.T) @ pool.score[head]
        heads.append(torch.softmax(scores, 0) @ states[:, 0])
    whole = torch.ones(5, 1, dtype=torch.bool)
    torch.testing.assert_close(pool(states, whole)[0], torch.stack(heads).mean(0))
    longer = torch.cat((states, torch.full((2, 1, 4), 7.0)))
    mask = torch.cat((whole, torch.zeros(2, 1, dtype=torch.bool)))
    torch.testing.assert_close(pool(longer, mask), pool(states, whole))
    assert not pool(states, ~whole).any()


def test_last_states_are_those_that_have_read_everything() -> None:
    states = torch.arange(24.0).view(3, 2, 4)
    present = torch.tensor([[True, True], [True, False], [True, False]])
    expected = torch.stack((torch.cat((states[2, 0, :2], states[0, 0, 2:])), states[0, 1]))
    torch.testing.assert_close(LastStates()(states, present), expected)
