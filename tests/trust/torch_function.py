"""A function for the bot `callable` that needs torch, as models do: its process starts slowly."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

SLOW = 1.5  # seconds, as in tests.trust.serving, whose import would be a part of each start


def deliberate(persona: Sequence[str], history: Sequence[object]) -> str:
    """Answer after a while."""
    time.sleep(SLOW)
    return f"I have thought {torch.ones(2, 2).sum().item():g} times."
