"""Teacher forcing: the likelihood of a given text under a stepped model; and what writers share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import torch

from bots.bot import Reply, Turn
from bots.candidates import ReplyCandidate
from bots.dialogue import Utterance, background_of
from bots.generation.decoding import StepModel, WholeModel
from bots.generation.perplexity import LogProbs, words
from bots.guards.filters import choose
from bots.text.vocabulary import END, MARKS, START, WordCodec, pad


def forced(
    model: StepModel, turns: Sequence[Turn], replies: Sequence[Sequence[int]]
) -> list[list[float]]:
    """Return the natural log-probability of each token of each turn's reply, end mark included."""
    if not turns:
        return []
    wanted = torch.tensor(pad([[*reply, END] for reply in replies]))
    inputs = torch.cat([torch.full((len(turns), 1), START), wanted[:, :-1]], dim=1)
    with torch.inference_mode():
        found = _steps(model, _started(model, turns), inputs, wanted)
    return [row[: len(reply) + 1] for row, reply in zip(found, replies, strict=True)]


def _started(model: StepModel, turns: Sequence[Turn]) -> Any:
    """Return the state of these turns; those that are alike are read once."""
    names = [repr((turn, background_of(turn[1]))) for turn in turns]
    indices = {name: index for index, name in reversed([*enumerate(names)])}
    distinct = sorted(indices.values())
    state = model.start([turns[index] for index in distinct])
    if len(distinct) == len(turns):
        return state
    rows = [distinct.index(indices[name]) for name in names]
    return model.select(state, torch.tensor(rows))


def _steps(
    model: StepModel, state: Any, inputs: torch.Tensor, wanted: torch.Tensor
) -> list[list[float]]:
    if isinstance(model, WholeModel):
        return model.read_whole(state, inputs, wanted).tolist()
    columns = []
    for index in range(inputs.shape[1]):
        log_probs, state = model.step(state, inputs[:, index])
        columns.append(log_probs.cpu().gather(1, wanted[:, index : index + 1]))
    return torch.cat(columns, dim=1).tolist()


def rank(
    model: StepModel,
    persona: Sequence[str],
    history: Sequence[Utterance],
    candidates: Sequence[str],
) -> list[float]:
    """Return the mean log-probability per token, end mark included (PERSONA-CHAT's released code).

    A padded step of a shorter candidate cannot change the tokens before it.
    """
    if not candidates:
        return []
    texts = [model.codec.encode(text) for text in candidates]
    with torch.inference_mode():
        state = model.select(
            model.start([(persona, history)]), torch.zeros(len(texts), dtype=torch.long)
        )
        wanted = torch.tensor(pad([[*text, END] for text in texts]))
        inputs = torch.cat([torch.full((len(texts), 1), START), wanted[:, :-1]], dim=1)
        rows = _steps(model, state, inputs, wanted)
    return [
        sum(row[: len(text) + 1]) / (len(text) + 1) for row, text in zip(rows, texts, strict=True)
    ]


def foreseen(
    model: StepModel, turns: Sequence[Turn], replies: Sequence[str], known: AbstractSet[str]
) -> list[LogProbs]:
    """Return the result of `bots.generation.perplexity.log_probs` for many replies in one pass.

    That is: each word's log-probability among those of the dictionary; None for one outside it.

    Raises TypeError if the tokens are no words, ValueError if there is nothing to score.
    """
    if not isinstance(model.codec, WordCodec):
        raise TypeError("only a model of whole words can be compared word by word")
    ids = [index for word, index in model.codec.ids.items() if word in known]
    if not turns or not ids:
        raise ValueError("the dictionary holds no word of the model, or there is no reply")
    wanted = torch.tensor(pad([[*model.codec.encode(reply), END] for reply in replies]))
    inputs = torch.cat([torch.full((len(turns), 1), START), wanted[:, :-1]], dim=1)
    columns = []
    with torch.inference_mode():
        state = model.start(turns)
        for index in range(inputs.shape[1]):
            log_probs, state = model.step(state, inputs[:, index])
            among = log_probs.cpu().double()
            log_prob = among.gather(1, wanted[:, index : index + 1])
            columns.append(log_prob - among[:, ids].logsumexp(dim=1, keepdim=True))
    rows = torch.cat(columns, dim=1).tolist()
    return [
        tuple(
            _scored(model.codec, word, found, known) for word, found in zip(text, row, strict=False)
        )
        for text, row in zip(map(words, replies), rows, strict=True)
    ]


def _scored(codec: WordCodec, word: str, found: float, known: AbstractSet[str]) -> float | None:
    if word not in known:
        return None
    return found if word in codec.ids else -math.inf


def next_word(
    model: StepModel, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
) -> dict[str, float]:
    """Return each listed word's probability of coming after the prefix; marks are left out.

    Raises TypeError if the tokens of the model are not words.
    """
    if not isinstance(model.codec, WordCodec):
        raise TypeError("only a model of whole words can give the next word")
    with torch.inference_mode():
        state = model.start([(persona, history)])
        for token in (START, *model.codec.encode(" ".join(prefix))):
            log_probs, state = model.step(state, torch.tensor([token]))
    probabilities = log_probs[0].exp().tolist()[len(MARKS) :]
    return dict(zip(model.codec.words, probabilities, strict=True))


def spoken(
    proposed: Sequence[Sequence[ReplyCandidate]], turns: Sequence[Turn], max_words: int
) -> list[Reply]:
    """Return for each turn the best candidate that is safe, short enough and new."""
    return [
        choose(
            ((each.text, each.score("mean_logp")) for each in found),
            history,
            max_words,
            written=True,
        )
        for found, (_, history) in zip(proposed, turns, strict=True)
    ]
