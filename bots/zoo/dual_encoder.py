"""B-DUAL: a fast dual encoder, SRU or LSTM, trained against shared negatives.

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

from bots.layers.dual_bot import DualBot
from bots.options import option

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
    """Says the reply whose encoding has the largest product with the conversation's."""

    NAME: ClassVar[str] = "dual_encoder"
    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    whitelist: str = option("", "File of the only replies it may give, see `bots whitelist`")
    max_words: int = option(15, "Replies are at most this long, where possible", least=1)
    nearest: int = option(50, "How many of the best replies it tries before giving up", least=1)
    cell: Literal["sru", "lstm", "gru"] = option("sru", "Which recurrent cell", trained=True)
    layers: int = option(1, "Layers of cells", least=1, trained=True)
    hidden: int = option(48, "Units of a layer, in each direction", least=1, trained=True)
    heads: int = option(2, "Heads of the attention that pools", least=1, trained=True)
    attention: int = option(16, "Size of a head", least=1, trained=True)
    dropout: float = option(0.0, "Between layers", least=0, most=0.9, trained=True)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    vectors: Literal["learned", "glove"] = option("learned", "Where words start", trained=True)
    frozen: bool = option(False, "Leave word vectors as they start", trained=True)
    dimension: int = option(64, "Length of a learned word vector", least=2, trained=True)
    hashed: int = option(512, "Vectors shared by unlisted words", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not listed", least=1, trained=True)
    context_words: int = option(40, "Last words read of a conversation", least=1, trained=True)
    reply_words: int = option(30, "First words read of a reply", least=1, trained=True)
    loss: Literal["softmax", "softmax_outside", "hinge"] = option(
        "softmax", "What is minimized; the paper's softmax leaves the right reply out", trained=True
    )
    negatives: int = option(64, "Wrong replies per step", least=1, trained=True)
    margin: float = option(0.25, "Margin of the hinge", least=0, trained=True)
    rate: float = option(0.005, "Highest learning rate", least=0, trained=True)
    warmup: int = option(10, "Steps until it is reached", least=1, trained=True)
    batch: int = option(64, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Most replies kept to choose from", least=1, trained=True)


BOT = Dual
