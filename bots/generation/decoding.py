"""Greedy search, beam search and sampling over any model that can be stepped, in batches.

A model is asked only through `StepModel`: it reads all turns of a batch once (`start`), then gives
the next token's distribution for every row (`step`), and can repeat or drop rows of its state
(`select`), a key-value cache included. Rows never influence each other, so a batch gives what each
turn alone would get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate, best_first
from bots.dialogue import seed_of
from bots.text.vocabulary import END, PAD, START, UNKNOWN, Codec

NEVER = (PAD, START, UNKNOWN)  # not words, so never shown


class StepModel(Protocol):
    """A model to be decoded. The state is the model's own; its rows are those of the batch.

    `tokens` and `rows` may come on another device than the model's.
    """

    codec: Codec

    def start(self, turns: Sequence[Turn]) -> Any:
        """Read the turns; the state's rows are theirs, in order."""

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Take each row's last token [rows] and return log-probabilities [rows, size]."""

    def select(self, state: Any, rows: Tensor) -> Any:
        """Return a state whose rows are these of the old one; a row may come twice."""


@runtime_checkable
class WholeModel(StepModel, Protocol):
    """A model that reads a whole reply in one pass, where that costs less than its steps."""

    def read_whole(self, state: Any, tokens: Tensor, wanted: Tensor) -> Tensor:
        """Return the log-probability of each wanted token [rows, length] after those before it."""


@dataclass
class _Row:
    """The tokens that one row has written so far."""

    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)


Watch = Callable[[Sequence[Sequence[int]]], None]


def propose(
    model: StepModel, turns: Sequence[Turn], decoding: Decoding, watch: Watch | None = None
) -> list[list[ReplyCandidate]]:
    """Return each turn's candidates, best first.

    Beam search gives fewer than `number` only where the model's distribution does not hold more.
    `watch` is told after each step but a beam's what all rows have written, without the end; so
    that each step waits for the device.
    """
    if not turns:
        return []
    with torch.inference_mode():
        if decoding.method == "beam":
            rows = _beam(model, turns, decoding)
        else:
            rows = _walk(model, turns, decoding, watch)
    return [best_first([_candidate(model.codec, row) for row in found], decoding) for found in rows]


def _candidate(codec: Codec, row: _Row) -> ReplyCandidate:
    written = [each for each in row.tokens if each != END]
    return ReplyCandidate(codec.decode(written), codec.tokens(written), tuple(row.log_probs))


def _walk(
    model: StepModel, turns: Sequence[Turn], decoding: Decoding, watch: Watch | None = None
) -> list[list[_Row]]:
    """Write all rows side by side, greedily or by sampling; a row that has ended is dropped."""
    number = decoding.number if decoding.method == "sample" else 1
    rows = [[_Row() for _ in range(number)] for _ in turns]
    flat = [row for found in rows for row in found]
    lots = _lots(turns, decoding) if decoding.method == "sample" else None
    state = model.start(turns)
    alive = np.arange(len(flat))
    if number > 1:
        state = model.select(state, torch.arange(len(turns)).repeat_interleave(number))
    tokens = torch.full((len(flat),), START)
    steps: list[tuple[np.ndarray, Tensor, Tensor]] = []
    written: list[list[int]] = [[] for _ in flat]
    for index in range(decoding.max_tokens):
        log_probs, state = model.step(state, tokens)
        allowed = _allowed(log_probs)
        drawn = None if lots is None else torch.from_numpy(lots[alive, index])
        tokens = allowed.argmax(1) if drawn is None else _draw(allowed, drawn, decoding)
        steps.append((alive, tokens, log_probs.gather(1, tokens[:, None])[:, 0]))
        if watch is not None:
            _note(written, alive, tokens)
            watch(written)
        left = (tokens != END).nonzero()[:, 0]
        if not len(left):
            break
        if len(left) < len(alive):
            state, tokens, alive = (
                model.select(state, left.cpu()),
                tokens[left],
                alive[left.cpu().numpy()],
            )
    _fill(flat, steps)
    return rows


def _note(written: Sequence[list[int]], alive: np.ndarray, tokens: Tensor) -> None:
    for row, token in zip(alive, tokens.tolist(), strict=True):
        if token != END:
            written[row].append(token)


def _fill(rows: Sequence[_Row], steps: Sequence[tuple[np.ndarray, Tensor, Tensor]]) -> None:
    """Give rows what each step wrote: at the end, so that no step waits for the device's words."""
    if not steps:
        return
    indices, tokens, log_probs = zip(*steps, strict=True)
    written = torch.cat(tokens).tolist(), torch.cat(log_probs).tolist()
    for index, token, log_prob in zip(np.concatenate(indices), *written, strict=True):
        rows[index].tokens.append(token)
        rows[index].log_probs.append(log_prob)


def _allowed(log_probs: Tensor) -> Tensor:
    allowed = log_probs.clone()
    for never in NEVER:  # a list of indices would have to be copied to the device at each step
        allowed[:, never] = -torch.inf
    return allowed


