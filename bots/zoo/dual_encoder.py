"""Fast dual encoder, SRU or LSTM, trained against shared negatives.

Source: the ASAPP paper of NLP4CONVAI 2019, sections 3 and 4: all messages as one text with speakers
marked, the last 500 words of it; the reply's first 100; two encoders of the same shape, pooled by
attention (here they start alike); k wrong replies drawn by frequency and shared by the batch; Adam
with the Noam schedule. In the paper word vectors are frozen fastText of 300 dimensions; here they
are learned, or GloVe of 50, because those come by package. A persona stands before the messages.
Defaults are of toy size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from bots.options import option
from bots.rankers.dual_bot import DualBot

PRESETS = {
    "small": {
        "sides": "self",
        "dimension": 512,
        "hidden": 256,
        "hashed": 2048,
        "context_words": 80,
        "rate": 0.001,
        "warmup": 50,
        "epochs": 3,
    },
    "paper": {
        "cell": "sru",
        "layers": 4,
        "hidden": 300,
        "heads": 16,
        "attention": 64,
        "dimension": 300,
        "context_words": 500,
        "reply_words": 100,
        "loss": "softmax_outside",
        "negatives": 200,
        "batch": 200,
        "rate": 0.001,
        "warmup": 4000,
        "epochs": 30,
    },
    "paper_lstm": {
        "cell": "lstm",
        "layers": 2,
        "hidden": 300,
        "heads": 16,
        "attention": 64,
        "dimension": 300,
        "context_words": 500,
        "reply_words": 100,
        "loss": "softmax_outside",
        "negatives": 200,
        "batch": 200,
        "rate": 0.001,
        "warmup": 4000,
        "epochs": 30,
    },
}


@dataclass
class Dual(DualBot):
    """Replies with the text whose encoding has the largest product with the conversation's."""

    NAME: ClassVar[str] = "dual_encoder"
    cell: Literal["sru", "lstm", "gru"] = option(
        "sru", "Recurrent cell", trained=True, after="nearest"
    )
    heads: int = option(
        2, "Heads of the attention that pools", least=1, trained=True, after="hidden"
    )
    attention: int = option(16, "Size of a head", least=1, trained=True)
    sides: Literal["both", "self"] = option(
        "both", "Sides whose replies it learns", trained=True, after="dropout"
    )
    loss: Literal["softmax", "softmax_outside", "hinge"] = option(
        "softmax",
        "Loss function; the paper's softmax leaves the right reply out",
        trained=True,
        after="reply_words",
    )
    margin: float = option(0.25, "Margin of the hinge", least=0, trained=True, after="negatives")


BOT = Dual
