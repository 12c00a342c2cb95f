"""Persona features: the line of a persona that a reply draws on, requested or used up already.

Our own: attention over the lines of a persona (Zhang et al. 2018, section 4.2) by the last message,
by the reply, and away from lines that were told before.

Apart because its features are weighed with those of its neighbors, one file for each kind.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHARP = 15.0
SPENT = 5.0
SIZE = 7
ABSENT = -1e4


def by_line(alike: Tensor, used: Tensor, query: Tensor, present: Tensor) -> list[Tensor]:
    """Return features of (context, reply).

    `alike` compares (context, line, reply); `used` says how much of a line was told before, and
    `asked` how near the last message is to it: (context, line).
    """
    used, query = used.unsqueeze(2), query.unsqueeze(2)
    absent = ~present.unsqueeze(2)
    drawn = torch.softmax((SHARP * alike).masked_fill(absent, ABSENT), dim=1)
    due = torch.softmax((SHARP * query).masked_fill(absent, ABSENT), dim=1)
    fresh = torch.softmax((SHARP * query - SPENT * used).masked_fill(absent, ABSENT), dim=1)
    return [
        (alike * (1 - used)).amax(dim=1),
        (alike * used).amax(dim=1),
        (alike * query).amax(dim=1),
        (drawn * used).sum(dim=1),
        (drawn * query).sum(dim=1),
        (due * alike).sum(dim=1),
        (fresh * alike).sum(dim=1),
    ]
