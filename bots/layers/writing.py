"""What bots that write with a torch network share: learning, decoding, ranking, weights.

A bot's file has its options, its network (`bots.layers.network`) and how that is built (`build`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bots import decoding as search
from bots import forcing, training
from bots import weights as stored
from bots.bot import Reply, Turn
from bots.candidates import Candidate, Decoding
from bots.dialogue import Dialogue, Utterance
from bots.layers.asking import Item, Reading, codec_of, to_learn
from bots.layers.embedding import take_glove
from bots.layers.network import Network, Stepped, negative, teach
from bots.layers.restoring import restore
from bots.vocabulary import Codec, WordCodec

History = tuple[Mapping[str, float], ...]


class Writer(ABC):
    """A trained bot that writes; its options are declared in its own file.

    Options named as the fields of `Decoding` are how it searches; an option `vectors` that is
    "glove" starts its tables of words from GloVe's; an option `sides` is whose replies it learns.
    """

    weights: str
    device: str
    max_words: int
    precision: Literal["fp32", "bf16"]
    least_count: int
    words: int
    messages: int
    tokens: int
    persona: bool
    rate: float
    clip: float
    batch: int
    epochs: int
    patience: int
    held_out: float
    examples: int
    _network: Network | None = None
    _about: stored.About | None = None

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    @abstractmethod
    def build(self, codec: Any) -> Network:
        """Return the untrained network that the options describe."""

    def list_words(self, learned: Sequence[Dialogue]) -> Codec:
        """Learn what texts are made of: words, where a bot does not say otherwise."""
        return codec_of(learned, self.least_count, self.words)

    def codec(self, words: tuple[str, ...]) -> Codec:
        """Return the codec that was kept as these words."""
        return WordCodec(words)

    def loss(self, network: Any, batch: Sequence[Item]) -> Tensor:
        """Return what is minimized: the negative log-likelihood of the replies."""
        return negative(*teach(network, batch))

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return how it descends."""
        return torch.optim.Adam(network.parameters(), lr=self.rate)

    def reading(self, codec: Codec) -> Reading:
        """Return how much of a turn is read."""
        return Reading(codec, self.messages, self.tokens, self.persona)

    def decoding(self) -> Decoding:
        """Return how it searches, as its options say."""
        named = [each.name for each in fields(Decoding) if hasattr(self, each.name)]
        return Decoding(**{name: getattr(self, name) for name in named})

    @property
    def model(self) -> Stepped:
        """The network, ready to be decoded or to be asked how likely a text is."""
        if self._network is None:
            raise ValueError(f"{self.title} must be trained, or be given weights, first")
        return Stepped(self._network)

    @property
    def title(self) -> str:
        """The bot's name, which its weights carry."""
        return type(self).__module__.rpartition(".")[2]

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch: the best candidate that is safe, short enough and new."""
        return forcing.spoken(self.propose(turns), turns, self.max_words)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return candidates for each turn, best first."""
        return search.propose(self.model, turns, decoding or self.decoding())

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per token of each candidate."""
        return forcing.rank(self.model, persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> dict[str, float]:
        """Return each word's probability of coming next."""
        return forcing.next_word(self.model, persona, history, prefix)

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn words and how to write, stopping by the held-out perplexity."""
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        codec = self.list_words(learned)
        with training.seeded(seed):
            network = self.build(codec)
            if getattr(self, "vectors", "random") == "glove":
                take_glove(network, network.reading)
        network.to(training.device(self.device))
        history = self.learn(network, learned, watched, seed)
        self._keep(network, seed, stored.data_digest(known), history)

    def learn(
        self, network: Any, learned: Sequence[Dialogue], watched: Sequence[Dialogue], seed: int
    ) -> History:
        """Descend in one stage; return every epoch's losses."""
        items = self.items(network, learned, seed)
        if not items:
            raise ValueError(f"{len(learned)} dialogues hold no reply to learn from")
        return training.fit(
            network,
            self.descent(network),
            items,
            self.items(network, watched, seed),
            lambda batch: self.loss(network, batch),
            self.plan(seed, self.title),
        )

    def items(self, network: Any, dialogues: Sequence[Dialogue], seed: int) -> list[Any]:
        """Return what a batch is made of."""
        reading: Reading = network.reading
        chosen = to_learn(dialogues, self.examples, seed, getattr(self, "sides", "both"))
        return [reading.item(each) for each in chosen]

    def plan(self, seed: int, title: str) -> training.Plan:
        """Return how long a stage is trained."""
        return training.Plan(
            self.epochs,
            self.batch,
            self.patience,
            seed,
            title,
            clip=self.clip,
            precision=self.precision,
        )

    def _keep(self, network: Network, seed: int, data: str, history: History) -> None:
        network.eval()
        self._network = network
        self._about = stored.About(
            bot=self.title,
            options={each.name: getattr(self, each.name) for each in _options(self)},
            seed=seed,
            data=data,
            versions=training.versions(),
            vocabulary=network.reading.codec.words,
            history=history,
        )

    def save(self, path: Path) -> None:
        """Write what was learned."""
        if self._about is None or self._network is None:
            raise ValueError("nothing to save: train, or load weights, first")
        arrays = self._network.state_dict().items()
        stored.save(path, {name: each.cpu().numpy() for name, each in arrays}, self._about)

    def load(self, path: Path) -> None:
        """Read what was learned; options that weights settle become theirs."""
        arrays, about = stored.load(path, self.title)
        for each in _options(self):
            if each.metadata.get("trained") and each.name in about.options:
                setattr(self, each.name, about.options[each.name])
        network = self.build(self.codec(about.vocabulary))
        restore(network, arrays)
        self._network = network.to(training.device(self.device)).eval()
        self._about = about


def _options(bot: Any) -> list[Any]:
    return [each for each in fields(bot) if each.init]
