"""What bots that write with a torch network share: learning, decoding, ranking, weights.

A bot's file has its options, its network and how that is built (`build`). A network reads what was
asked (`read`) and then writes (`write`), many steps at once in training and one at a time after.
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
from bots.layers.asking import Asked, Item, Reading, codec_of, padded, to_learn
from bots.layers.recurrent import State, select
from bots.vocabulary import END, PAD, START, Codec, WordCodec

History = tuple[Mapping[str, float], ...]


class Network(nn.Module, ABC):
    """A network that reads and writes; `reading` says what it is given of a turn."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return next(self.parameters()).device

    @abstractmethod
    def read(self, asked: Sequence[Asked]) -> State:
        """Read a batch; return the state before the first token."""

    @abstractmethod
    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take tokens [rows, steps]; return log-probabilities of the next ones, and the state."""


class Stepped:
    """A network as the decoder wants it (`bots.decoding.StepModel`)."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.codec: Codec = network.reading.codec

    def start(self, turns: Sequence[Turn]) -> State:
        """Read the turns."""
        return self.network.read([self.network.reading.asked(turn) for turn in turns])

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step."""
        log_probs, state = self.network.write(state, tokens.to(self.network.device)[:, None])
        return log_probs[:, 0], state

    def select(self, state: State, rows: Tensor) -> State:
        """Return a state of these rows."""
        return select(state, rows)


def teach(network: Network, batch: Sequence[Item]) -> tuple[Tensor, Tensor]:
    """Give a network the replies; return their tokens [rows, steps] and all log-probabilities."""
    wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
    begin = torch.full_like(wanted[:, :1], START)
    state = network.read([asked for asked, _ in batch])
    log_probs, _ = network.write(state, torch.cat((begin, wanted[:, :-1]), dim=1))
    return wanted, log_probs


def negative(wanted: Tensor, log_probs: Tensor, weighed: Tensor | None = None) -> Tensor:
    """Return the mean negative log-probability per token; `weighed` has a weight for each word."""
    counted = (wanted != PAD).float()
    if weighed is not None:
        counted = counted * weighed[wanted]
    said = log_probs.gather(2, wanted[:, :, None])[:, :, 0]
    return -(said * counted).sum() / counted.sum().clamp(min=1e-9)


class Writer(ABC):
    """A trained bot that writes; its options are declared in its own file.

    Options named as the fields of `Decoding` are how it searches.
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

    def reading(self, codec: WordCodec) -> Reading:
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
        return [reading.item(each) for each in to_learn(dialogues, self.examples, seed)]

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
        arrays, about = stored.load(path)
        if about.bot != self.title:
            raise stored.InvalidWeights(
                f"{path} holds weights of {about.bot}, not of {self.title}"
            )
        for each in _options(self):
            if each.metadata.get("trained") and each.name in about.options:
                setattr(self, each.name, about.options[each.name])
        network = self.build(self.codec(about.vocabulary))
        network.load_state_dict({name: torch.from_numpy(each) for name, each in arrays.items()})
        self._network = network.to(training.device(self.device)).eval()
        self._about = about


def _options(bot: Any) -> list[Any]:
    return [each for each in fields(bot) if each.init]
