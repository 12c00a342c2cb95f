"""Seq2Seq writer that is pulled towards words the message calls for (PPMI keywords).

Source: the PPMI paper of NLP4CONVAI 2019: every word's score from its PPMI with the message, v_f,
goes through an MLP and beside the encoder's state into the decoder's first; the output is
(1 - lambda_i) pi_i + lambda_i v_f, lambda_i = sigmoid(W h_i + b); a Gumbel-softmax bag of words B
gives l_v = -sum over the keywords of min(B_w, 1), and the loss is (1 - alpha) CE + alpha l_v.
Keyword scores here are of the last message; alpha, the temperature and how many keywords are ours.
The preset has the paper's sizes. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.options import defaults, option
from bots.text.vocabulary import PAD, WordCodec
from bots.writers.embedding import embedding
from bots.writers.input_tokens import EncodedInput, Item, Reading, padded
from bots.writers.network import Network, negative, teach
from bots.writers.recurrent import Decoder, Encoder, Output, RecurrentSizes, State
from bots.writers.word_writing import WordWriter
from bots.writers.writer import History
from bots.zoo.ppmi.keywords import Keywords, best, shares

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

    def __init__(self, reading: Reading, sizes: RecurrentSizes, partners: int) -> None:
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

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read rows of persona and history, and score words by the last message."""
        ids, lengths = padded([each.flat for each in inputs], self.device)
        _, state = self.encoder(self.dropout(self.table(ids)), lengths)
        scores = self.keywords.scores([each.history[-1] for each in inputs])
        known_words = self.told(shares(scores))[:, None]
        return {"h": torch.cat((state["h"], known_words), dim=2), "scores": scores}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing; where no word is called for, the gate stays shut."""
        outputs, after = self.decoder(self.dropout(self.table(tokens)), state)
        usual = self.output(outputs, self.table.weight)
        wanted = shares(state["scores"])[:, None]
        gate = torch.sigmoid(self.gate(outputs)) * (wanted.sum(2, keepdim=True) > 0)
        mixed = torch.log((1 - gate) * usual.exp() + gate * wanted + 1e-12)
        return torch.log_softmax(mixed, dim=-1), after


@dataclass
@defaults(examples=480)
class PpmiKeywords(WordWriter):
    """Writes replies with words that match the message."""

    hidden: int = option(
        48, "Size of the encoder; twice that in the decoder", least=2, trained=True
    )
    partners: int = option(
        20, "Maximum words that one word calls for", least=1, trained=True, after="dropout"
    )
    together: int = option(2, "Minimum times that related words meet", least=1, trained=True)
    keywords: int = option(10, "Best words of a message", least=1, trained=True)
    share: float = option(0.1, "alpha: weight of the keywords' loss", least=0, most=1, trained=True)
    gumbel: float = option(1.0, "Temperature of the bag of words", least=0.05, trained=True)

    def build(self, codec: WordCodec) -> KeywordNetwork:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, 1, self.dropout)
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
        pairs = [(inputs.history[-1], reply) for inputs, reply in items]
        network.keywords.fit(pairs, self.together)
        return super().learn(network, learned, watched, seed)

    def loss(self, network: KeywordNetwork, batch: Sequence[Item]) -> Tensor:
        """Return (1 - alpha) CE + alpha l_v; held out, only CE, so that drawing does not decide."""
        wanted, log_probs = teach(network, batch)
        usual = negative(wanted, log_probs)
        if not network.training or not self.share:
            return usual
        called = best(
            network.keywords.scores([inputs.history[-1] for inputs, _ in batch]), self.keywords
        )
        drawn = functional.gumbel_softmax(log_probs, tau=self.gumbel, dim=-1)
        bag = (drawn * (wanted != PAD)[:, :, None]).sum(1)
        missing = -(bag.clamp(max=1) * called).sum(1).mean()
        return (1 - self.share) * usual + self.share * missing


BOT = PpmiKeywords
