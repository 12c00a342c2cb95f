"""Sentence encoders by name: texts in, vectors of length 1 out; nothing is learned here.

Source: models.md, section 3 (SIM and MAP take any callable from text to vector).
`minilm`: all-MiniLM-L6-v2, the mean of its tokens' states (extra `encoders`).
`glove`: the mean of a text's word vectors, each weighted by a / (a + p), p how often people use the
word (Arora et al. 2017, "A Simple but Tough-to-Beat Baseline", without the removal of the first
component), a = 0.001 (extra `encoders`).
`hashed`: our own, needs no package: words, pairs of words and their letters hashed to signed
places, words weighted as for `glove`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
import wordfreq
from torch import Tensor

from bots.encoders import minilm
from bots.text import glove
from bots.text.tokens import words

Name = Literal["hashed", "glove", "minilm"]
Encode = Callable[[Sequence[str]], Tensor]
SLOTS = 512
LONGEST = 128  # tokens of a text that MiniLM reads
RARE = 1e-3
REMEMBERED = 1 << 16  # texts whose MiniLM vector a process keeps: 100 MB

_known: dict[tuple[str, str], Tensor] = {}  # by device and text


def encoder(name: Name, device: str = "cpu") -> Encode:
    """Return the encoder of this name, whose vectors are on a device, or say what to install.

    Only MiniLM computes on the device; the others are look-ups.
    """
    if name == "minilm":
        minilm.folder()
        return lambda texts: _units(_minilm(texts, device)).to(device)
    if name == "glove":
        list(glove.find(["hello"]))
        return lambda texts: _units(_glove(texts)).to(device)
    return lambda texts: _units(_hashed(texts)).to(device)


def _units(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors, dim=-1)


def _hashed(texts: Sequence[str]) -> Tensor:
    rows = np.zeros((len(texts), SLOTS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        listed = words(text)
        for word in listed:
            weight = _weight(word)
            row[_slot(word)] += weight * _sign(word)
            for part in _parts(word):
                row[_slot(part)] += 0.4 * weight * _sign(part)
        for one, other in pairwise(listed):
            pair = f"{one} {other}"
            row[_slot(pair)] += 0.5 * (_weight(one) * _weight(other)) ** 0.5 * _sign(pair)
    return torch.from_numpy(rows)


def _parts(word: str) -> list[str]:
    marked = f"<{word}>"
    return [marked[start : start + 4] for start in range(len(marked) - 3)]


def _slot(text: str) -> int:
    return (zlib.crc32(text.encode()) >> 1) % SLOTS


def _sign(text: str) -> int:
    return 1 if zlib.crc32(text.encode()) & 1 else -1


@cache
def _weight(word: str) -> float:
    return RARE / (RARE + wordfreq.word_frequency(word, "en"))


def _glove(texts: Sequence[str]) -> Tensor:
    rows = np.zeros((len(texts), glove.SIZE), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        listed = words(text)
        for index, vector in glove.find(listed):
            row += _weight(listed[index]) * vector
    return torch.from_numpy(rows)


def _minilm(texts: Sequence[str], device: str) -> Tensor:
    new = [text for text in dict.fromkeys(texts) if (device, text) not in _known]
    if len(_known) + len(new) > REMEMBERED:
        _known.clear()
        new = list(dict.fromkeys(texts))
    with torch.inference_mode():
        found = _network(device).vectors([minilm.tokens(text, LONGEST) for text in new])
    _known.update(zip(((device, text) for text in new), found.clone(), strict=True))
    return torch.stack([_known[device, text] for text in texts])


@cache
def _network(device: str) -> minilm.MiniLM:
    return minilm.MiniLM().eval().to(device)
