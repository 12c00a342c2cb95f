"""Bots that write with a torch network: learning, decoding, ranking, weights.

A bot's file has the options that only it has, its network (`bots.writers.network`) and how that is
built (`build`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bots import weights as stored
from bots.bot import Reply, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Dialogue, Utterance, no_reply
from bots.generation import decoding as search
from bots.generation import teacher_forcing
from bots.learning import training
from bots.learning.restoring import restore
from bots.options import option
from bots.text.vocabulary import Codec, WordCodec
from bots.writers.embedding import take_glove
from bots.writers.input_tokens import Item, Reading, codec_of, to_learn
from bots.writers.network import Network, Stepped, negative, teach

History = tuple[Mapping[str, float], ...]


@dataclass
class Writer(ABC):
    """A trained bot that writes; its own file declares the options that only it has.

    Options named as the fields of `Decoding` are how it searches; an option `vectors` that is
    "glove" starts its tables of words from GloVe's; an option `sides` is whose replies it learns.
    """

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    precision: Literal["fp32", "bf16"] = option("fp32", "Precision in training")
    max_words: int = option(20, "Maximum words of a reply, where possible", least=1)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(2, "Last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "Words of history it reads", least=8, trained=True)
    words: int = option(2000, "Vocabulary size; 0: all words", least=0, trained=True)
    least_count: int = option(2, "Minimum count of a learned word", least=1, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Maximum gradient norm; 0: unlimited", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "Maximum passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs without improvement before it stops", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues held out", least=0, most=0.5, trained=True)
    examples: int = option(320, "Maximum replies to learn from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: stored.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    @abstractmethod
    def build(self, codec: Any) -> Network:
        """Return the untrained network that the options describe."""

    def list_words(self, learned: Sequence[Dialogue]) -> Codec:
        """Learn the tokens of texts: words, unless a bot overrides it."""
        return codec_of(learned, self.least_count, self.words)

    def codec(self, words: tuple[str, ...]) -> Codec:
        """Return the codec of the stored words."""
        return WordCodec(words)

    def loss(self, network: Any, batch: Sequence[Item]) -> Tensor:
        """Return the loss: the negative log-likelihood of the replies."""
        return negative(*teach(network, batch))

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(network.parameters(), lr=self.rate)

    def reading(self, codec: Codec) -> Reading:
        """Return the reading limits of a turn."""
        return Reading(codec, self.messages, self.tokens, self.persona)

    def decoding(self) -> Decoding:
        """Return the search settings of its options."""
        named = [each.name for each in fields(Decoding) if hasattr(self, each.name)]
        return Decoding(**{name: getattr(self, name) for name in named})

    @property
    def model(self) -> Stepped:
        """The network, ready to decode or to score a text. Raises ValueError if it is untrained."""
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
        return teacher_forcing.spoken(self.propose(turns), turns, self.max_words)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return candidates for each turn, best first."""
        return search.propose(self.model, turns, decoding or self.decoding())

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per token of each candidate."""
        return teacher_forcing.rank(self.model, persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> dict[str, float]:
        """Return each word's probability of coming next."""
        return teacher_forcing.next_word(self.model, persona, history, prefix)

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
        """Descend in one stage; return every epoch's losses.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        items = self.items(network, learned, seed)
        if not items:
            raise no_reply(learned)
        return training.fit(
            network,
            self.descent(network),
            items,
            self.items(network, watched, seed),
            lambda batch: self.loss(network, batch),
            self.plan(seed, self.title),
        )

    def items(self, network: Any, dialogues: Sequence[Dialogue], seed: int) -> list[Any]:
        """Return the training items of dialogues."""
        reading: Reading = network.reading
        chosen = to_learn(dialogues, self.examples, seed, getattr(self, "sides", "both"))
        return [reading.item(each) for each in chosen]

    def plan(self, seed: int, title: str) -> training.Plan:
        """Return the plan of a training stage."""
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
        """Write the learned weights. Raises ValueError if it is untrained."""
        if self._about is None or self._network is None:
            raise ValueError("nothing to save: train, or load weights, first")
        arrays = self._network.state_dict().items()
        stored.save(path, {name: each.cpu().numpy() for name, each in arrays}, self._about)

    def load(self, path: Path) -> None:
        """Read the weights; options that they settle become theirs."""
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
