"""B-DSTC7: the LSTM dual encoder, baseline of DSTC7's sentence selection.

Source: the DSTC7 overview of NLP4CONVAI 2019 names it without a recipe; the model is that of Lowe
et al. 2015 ("The Ubuntu Dialogue Corpus"), section 4.2: context and reply read by LSTMs, their last
states scored by a bilinear product (equation 2). Here both directions are read, and it is trained
by softmax against replies drawn by frequency [ours]. For many candidates wear `prefilter` over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from bots.layers.dual_bot import DualBot
from bots.options import option

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
class Dstc7(DualBot):
    """Says the reply whose last state suits the conversation's best."""

    NAME: ClassVar[str] = "dstc7"
    FIXED: ClassVar[dict[str, object]] = {"cell": "lstm", "heads": 0, "attention": 1}
    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    whitelist: str = option("", "File of the only replies it may give, see `bots whitelist`")
    max_words: int = option(15, "Replies are at most this long, where possible", least=1)
    nearest: int = option(50, "How many of the best replies it tries before giving up", least=1)
    layers: int = option(1, "Layers of LSTM", least=1, trained=True)
    hidden: int = option(32, "Units of a layer, in each direction", least=1, trained=True)
    dropout: float = option(0.0, "Between layers", least=0, most=0.9, trained=True)
    vectors: Literal["learned", "glove"] = option("learned", "Where words start", trained=True)
    frozen: bool = option(False, "Leave word vectors as they start", trained=True)
    dimension: int = option(48, "Length of a learned word vector", least=2, trained=True)
    hashed: int = option(512, "Vectors shared by unlisted words", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not listed", least=1, trained=True)
    context_words: int = option(40, "Last words read of a conversation", least=1, trained=True)
    reply_words: int = option(30, "First words read of a reply", least=1, trained=True)
    negatives: int = option(64, "Wrong replies per step", least=1, trained=True)
    rate: float = option(0.01, "Highest learning rate", least=0, trained=True)
    warmup: int = option(10, "Steps until it is reached", least=1, trained=True)
    batch: int = option(64, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Most replies kept to choose from", least=1, trained=True)


BOT = Dstc7
