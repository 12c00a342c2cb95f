"""Sentimental network: it knows the domain of the dialogue and the sentiment to show.

Source: Chikai et al. 2019 (NLP4CONVAI): a bidirectional LSTM's mean through a sigmoid layer, beside
a domain's vector through two layers, starts the decoder; every word is fed with the sentiment's
vector; a_t = sigmoid(W h) divides the probability between a generic softmax and one over the words
of the sentiment lexicon, which are disjoint. The domain is told by a classifier over characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor, nn

from bots.text.vocabulary import MARKS, WordCodec
from bots.writers.embedding import embedding
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.network import Network
from bots.writers.recurrent import Decoder, Encoder, RecurrentSizes, State
from bots.zoo.sentimental.sentiment import DOMAINS, NEGATIVE, OTHER, POSITIVE, SENTIMENTS, Sentiment

CHARACTERS = 128  # ASCII; whatever else is one
LONGEST = 120
NAMES = (*DOMAINS, OTHER)


class Characters(nn.Module):
    """A bidirectional GRU over characters that tells the domain (as Tweet2Vec)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.table = nn.Embedding(CHARACTERS, size)
        self.encoder = Encoder("gru", size, hidden, ways=2)
        self.output = nn.Linear(2 * hidden, len(NAMES))

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Return the logits of the domains [rows, domains]."""
        rows = [
            [min(ord(each), CHARACTERS - 1) for each in text[-LONGEST:] or " "] for text in texts
        ]
        ids, lengths = padded(rows, self.table.weight.device)
        _, state = self.encoder(self.table(ids), lengths)
        found: Tensor = self.output(state["h"].flatten(1))
        return found


class SentimentalNetwork(Network):
    """Reads with the domain in mind; writes with a sentiment."""

    sentimental: Tensor

    def __init__(
        self, reading: Reading, sizes: RecurrentSizes, feeling: int, wanted: Sentiment
    ) -> None:
        super().__init__(reading)
        vector, hidden = sizes.vector, sizes.hidden
        self.wanted: Sentiment = wanted
        self.table = embedding(reading, vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = Encoder("lstm", vector, hidden, ways=2)
        self.project = nn.Linear(2 * hidden, hidden)
        self.domains = nn.Embedding(len(NAMES), feeling)
        self.told = nn.Sequential(
            nn.Linear(feeling, feeling), nn.Tanh(), nn.Linear(feeling, feeling), nn.Tanh()
        )
        self.classifier = Characters(16, feeling // 2 or 1)
        self.feelings = nn.Embedding(len(SENTIMENTS), feeling)
        self.decoder = Decoder("lstm", vector + feeling, hidden + feeling, dropout=sizes.dropout)
        self.gate = nn.Linear(hidden + feeling, 1)
        self.generic = nn.Linear(hidden + feeling, reading.codec.size)
        self.felt = nn.Linear(hidden + feeling, reading.codec.size)
        self.register_buffer("sentimental", sentimental_words(reading.codec), persistent=False)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read a batch; the domain is the classifier's, the sentiment the requested one."""
        domain = self.domain_logits(inputs).argmax(1)
        feeling = torch.full_like(domain, SENTIMENTS.index(self.wanted))
        return self.begin(inputs, domain, feeling)

    def domain_logits(self, inputs: Sequence[EncodedInput]) -> Tensor:
        """Return the classifier's logits for the history [rows, domains]."""
        codec = self.reading.codec
        texts = ((each for each in chain(*row.history) if each < codec.size) for row in inputs)
        found: Tensor = self.classifier([codec.decode(ids) for ids in texts])
        return found.float()

    def begin(self, inputs: Sequence[EncodedInput], domain: Tensor, feeling: Tensor) -> State:
        """Return the state before the first word, for known domains and sentiments."""
        ids, lengths = padded([each.flat for each in inputs], self.device)
        outputs, _ = self.encoder(self.dropout(self.table(ids)), lengths)
        filled = is_filled(lengths, ids.shape[1], self.device)[:, :, None]
        mean = (outputs * filled).sum(1) / filled.sum(1)
        read = torch.cat((torch.sigmoid(self.project(mean)), self.told(self.domains(domain))), 1)
        return {"h": read[:, None], "c": torch.zeros_like(read[:, None]), "feeling": feeling}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing."""
        log_probs, _, after = self.divided(state, tokens)
        return log_probs, after

    def divided(self, state: State, tokens: Tensor) -> tuple[Tensor, Tensor, State]:
        """Return log-probabilities, the logits of a_t [rows, steps], and the state."""
        feeling = self.feelings(state["feeling"])[:, None].expand(-1, tokens.shape[1], -1)
        fed = torch.cat((self.dropout(self.table(tokens)), feeling), dim=2)
        outputs, after = self.decoder(fed, state)
        gate = self.gate(outputs)
        own = self.sentimental
        usual = self.generic(outputs).float().masked_fill(own, -torch.inf).log_softmax(-1)
        felt = self.felt(outputs).float().masked_fill(~own, -torch.inf).log_softmax(-1)
        closed = nn.functional.logsigmoid(-gate) + usual
        opened = nn.functional.logsigmoid(gate) + felt
        return torch.where(own, opened, closed), gate[:, :, 0], after


def sentimental_words(codec: object) -> Tensor:
    """Return which tokens are of the sentiment lexicon [size]; at least one is, the last."""
    assert isinstance(codec, WordCodec)  # noqa: S101
    listed = POSITIVE | NEGATIVE
    marked = [False] * len(MARKS) + [word in listed for word in codec.words]
    if not any(marked):
        marked[-1] = True
    return torch.tensor(marked)
