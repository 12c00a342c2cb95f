"""Blocks of the Evolved Transformer, with what its convolutions need of past positions.

Source: So et al. 2019 ("The Evolved Transformer"), figure 3, in the form of tensor2tensor, as MEENA
(Adiwardana et al. 2020, section 3.2) used it: each sub-block has its norm first and is added to
what came in. Convolutions without "separable" in the name mix all channels at once; both branches
of the decoder are separable, as there. Apart because it is one paper's block: the network around it
(`bots.writers.encoder_decoder`) is the same with vanilla ones.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.writers.transformer import (
    EncoderAttention,
    FeedForward,
    Pass,
    SelfAttention,
    TransformerSizes,
)


class Convolution(nn.Module):
    """A convolution over positions; a causal one sees only those before, past ones included."""

    def __init__(
        self, name: str, inputs: int, outputs: int, size: int, *, separable: bool, causal: bool
    ) -> None:
        super().__init__()
        self.name = name
        self.size = size
        self.causal = causal
        self.depth: nn.Conv1d | None = None
        if separable:
            self.depth = nn.Conv1d(inputs, inputs, size, groups=inputs, bias=False)
        self.point = nn.Conv1d(inputs, outputs, 1 if separable else size)

    def forward(self, x: Tensor, run: Pass) -> Tensor:
        """Return as many positions as came in."""
        if run.filled is not None:
            x = x * run.filled
        x = x.transpose(1, 2)
        half = (self.size - 1) // 2
        x = self._after_past(x, run) if self.causal else functional.pad(x, (half, half))
        if self.depth is not None:
            x = self.depth(x)
        return self.point(x).transpose(1, 2)  # type: ignore[no-any-return]

    def _after_past(self, x: Tensor, run: Pass) -> Tensor:
        before = None if run.past is None else run.past.get(self.name)
        if before is None:
            before = x.new_zeros(*x.shape[:2], self.size - 1)
        joined = torch.cat((before, x), dim=2)
        if run.past is not None:
            run.past[self.name] = joined[:, :, joined.shape[2] - self.size + 1 :]
        return joined


def widen(x: Tensor, width: int) -> Tensor:
    """Add channels of zeros."""
    return functional.pad(x, (0, width - x.shape[-1]))


class EvolvedEncoderBlock(nn.Module):
    """Gated linear unit; dense and convolution side by side; self-attention; feed-forward."""

    def __init__(self, name: str, sizes: TransformerSizes) -> None:
        super().__init__()
        width, inner = sizes.width, sizes.inner
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.joined = nn.LayerNorm(inner)
        self.values = nn.Linear(width, width)
        self.gates = nn.Linear(width, width)
        self.left = nn.Linear(width, inner)
        self.right = Convolution(f"{name}/3", width, width // 2, 3, separable=False, causal=False)
        self.after = Convolution(f"{name}/9", inner, width // 2, 9, separable=True, causal=False)
        self.attention = SelfAttention(f"{name}/self", width, sizes.heads, sizes.dropout)
        self.feed = FeedForward(width, inner, sizes.dropout, "relu")
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, x: Tensor, run: Pass) -> Tensor:
        """Return the next block's input."""
        normed = self.norms[0](x)
        x = x + self.dropout(self.values(normed) * self.gates(normed).sigmoid())
        x = x + self.dropout(widen(self._branches(self.norms[1](x), run), x.shape[-1]))
        x = x + self.dropout(self.attention.look(self.norms[2](x), run))
        return x + self.dropout(self.feed(self.norms[3](x)))  # type: ignore[no-any-return]

    def _branches(self, x: Tensor, run: Pass) -> Tensor:
        left = self.dropout(functional.relu(self.left(x)))
        right = self.dropout(functional.relu(self.right(x, run)))
        out: Tensor = self.after(self.joined(left + widen(right, left.shape[-1])), run)
        return out


class EvolvedDecoderBlock(nn.Module):
    """Two attentions side by side; two convolutions; attentions one by one; feed-forward."""

    def __init__(self, name: str, sizes: TransformerSizes, branch_heads: int) -> None:
        super().__init__()
        width, heads, dropout = sizes.width, sizes.heads, sizes.dropout
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(5))
        self.joined = nn.LayerNorm(2 * width)
        self.first = SelfAttention(f"{name}/self16", width, branch_heads, dropout)
        self.first_reading = EncoderAttention(f"{name}/read1", width, heads, dropout)
        self.left = Convolution(f"{name}/11", width, 2 * width, 11, separable=True, causal=True)
        self.right = Convolution(f"{name}/7", width, width // 2, 7, separable=True, causal=True)
        self.after = Convolution(f"{name}/7b", 2 * width, width, 7, separable=True, causal=True)
        self.attention = SelfAttention(f"{name}/self", width, heads, dropout)
        self.reading = EncoderAttention(f"{name}/read2", width, heads, dropout)
        self.feed = FeedForward(width, sizes.inner, dropout, "swish")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, run: Pass) -> Tensor:
        """Return the next block's input."""
        normed = self.norms[0](x)
        looked = self.dropout(self.first.look(normed, run))
        x = x + looked + self.dropout(self.first_reading.look(normed, run))
        x = x + self.dropout(self._branches(self.norms[1](x), run))
        x = x + self.dropout(self.attention.look(self.norms[2](x), run))
        x = x + self.dropout(self.reading.look(self.norms[3](x), run))
        return x + self.dropout(self.feed(self.norms[4](x)))  # type: ignore[no-any-return]

    def _branches(self, x: Tensor, run: Pass) -> Tensor:
        left = self.dropout(functional.relu(self.left(x, run)))
        right = self.dropout(self.right(x, run))
        out: Tensor = self.after(self.joined(left + widen(right, left.shape[-1])), run)
        return out
