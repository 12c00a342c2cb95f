"""Encoder-decoder Transformer, of vanilla or evolved blocks, with one table of vectors.

Source: Vaswani et al. 2017, section 3; shared vectors of encoder, decoder and output as in section
3.4 there and in MEENA (Adiwardana et al. 2020, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from bots.writers.evolved import EvolvedDecoderBlock, EvolvedEncoderBlock
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.network import Network
from bots.writers.recurrent import State
from bots.writers.transformer import (
    Block,
    EncoderAttention,
    Pass,
    TransformerSizes,
    sinusoids,
    visible,
)

Kind = Literal["evolved", "vanilla"]
BOOKS = ("seen", "readable")  # what of a state is not the blocks' own


class EncoderDecoder(Network):
    """Reads what was said with the encoder; writes with the decoder, which looks at it."""

    def __init__(
        self,
        reading: Reading,
        sizes: TransformerSizes,
        kind: Kind,
        encoders: int,
        branch_heads: int,
    ) -> None:
        super().__init__(reading)
        self.width = sizes.width
        self.tokens = nn.Embedding(reading.size, sizes.width)
        nn.init.normal_(self.tokens.weight, std=sizes.width**-0.5)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = nn.ModuleList(encoder(kind, f"e{n}", sizes) for n in range(encoders))
        self.decoder = nn.ModuleList(
            decoder(kind, f"d{n}", sizes, branch_heads) for n in range(sizes.layers)
        )
        self.encoded = nn.LayerNorm(sizes.width)
        self.decoded = nn.LayerNorm(sizes.width)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Encode a batch, and make the keys and values that the decoder will look at."""
        tokens, lengths = padded([each.flat for each in inputs], self.device)
        filled = is_filled(lengths, tokens.shape[1], self.device)
        readable = filled[:, None, None]
        run = Pass(mask=readable, filled=filled[:, :, None].float())
        x = self._embed(tokens, 0)
        for block in self.encoder:
            x = block(x, run)
        x = self.encoded(x)
        looking = [each for each in self.decoder.modules() if isinstance(each, EncoderAttention)]
        past: State = {each.name: each.remember(x) for each in looking}
        return {**past, "readable": readable, "seen": filled[:, :0]}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on by these tokens; return log-probabilities of what follows each."""
        earlier, new = state["seen"], tokens.shape[1]
        past = {name: each for name, each in state.items() if name not in BOOKS}
        mask = None if new == 1 else visible(earlier, new)
        run = Pass(mask=mask, past=past, mask_encoded=state["readable"])
        x = self._embed(tokens, earlier.shape[1])
        for block in self.decoder:
            x = block(x, run)
        past["readable"] = state["readable"]
        past["seen"] = torch.cat((earlier, earlier.new_ones(len(earlier), new)), dim=1)
        logits = self.decoded(x) @ self.tokens.weight[: self.reading.codec.size].T
        return logits.float().log_softmax(-1), past

    def _embed(self, tokens: Tensor, begin: int) -> Tensor:
        where = torch.arange(begin, begin + tokens.shape[1], device=self.device)
        vectors = self.tokens(tokens) * self.width**0.5 + sinusoids(where, self.width)
        out: Tensor = self.dropout(vectors)
        return out


def encoder(kind: Kind, name: str, sizes: TransformerSizes) -> nn.Module:
    """Return one block of the encoder."""
    return EvolvedEncoderBlock(name, sizes) if kind == "evolved" else Block(name, sizes, "relu")


def decoder(kind: Kind, name: str, sizes: TransformerSizes, branch_heads: int) -> nn.Module:
    """Return one block of the decoder."""
    if kind == "evolved":
        return EvolvedDecoderBlock(name, sizes, branch_heads)
    return Block(name, sizes, "relu", reads=True)
