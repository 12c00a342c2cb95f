"""Restoring of weights into a torch module: what does not fit is named by name, file and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from bots.weights import Arrays

Shapes = Mapping[str, Sequence[int]]


def restore(module: nn.Module, arrays: Arrays, beside: Shapes | None = None) -> None:
    """Put all arrays into a module; `beside` are shapes of arrays that are not its own."""
    own: dict[str, Tensor] = module.state_dict()
    arrays.fit({**shapes(own), **(beside or {})})
    module.load_state_dict({name: torch.from_numpy(arrays[name]) for name in own})


def shapes(tensors: Mapping[str, Tensor], prefix: str = "") -> dict[str, Sequence[int]]:
    """Return the shapes of tensors, by their names in a file."""
    return {prefix + name: each.shape for name, each in tensors.items()}
