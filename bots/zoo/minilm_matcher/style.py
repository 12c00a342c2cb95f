"""Style of a message, whatever its content: length, marks, contractions, the slang of chats.

Not in the specification; our own. A person writes all messages of a conversation alike, so that
what was written before tells the true reply from somebody else's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import torch
from torch import Tensor

_MARK = re.compile(r"[.?!]+")
_CHAT = re.compile(r"\b(?:lol|u|ur|haha+|omg|hehe)\b")
_LONG = re.compile(r"\b(?:i am|it is|that is|do not|i have|you are|what is)\b")
_SELF = re.compile(r"\b(?:i|i'm|im|my|me|i've|i'd|i'll)\b")
_YOU = re.compile(r"\b(?:you|your|you're|u)\b")
_BARE = re.compile(r"\b(?:im|dont|thats|whats|ive|cant|didnt|its)\b")
SIZE = 15


def measures(texts: Sequence[str]) -> Tensor:
    """Return the measures of each text as a row of numbers between about 0 and 1."""
    return torch.tensor([_measures(text.lower()) for text in texts]).view(-1, SIZE)


def _measures(text: str) -> list[float]:
    marks = _MARK.findall(text)
    count = len(text.split())
    return [
        math.log1p(len(text)) / 5,
        min(count, 30) / 30,
        min(len(marks), 4) / 4,
        float("?" in text),
        float("!" in text),
        float("," in text),
        float("..." in text or ". ." in text),
        float(text.rstrip()[-1:] in (".", "?", "!")),
        float("'" in text or "’" in text),
        float(bool(_LONG.search(text))),
        float(bool(_BARE.search(text))),
        float(bool(_CHAT.search(text))),
        float(bool(_SELF.search(text))),
        float(bool(_YOU.search(text))),
        float(bool(re.search(r"\d", text))),
    ]


def by_style(style: Tensor, replies: Tensor, last: Tensor, own: Tensor, partner: Tensor) -> Tensor:
    """Compare a reply's style with that of the last message and of each side.

    `style` has a row for each text and one for nothing; the rest are rows of it, by context.
    """
    reply = replies.unsqueeze(0)
    mine, wrote = _average(style, own)
    theirs, _ = _average(style, torch.cat((partner, last), dim=1))
    parts = (
        reply.expand(len(last), -1, -1),
        reply * style[last[:, 0]].unsqueeze(1),
        (reply - mine).abs() * wrote,
        reply * mine,
        (reply - theirs).abs(),
    )
    return torch.cat(parts, dim=-1)


def _average(style: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    present = (rows < len(style) - 1).sum(dim=1).view(-1, 1, 1)
    average = style[rows].sum(dim=1, keepdim=True) / present.clamp(min=1)
    return average, (present > 0).to(style.dtype)
