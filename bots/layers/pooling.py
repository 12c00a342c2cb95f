"""Attention pooling: many vectors of a text become one, weighted by several heads.

Source: the ASAPP dual encoder (NLP4CONVAI 2019): a_i = softmax(sig(h^T W_i) v_i) over the steps,
each head's sum of a_ij h_j, averaged over heads; which is one sum with the heads' mean weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AttentionPooling(nn.Module):
    """Pools (step, text, width) to (text, width)."""

    def __init__(self, width: int, heads: int, size: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, heads * size, bias=False)
        self.score = nn.Parameter(torch.empty(heads, size))
        nn.init.normal_(self.score, std=size**-0.5)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """Pool what is present (step, text); a text of which nothing is gives zero."""
        inner = torch.sigmoid(self.project(states)).view(*states.shape[:2], *self.score.shape)
        scores = (inner * self.score).sum(dim=-1)
        scores = scores.masked_fill(~present.unsqueeze(-1), torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=0).mean(dim=-1) * present
        pooled: Tensor = torch.einsum("st,stw->tw", weights, states)
        return pooled
