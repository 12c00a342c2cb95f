"""A function for the bot `callable` that needs torch, and says what it draws at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch


def drawn(persona: Sequence[str], history: Sequence[object]) -> str:
    """Say a number of Python's generator, and one of NumPy's."""
    return f"{random.random()} {np.random.random()} {torch.ones(1).item():g}"
