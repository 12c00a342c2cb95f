"""Editorial answers to messages it understands; otherwise replies fetched by TF-IDF and ranked.

Source: the Ruuh paper of NLP4CONVAI 2019, sections 3 and 4: query understanding, an index of
cleaned pairs searched by message and context, features, a learned ranker of the LambdaMART family,
and one of the top responses. Its convolutional semantic network was trained on data we do not have:
frozen sentence vectors (`encoder`) stand in for it. Offence in, editorial answer out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Literal

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, TooLittleData, Utterance, examples, no_reply
from bots.encoders.sentences import Encode, encoder
from bots.guards.filters import choose, nearest_to_try, safe_reply
from bots.learning import training
from bots.options import option
from bots.rankers import frozen
from bots.text.tokens import key, word_count
from bots.zoo.ruuh.fetching import FEATURES, Index, IndexedPair, Query
from bots.zoo.ruuh.lambdamart import Growth, Trees, fit
from bots.zoo.ruuh.pair_cleaning import unfit
from bots.zoo.ruuh.understanding import editorial

PRESETS = {"paper": {"trees": 300, "depth": 5, "groups": 20000, "candidates": 10000000}}
WRONG = 9  # candidates per group beside the right one


@dataclass
class Ruuh:
    """Answers offenses, moods and small talk as its editors do, and the rest as people did."""

    weights: str = option("", "Directory of trained weights")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to encode on")
    fetched: int = option(50, "Pairs to fetch and rank", least=1)
    encoder: Literal["hashed", "glove", "minilm"] = option(
        "hashed", "Encoder of texts", trained=True
    )
    trees: int = option(40, "Trees of the ranker", least=1, trained=True)
    depth: int = option(3, "Depth of a tree", least=1, trained=True)
    rate: float = option(0.2, "Share of each tree that counts", least=0, trained=True)
    groups: int = option(
        250, "Maximum examples for the ranker to learn from", least=1, trained=True
    )
    candidates: int = option(50000, "Maximum pairs in the index", least=1, trained=True)
    _index: Index | None = field(default=None, init=False, repr=False, compare=False)
    _trees: Trees | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        found = editorial(history)
        if found is not None:
            return safe_reply(found.answer, history, None, {"editorial": found.intent})
        query = Query.of(persona, history)
        replies = self._fetched(query, history)
        scores = self._scores(query, replies)
        order = sorted(range(len(replies)), key=lambda position: -scores[position])
        return choose(((replies[p], scores[p]) for p in order), history, self.max_words)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each; what all of them need encoded is encoded in one pass."""
        index, _ = self._ready()
        needed: list[str] = []
        for persona, history in turns:
            query = Query.of(persona, history)
            needed += [*self._fetched(query, history), query.message, *(persona or ("",))]
        if needed:
            index.encode(needed)  # which remembers them
        return [self.respond(*turn) for turn in turns]

    def _fetched(self, query: Query, history: Sequence[Utterance]) -> list[str]:
        index, _ = self._ready()
        pairs = index.fetch(query, nearest_to_try(self.fetched, history))
        return [index.pairs[position].reply for position in pairs]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the learned ranker's score of each candidate."""
        return self._scores(Query.of(persona, history), candidates)

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Clean and index the pairs, and learn to rank the fetched ones.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        found = list(examples(known))
        if not found:
            raise no_reply(known)
        pairs = self._clean(found, seed)
        index = Index.build(pairs, self._encode())
        learned = Random(seed).sample(found, min(self.groups, len(found)))  # noqa: S311
        groups = index.groups(learned, WRONG, self.fetched, seed)
        growth = Growth(self.trees, self.depth, self.rate)
        self._index, self._trees = index, fit(groups, growth, seed)
        names = ("encoder", "trees", "depth", "rate", "groups", "candidates")
        self._about = on_disk.About(
            bot="ruuh",
            options={name: getattr(self, name) for name in names},
            seed=seed,
            data=on_disk.data_digest(known),
            versions={n: version(n) for n in ("numpy", "safetensors", "scikit-learn", "torch")},
            vocabulary=tuple(pair.message for pair in pairs),
            replies=tuple(pair.reply for pair in pairs),
        )

    def save(self, path: Path) -> None:
        """Write the pairs and the trees."""
        index, trees = self._ready()
        assert self._about is not None  # noqa: S101
        on_disk.save(path, {**index.arrays(), **trees.arrays()}, self._about)

    def load(self, path: Path) -> None:
        """Read the pairs and the trees."""
        arrays, about = on_disk.load(path, "ruuh")
        self._index = Index.open(arrays, about.vocabulary, about.replies, self._encode())
        self._trees, self._about = Trees.of(arrays), about

    def _encode(self) -> Encode:
        """Return the encoder that encodes every text once, on its device, vectors on the CPU."""
        encode = encoder(self.encoder, str(training.device(self.device)))
        return frozen.remembered(lambda texts: encode(texts).cpu())

    def _ready(self) -> tuple[Index, Trees]:
        if self._index is None or self._trees is None:
            raise ValueError("ruuh must be trained, or be given weights, first")
        return self._index, self._trees

    def _scores(self, query: Query, replies: Sequence[str]) -> list[float]:
        index, trees = self._ready()
        features = index.features(query, replies, self.fetched)
        assert features.shape[1] == len(FEATURES)  # noqa: S101
        found: list[float] = trees.score(features).tolist()
        return found

    def _clean(self, found: Sequence[Example], seed: int) -> list[IndexedPair]:
        """Keep pairs whose reply is fit for an index; a message keeps all of its replies.

        Raises `TooLittleData` where none is.
        """
        heard = Counter(key(example.reply) for example in found)
        lot = Random(seed).sample(found, len(found))  # noqa: S311
        kept = [
            IndexedPair(
                " ".join(turn.text for turn in example.history[-3:-1]),
                example.history[-1].text,
                example.reply,
                heard[key(example.reply)],
                example.dialogue,
            )
            for example in lot
            if word_count(example.reply) > 1 and unfit(example.reply) is None
        ]
        if not kept:
            raise TooLittleData(f"none of the {len(found)} replies is fit to be said to anybody")
        return kept[: self.candidates]


BOT = Ruuh
