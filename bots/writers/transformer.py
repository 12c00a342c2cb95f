"""Transformer blocks with a cache: attention, feed-forward nets, and the keys of past positions.

Source: Vaswani et al. 2017 ("Attention Is All You Need"), section 3; the norm comes first in each
sub-block, as in GPT-2 (Radford et al. 2019) and tensor2tensor. A run of blocks is told by a `Pass`
what may be looked at; with a `past` it goes on from earlier positions, and gives what one run over
all of them would.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Past = dict[str, Tensor]  # states of sub-layers by name; rows first, positions third

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "swish": functional.silu,
}
Activation = Literal["relu", "gelu", "swish"]


@dataclass(frozen=True)
class TransformerSizes:
    """Sizes of a Transformer; `inner` is the width inside a feed-forward net."""

    width: int
    heads: int
    layers: int
    inner: int
    dropout: float


@dataclass
class Pass:
    """One run of blocks over new positions.

    `mask` is what each new position may look at [rows, 1, new, old + new]; without one, what came
    before it if `causal`, else everything. `past` is read and filled. `encoded` is an encoder's
    output, of which `mask_encoded` [rows, 1, 1, length] may be read. `filled` [rows, length, 1] is
    0 where a row is only padded.
    """

    causal: bool = False
    mask: Tensor | None = None
    past: Past | None = None
    encoded: Tensor | None = None
    mask_encoded: Tensor | None = None
    filled: Tensor | None = None

    def grown(self, name: str, new: Tensor) -> Tensor:
        """Return the states of this sub-layer at all positions, new ones included."""
        if self.past is None:
            return new
        before = self.past.get(name)
        self.past[name] = new if before is None else torch.cat((before, new), dim=2)
        return self.past[name]


def visible(readable: Tensor, new: int) -> Tensor:
    """Let new positions look at the old ones that are seen [rows, old], and back at each other."""
    back = torch.ones(new, new, dtype=torch.bool, device=readable.device).tril()
    rows, old = readable.shape
    return torch.cat(
        (readable[:, None, None].expand(rows, 1, new, old), back.expand(rows, 1, new, new)), dim=3
    )


class MultiHeadAttention(nn.Module):
    """Multi-head attention; keys and values lie side by side in one tensor."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"heads is {heads}, but must divide the width, {width}")
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def remember(self, x: Tensor) -> Tensor:
        """Return keys and values [rows, heads, length, 2 * size]."""
        return self._split(self.memory(x))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        """Look from each position of x into the memory."""
        keys, values = memory.chunk(2, dim=3)
        found = functional.scaled_dot_product_attention(
            self._split(self.query(x)),
            keys,
            values,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal and mask is None and x.shape[1] > 1,
        )
        out: Tensor = self.out(found.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class SelfAttention(MultiHeadAttention):
    """Attention to the positions of its own sequence, past ones included."""

    def __init__(self, name: str, width: int, heads: int, dropout: float) -> None:
        super().__init__(width, heads, dropout)
        self.name = name

    def look(self, x: Tensor, run: Pass) -> Tensor:
        """Return the attended values of each position."""
        memory = run.grown(self.name, self.remember(x))
        return self(x, memory, run.mask, run.causal)  # type: ignore[no-any-return]


class EncoderAttention(MultiHeadAttention):
    """Attention to an encoder's output, whose keys and values are made once."""

    def __init__(self, name: str, width: int, heads: int, dropout: float) -> None:
        super().__init__(width, heads, dropout)
        self.name = name

    def look(self, x: Tensor, run: Pass) -> Tensor:
        """Return the attended values of each position.

        Raises ValueError without the output of an encoder.
        """
        memory = None if run.past is None else run.past.get(self.name)
        if memory is None:
            if run.encoded is None:
                raise ValueError("there is nothing encoded to look at")
            memory = self.remember(run.encoded)
            if run.past is not None:
                run.past[self.name] = memory
        return self(x, memory, run.mask_encoded, causal=False)  # type: ignore[no-any-return]


class FeedForward(nn.Sequential):
    """Two dense layers with an activation between."""

    def __init__(self, width: int, inner: int, dropout: float, activation: Activation) -> None:
        super().__init__(
            nn.Linear(width, inner), _Act(activation), nn.Dropout(dropout), nn.Linear(inner, width)
        )


class _Act(nn.Module):
    def __init__(self, activation: Activation) -> None:
        super().__init__()
        self.function = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


class Block(nn.Module):
    """Self-attention, attention to an encoder where it `reads` one, feed-forward."""

    def __init__(
        self,
        name: str,
        sizes: TransformerSizes,
        activation: Activation = "gelu",
        *,
        reads: bool = False,
    ) -> None:
        super().__init__()
        width, heads, dropout = sizes.width, sizes.heads, sizes.dropout
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if reads else 2))
        self.attention = SelfAttention(f"{name}/self", width, heads, dropout)
        self.reading = EncoderAttention(f"{name}/read", width, heads, dropout) if reads else None
        self.feed = FeedForward(width, sizes.inner, dropout, activation)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, run: Pass) -> Tensor:
        """Return the next layer's input."""
        x = x + self.dropout(self.attention.look(self.norms[0](x), run))
        if self.reading is not None:
            x = x + self.dropout(self.reading.look(self.norms[1](x), run))
        return x + self.dropout(self.feed(self.norms[-1](x)))  # type: ignore[no-any-return]


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return the fixed position vectors of Vaswani et al. 2017, section 3.5."""
    half = width // 2
    steps = torch.arange(half, device=positions.device) * (-math.log(10000.0) / max(1, half - 1))
    angles = positions.unsqueeze(-1) * steps.exp()
    return functional.pad(torch.cat((angles.sin(), angles.cos()), dim=-1), (0, width % 2))


def begin(module: nn.Module, deviation: float = 0.02) -> None:
    """Start matrices from normal noise and biases from 0 (GPT-2)."""
    for each in module.modules():
        if isinstance(each, nn.Linear | nn.Embedding):
            nn.init.normal_(each.weight, std=deviation)
        if isinstance(each, nn.Linear) and each.bias is not None:
            nn.init.zeros_(each.bias)