def _lots(turns: Sequence[Turn], decoding: Decoding) -> np.ndarray:
    """Return uniform numbers [turns * number, max_tokens]; a turn's do not depend on the batch."""
    shape = (decoding.number, decoding.max_tokens)
    return np.concatenate([_generator(turn, decoding.seed).random(shape) for turn in turns])


def _generator(turn: Turn, seed: int) -> np.random.Generator:
    persona, history = turn
    own = seed_of(history)
    if own is not None:
        return np.random.default_rng([seed, own])
    text = repr((seed, tuple(persona), [(each.speaker, each.text) for each in history]))
    return np.random.default_rng(list(sha256(text.encode()).digest()))


def _draw(log_probs: Tensor, lots: Tensor, decoding: Decoding) -> Tensor:
    """Draw a token for each row: the first whose cumulated probability passes its lot."""
    if decoding.temperature == 0:
        return log_probs.argmax(1)
    probabilities = truncated(log_probs / decoding.temperature, decoding.top_k, decoding.top_p)
    cumulated = probabilities.double().cumsum(1)
    passed = lots.to(cumulated.device)[:, None] * cumulated[:, -1:]
    return (cumulated <= passed).sum(1).clamp(max=log_probs.shape[1] - 1)


def truncated(logits: Tensor, top_k: int, top_p: float) -> Tensor:
    """Return probabilities [rows, size] of the likeliest tokens only; the rest get 0.

    Top-k: Fan et al. 2018; nucleus: Holtzman et al. 2020, section 3.1 (the fewest that reach p).
    """
    probabilities = logits.softmax(1)
    if 0 < top_k < logits.shape[1]:
        least = probabilities.topk(top_k).values[:, -1:]
        probabilities = probabilities.where(probabilities >= least, 0)
        probabilities = probabilities / probabilities.sum(1, keepdim=True)
    if top_p < 1:
        ordered, order = probabilities.sort(dim=1, descending=True, stable=True)
        outside = ordered.cumsum(1) - ordered >= top_p
        probabilities = torch.zeros_like(probabilities).scatter(
            1, order, ordered.masked_fill(outside, 0)
        )
    return probabilities


def _beam(model: StepModel, turns: Sequence[Turn], decoding: Decoding) -> list[list[_Row]]:
    """Keep the `number` likeliest beginnings of every turn; those that end are set aside.

    A turn is done when `number` have ended and no beginning is likelier than the worst of them.
    """
    count, width = len(turns), decoding.number
    beams = [_Beam(width) for _ in turns]
    state = model.select(model.start(turns), torch.arange(count).repeat_interleave(width))
    tokens = torch.full((count * width,), START)
    for _ in range(decoding.max_tokens):
        log_probs, state = model.step(state, tokens)
        allowed = _allowed(log_probs).view(count, width, -1).cpu()
        moves = [beam.extend(each) for beam, each in zip(beams, allowed, strict=True)]
        if all(beam.done for beam in beams):
            break
        parents = [turn * width + row for turn, move in enumerate(moves) for row, _ in move]
        state = model.select(state, torch.tensor(parents))
        tokens = torch.tensor([token for move in moves for _, token in move])
    return [beam.found() for beam in beams]


@dataclass
class _Beam:
    """The beginnings of one turn, likeliest first, and its ended candidates."""

    width: int
    open: list[_Row] = field(default_factory=lambda: [_Row()])
    ended: list[_Row] = field(default_factory=list)
    done: bool = False

    def extend(self, log_probs: Tensor) -> list[tuple[int, int]]:
        """Take one step; return each new row's parent row and token."""
        if self.done:
            return [(0, END)] * self.width
        before = torch.tensor([sum(row.log_probs) for row in self.open])
        total = before[:, None] + log_probs[: len(self.open)]
        scores, indices = total.flatten().topk(min(2 * self.width, total.numel()))
        grown: list[tuple[int, _Row]] = []
        for score, index in zip(scores.tolist(), indices.tolist(), strict=True):
            parent, token = divmod(index, total.shape[1])
            if score == -np.inf or len(grown) == self.width:
                break
            row = self.open[parent]
            log_prob = float(log_probs[parent, token])
            new = _Row([*row.tokens, token], [*row.log_probs, log_prob])
            if token == END:
                self.ended.append(new)
            else:
                grown.append((parent, new))
        self.open = [row for _, row in grown]
        self.done = not grown or self._settled()
        moves = [(parent, row.tokens[-1]) for parent, row in grown]
        return moves + [(0, END)] * (self.width - len(moves))

    def _settled(self) -> bool:
        totals = sorted((sum(row.log_probs) for row in self.ended), reverse=True)
        enough = len(totals) >= self.width
        return enough and totals[self.width - 1] >= sum(self.open[0].log_probs)

    def found(self) -> list[_Row]:
        """Return the ended candidates, likeliest first, then those cut off."""
        rows = sorted(self.ended, key=lambda row: sum(row.log_probs), reverse=True)
        return [*rows, *self.open][: self.width]
