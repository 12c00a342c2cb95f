"""The place where a training keeps its unfinished stages; `train` itself knows no path.

Apart because the command line says so without loading torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path


class InvalidCheckpoint(ValueError):
    """A checkpoint that this training cannot resume from."""


@dataclass(frozen=True)
class Kept:
    """A directory of unfinished stages, and their run: data, options, seed."""

    path: Path
    run: str


_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def kept(path: Path, run: str) -> Iterator[None]:
    """Keep every stage of the training inside, and resume from a kept one.

    `run` names the training: a checkpoint of another run is refused, never mixed in.
    """
    token = _kept.set(Kept(path, run))
    try:
        yield
    finally:
        _kept.reset(token)


def under_way() -> Kept | None:
    """Return what the training in progress keeps, and where; None where nothing is kept."""
    return _kept.get()
