"""LSTM dual encoder, the baseline of sentence selection in DSTC7.

Source: the DSTC7 overview of NLP4CONVAI 2019, without a recipe; the model is that of Lowe
et al. 2015 ("The Ubuntu Dialogue Corpus"), section 4.2: context and reply read by LSTMs, their last
states scored by a bilinear product (equation 2). Here both directions are read, and it is trained
by softmax against replies drawn by frequency [ours]. For many candidates wear `prefilter` over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bots.options import defaults, option
from bots.rankers.dual_bot import DualBot

PRESETS = {
    "paper": {
        "hidden": 256,
        "dimension": 300,
        "context_words": 160,
        "reply_words": 160,
        "negatives": 99,
        "batch": 128,
        "rate": 0.001,
        "warmup": 1000,
        "epochs": 20,
    }
}


@dataclass
@defaults(hidden=32, dimension=48, rate=0.01)
class Dstc7(DualBot):
    """Replies with the text whose last state suits the conversation's best."""

    NAME: ClassVar[str] = "dstc7"
    FIXED: ClassVar[dict[str, object]] = {"cell": "lstm", "heads": 0, "attention": 1}
    layers: int = option(1, "Layers of LSTM", least=1, trained=True)


BOT = Dstc7
