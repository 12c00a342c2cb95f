"""B-PPMI: Seq2Seq that is pulled towards words the message calls for.

Source: the PPMI paper of NLP4CONVAI 2019: every word's score from its PPMI with the message, v_f,
goes through an MLP and beside the encoder's state into the decoder's first; the output is
(1 - lambda_i) pi_i + lambda_i v_f, lambda_i = sigmoid(W h_i + b); a Gumbel-softmax bag of words B
gives l_v = -sum over the keywords of min(B_w, 1), and the loss is (1 - alpha) CE + alpha l_v.
Keyword scores here are of the last message; alpha, the temperature and how many keywords are ours.
The preset has the paper's sizes. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.layers.asking import Asked, Item, Reading, padded
from bots.layers.embedding import embedding
from bots.layers.keywords import Keywords, best, shares
from bots.layers.network import Network, negative, teach
from bots.layers.recurrent import Decoder, Encoder, Output, Sizes, State
from bots.layers.writing import History, Writer
from bots.options import option
from bots.vocabulary import PAD, WordCodec
from bots.weights import About

PRESETS = {
    "paper": {
        "dimension": 256,
        "hidden": 512,
        "words": 0,
        "least_count": 15,
        "partners": 200,
        "batch": 64,
        "epochs": 50,
        "patience": 3,
        "examples": 0,
        "messages": 1,
        "tokens": 64,
        "rate": 0.001,
    }
}


class KeywordNetwork(Network):
    """A GRU reads, a GRU of twice its size writes, and keywords have a share in each word."""

    def __init__(self, reading: Reading, sizes: Sizes, partners: int) -> None:
        super().__init__(reading)
        size, hidden = reading.codec.size, sizes.hidden
        self.keywords = Keywords(size, partners)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = Encoder("gru", sizes.vector, hidden)
        self.told = nn.Sequential(nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, hidden))
        self.decoder = Decoder("gru", sizes.vector, 2 * hidden)
        self.gate = nn.Linear(2 * hidden, 1)
        self.output = Output(2 * hidden, size)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read rows of persona and history, and score words by the last message."""
        ids, lengths = padded([each.flat for each in asked], self.device)
        _, state = self.encoder(self.dropout(self.table(ids)), lengths)
        scores = self.keywords.scores([each.history[-1] for each in asked])
        told = self.told(shares(scores))[:, None]
        return {"h": torch.cat((state["h"], told), dim=2), "scores": scores}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing; where no word is called for, the gate stays shut."""
        outputs, after = self.decoder(self.dropout(self.table(tokens)), state)
        usual = self.output(outputs, self.table.weight)
        wanted = shares(state["scores"])[:, None]
        gate = torch.sigmoid(self.gate(outputs)) * (wanted.sum(2, keepdim=True) > 0)
        mixed = torch.log((1 - gate) * usual.exp() + gate * wanted + 1e-12)
        return torch.log_softmax(mixed, dim=-1), after


@dataclass
class PpmiKeywords(Writer):
    """Writes replies with words that go with the message."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(2, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(48, "Size of the encoder; the decoder's is twice", least=2, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    partners: int = option(20, "Words that one word may call for", least=1, trained=True)
    together: int = option(2, "Words that meet less often are unrelated", least=1, trained=True)
    keywords: int = option(10, "Best words of a message", least=1, trained=True)
    share: float = option(0.1, "alpha: weight of the keywords' loss", least=0, most=1, trained=True)
    gumbel: float = option(1.0, "Temperature of the bag of words", least=0.05, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(480, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> KeywordNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, 1, self.dropout)
        return KeywordNetwork(self.reading(codec), sizes, self.partners)

    def learn(
        self,
        network: KeywordNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Count which words go together first."""
        items: list[Item] = self.items(network, learned, seed)
        pairs = [(asked.history[-1], reply) for asked, reply in items]
        network.keywords.fit(pairs, self.together)
        return super().learn(network, learned, watched, seed)

    def loss(self, network: KeywordNetwork, batch: Sequence[Item]) -> Tensor:
        """Return (1 - alpha) CE + alpha l_v; held out, only CE, so that drawing does not decide."""
        wanted, log_probs = teach(network, batch)
        usual = negative(wanted, log_probs)
        if not network.training or not self.share:
            return usual
        called = best(
            network.keywords.scores([asked.history[-1] for asked, _ in batch]), self.keywords
        )
        drawn = functional.gumbel_softmax(log_probs, tau=self.gumbel, dim=-1)
        bag = (drawn * (wanted != PAD)[:, :, None]).sum(1)
        missing = -(bag.clamp(max=1) * called).sum(1).mean()
        return (1 - self.share) * usual + self.share * missing


BOT = PpmiKeywords
