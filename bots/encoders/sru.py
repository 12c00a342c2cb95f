"""Simple recurrent units: one product for all steps and directions, then a compiled scan.

Source: Lei et al. 2018 ("Simple Recurrent Units for Highly Parallelizable Recurrence"), equations
1-4, as in the ASAPP dual encoder (NLP4CONVAI 2019): f = sig(W_f x + v_f * c' + b_f),
c = f * c' + (1 - f) * (W x), r = sig(W_r x + v_r * c' + b_r), h = r * c + (1 - r) * x. Where x is
not as wide as h, it is projected, as in the authors' code.

Only f and c need the step before, so only they are scanned, both directions side by side: three
operations per step, in place. The gradient of the scan is linear in what the forward pass kept: one
operation per step. TorchScript runs both loops: no Python per step, and no compiler at run time.
Apart because it is one paper's cell, with a compiled scan and tests of its own.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

HAS_ORDER = (
    torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and torch.backends.cpu.get_cpu_capability() == "AVX512"
)


class Product(nn.Linear):
    """A linear layer, kept as a processor multiplies fastest; biases come with each call.

    Where nothing is learned, oneDNN's product with weights that were brought into its own order
    once is about 1.15 times as fast as the plain one on processors with AVX-512; elsewhere nothing
    is gained, and the plain product is used.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__(size, out, bias=False)
        self._ordered: tuple[Any, Tensor] | None = None

    def forward(self, x: Tensor, biases: Tensor | None = None) -> Tensor:
        """Return x W^T + b for rows x."""
        if torch.is_grad_enabled() or not _is_faster(x, self.weight):
            return functional.linear(x, self.weight, biases)
        rows: Tensor = torch.ops.mkldnn._linear_pointwise(
            x.flatten(0, -2), self._weights(), biases, "none", [], ""
        )
        return rows.view(*x.shape[:-1], -1)

    def _weights(self) -> Tensor:
        """Return the weights in oneDNN's order, made anew when they were changed."""
        key = (self.weight.data_ptr(), self.weight._version)
        if self._ordered is None or self._ordered[0] != key:
            made: Tensor = torch.ops.mkldnn._reorder_linear_weight(self.weight.detach())
            self._ordered = key, made
        return self._ordered[1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the reordered weights out of copies; they are made again on demand."""
        return {**self.__dict__, "_ordered": None}


def _is_faster(x: Tensor, weight: Tensor) -> bool:
    """Return whether oneDNN's own order pays: for floats on a CPU with AVX-512."""
    return (
        HAS_ORDER
        and x.device.type == weight.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and x.numel() > 0
        and not weight.is_inference()
    )


SKIP = -2.0  # where r's bias starts: at first most of h is x, so words shared by two texts tell
SLIGHT = 0.1  # and how far its gates are moved at first by what they read [ours, both]


def _forward(inputs: Tensor, gates: Tensor, peephole: Tensor, states: Tensor) -> None:
    """Turn gates' sums into gates, and fill `states[1:]` from `states[0]`, step after step."""
    steps, indices = inputs.unbind(0), states.unbind(0)
    before = indices[0]
    for step, gate in enumerate(gates.unbind(0)):
        opened = gate.addcmul_(peephole, before).sigmoid_()
        torch.lerp(steps[step], before, opened, out=indices[step + 1])
        before = indices[step + 1]


def _forward_inplace(states: Tensor, gates: Tensor, peephole: Tensor) -> None:
    """As `_forward`, where `states[1:]` holds the inputs: half as many views, no second array."""
    indices = states.unbind(0)
    before = indices[0]
    for step, gate in enumerate(gates.unbind(0)):
        opened = gate.addcmul_(peephole, before).sigmoid_()
        before = indices[step + 1].lerp_(before, opened)


def _backward(gradients: Tensor, shares: Tensor) -> None:
    """Add to each step's gradient its share of the next one's, from the end."""
    steps, passed = gradients.unbind(0), shares.unbind(0)
    for step in range(len(steps) - 2, -1, -1):
        steps[step].addcmul_(steps[step + 1], passed[step + 1])


with warnings.catch_warnings():
    # deprecated in favor of torch.compile, which unrolls the loop and needs a compiler to be there
    warnings.simplefilter("ignore", DeprecationWarning)
    _scan_forward = torch.jit.script(_forward)
    _scan_inplace = torch.jit.script(_forward_inplace)
    _scan_backward = torch.jit.script(_backward)


class Scan(torch.autograd.Function):
    """States of the recurrence, the first one (zero) included: one more than there are inputs."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, gates: Tensor, peephole: Tensor) -> Tensor:
        """Take W x, W_f x + b_f and v_f: step, text, unit."""
        gates = gates.clone()
        states = inputs.new_empty((len(inputs) + 1, *inputs.shape[1:]))
        states[0] = 0.0
        _scan_forward(inputs, gates, peephole, states)
        ctx.save_for_backward(inputs, gates, peephole, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of all three."""
        inputs, gates, peephole, states = ctx.saved_tensors
        before = states[:-1]
        slope = (before - inputs) * gates * (1 - gates)
        total = gradients[0][1:].clone()
        _scan_backward(total, gates + slope * peephole)
        sums = total * slope
        return total * (1 - gates), sums, (sums * before).sum(dim=(0, 1))


class SRULayer(nn.Module):
    """One layer, in one direction or in both; the states of both are side by side in its output."""

    def __init__(self, size: int, hidden: int, *, bidirectional: bool = True) -> None:
        super().__init__()
        self.width = hidden * (2 if bidirectional else 1)
        self.turned = hidden if bidirectional else 0  # so many units read from the end
        self.project = Product(size, self.width * (3 if size == self.width else 4))
        self.peephole = nn.Parameter(torch.empty(2, self.width))
        self.bias = nn.Parameter(torch.tensor([0.0, SKIP]).unsqueeze(1).repeat(1, self.width))
        bound = math.sqrt(3 / size)  # variance 1/size (Lei et al. 2018, section 3.2)
        nn.init.uniform_(self.project.weight, -bound, bound)
        nn.init.uniform_(self.peephole, -SLIGHT, SLIGHT)
        with torch.no_grad():
            self.project.weight[self.width : 3 * self.width] *= SLIGHT

    def forward(self, x: Tensor, present: Tensor) -> Tensor:
        """Read texts (step, text, size); what is not `present` (step, text, 1) stays zero."""
        width, more = self.width, len(self.project.weight) - 3 * self.width
        summed = self.project(x, functional.pad(self.bias.flatten(), (width, more)))
        learns = torch.is_grad_enabled()
        before, after = self._states(summed) if learns else self._states_inplace(summed)
        sums = summed[..., 2 * width : 3 * width]
        buffer = None if learns else before  # written over
        reset = torch.addcmul(sums, self.peephole[1], before, out=buffer).sigmoid_()
        skipped = summed[..., 3 * width :] if more else x
        return torch.lerp(skipped, after, reset, out=buffer).mul_(present)

    def _states(self, summed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states before and after each step."""
        inputs, gates = (self._turn(each) for each in torch.split(summed, self.width, dim=-1)[:2])
        states: Tensor = Scan.apply(inputs, gates, self.peephole[0])  # type: ignore[no-untyped-call]
        return self._turn(states[:-1]), self._turn(states[1:])

    def _turn(self, x: Tensor) -> Tensor:
        """Turn round the units that read from the end; twice does nothing."""
        if not self.turned:
            return x
        return torch.cat((x[..., : -self.turned], x[..., -self.turned :].flip(0)), dim=-1)

    def _states_inplace(self, summed: Tensor) -> tuple[Tensor, Tensor]:
        """As `_states`, where nothing is learned: two arrays, each written over again and again."""
        steps, texts, _ = summed.shape
        ahead = self.width - self.turned
        states = summed.new_zeros(steps + 1, texts, self.width)
        gates = summed.new_empty(steps, texts, self.width)
        for buffer, part in zip(
            (states[1:], gates), torch.split(summed, self.width, dim=-1), strict=False
        ):
            buffer[..., :ahead] = part[..., :ahead]
            buffer[..., ahead:] = part[..., ahead:].flip(0)
        _scan_inplace(states, gates, self.peephole[0])
        back = states[..., ahead:].flip(0)
        gates[..., :ahead], gates[..., ahead:] = states[:-1, :, :ahead], back[1:]
        states[1:, :, ahead:] = back[:-1]
        return gates, states[1:]


class SRU(nn.Module):
    """Layers of simple recurrent units over texts of different lengths, padded at the end."""

    def __init__(
        self,
        size: int,
        hidden: int,
        layers: int,
        *,
        bidirectional: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        width = hidden * (2 if bidirectional else 1)
        sizes = [size, *[width] * (layers - 1)]
        self.layers = nn.ModuleList(
            SRULayer(each, hidden, bidirectional=bidirectional) for each in sizes
        )
        self.dropout = dropout

    def forward(self, x: Tensor, present: Tensor) -> Tensor:
        """Return the last layer's states (step, text, width); `present` is (step, text)."""
        mask = present.unsqueeze(-1).to(x.dtype)
        x = x * mask
        for index, layer in enumerate(self.layers):
            if index and self.dropout:
                x = functional.dropout(x, self.dropout, self.training)
            x = layer(x, mask)
        return x
