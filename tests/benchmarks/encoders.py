"""A-SPEED: encoding one context by SRU, LSTM, GRU and Transformer, and ranking cached replies.

    python -m tests.benchmarks.encoders [--rounds 100] [--words 120] [--small] [--cpu]

Encoders as in the ASAPP paper: 300 in, 300 units in each of two directions, 16 heads of size 64
that pool, one core. "like" are LSTMs of as many layers and parameters as the SRU above them. Each
round draws a new context and asks all in turn, so that what else the machine does meets them alike;
medians of the rounds (the paper: means of 1,000 contexts). Parameters are those of both encoders,
as in the paper. Asked: SRU ahead of LSTM of like size by more than 1.5 times at 2 layers and 1.1 at
4. `--small` leaves out the million candidates, which take 1.2 GB; `--cpu` counts what was computed
and no waiting for a core, which is fairer on a machine that does other things.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bots.encoders import topk
from bots.encoders.bags import Bag, Vocabulary
from bots.encoders.text_encoder import Cell, Shape, TextEncoder, WordTable
from bots.reference import printed
from bots.writers.transformer import Block, Pass, TransformerSizes

SIZE = 300
WORDS = 5000
CANDIDATES = (10_000, 1_000_000)
Clock = Callable[[], float]
Read = Callable[[Sequence[Bag]], object]


@dataclass(frozen=True)
class Encoder:
    """One that is measured: what it does with a text alone, and with pooling after it."""

    name: str
    layers: int
    millions: float
    cells: Read
    whole: Read


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--words", type=int, default=120)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    clock = time.thread_time if given.cpu else time.perf_counter
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = WordTable(Vocabulary([str(word) for word in range(WORDS)], 0), SIZE)
    encoders = [each for layers in (2, 4) for each in made(table, layers)]
    print(f"a context of {given.words} words, one core, torch {torch.__version__}, ", end="")
    print(f"median of {given.rounds} contexts{', computed only' if given.cpu else ''}")
    with torch.inference_mode():
        show(encoders, measured(encoders, given.rounds, given.words, clock))
        for rows in CANDIDATES[:1] if given.small else CANDIDATES:
            rank(rows, given.rounds, clock)


def made(table: WordTable, layers: int) -> list[Encoder]:
    """Return the encoders of so many layers: the SRU first."""
    sru = _recurrent("SRU", table, "sru", layers, SIZE)
    like = _recurrent("LSTM like", table, "lstm", layers, _width(sru.millions, layers))
    others = [_recurrent(cell.upper(), table, cell, layers, SIZE) for cell in ("lstm", "gru")]
    return [sru, others[0], like, others[1], *([_transformer(table)] if layers == 2 else [])]


def _recurrent(name: str, table: WordTable, cell: Any, layers: int, hidden: int) -> Encoder:
    kind: Cell = cell
    encoder = TextEncoder(table, Shape(kind, layers, hidden, 16, 64)).eval()
    return Encoder(name, layers, _millions(encoder.reader.cells), encoder.reader, encoder)


def _millions(cells: nn.Module) -> float:
    return 2 * sum(each.numel() for each in cells.parameters()) / 1e6


def _width(millions: float, layers: int) -> int:
    """Return how many units give an LSTM of so many layers this many parameters."""
    sizes = range(8, SIZE)
    return min(sizes, key=lambda hidden: abs(_lstm_millions(hidden, layers) - millions))


def _lstm_millions(hidden: int, layers: int) -> float:
    inputs = SIZE + (layers - 1) * 2 * hidden
    return 2 * 2 * 4 * hidden * (inputs + layers * (hidden + 2)) / 1e6


def _transformer(table: WordTable) -> Encoder:
    """Return two blocks of 6 heads and 1,200 inner units: no part of the paper."""
    sizes = TransformerSizes(width=SIZE, heads=6, layers=2, inner=4 * SIZE, dropout=0.0)
    blocks = nn.ModuleList(Block(str(place), sizes) for place in range(2)).eval()

    def read(texts: Sequence[Bag]) -> Tensor:
        x: Tensor = table(torch.tensor([list(text) for text in texts]))
        for block in blocks:
            x = block(x, Pass())
        return x

    def pooled(texts: Sequence[Bag]) -> Tensor:
        return read(texts).mean(dim=1)

    return Encoder("Transformer", 2, _millions(blocks), read, pooled)


def measured(
    encoders: Sequence[Encoder], rounds: int, words: int, clock: Clock
) -> list[tuple[float, float]]:
    """Return each one's median milliseconds without pooling and with it."""
    taken: list[tuple[list[float], list[float]]] = [([], []) for _ in encoders]
    for round_ in range(rounds + 2):
        text = [tuple(torch.randint(1, WORDS + 1, (words,)).tolist())]
        for encoder, times in zip(encoders, taken, strict=True):
            for run, found in zip((encoder.cells, encoder.whole), times, strict=True):
                begun = clock()
                run(text)
                if round_ > 1:  # the first ones warm up
                    found.append(1000 * (clock() - begun))
    return [(statistics.median(cells), statistics.median(whole)) for cells, whole in taken]


def show(encoders: Sequence[Encoder], found: Sequence[tuple[float, float]]) -> None:
    """Print what was measured beside what was printed; "/ SRU" is against that of its layers."""
    rows = printed("asapp_table8")["rows"]
    paper = {f"{row['encoder']} {row['layers']}": row["ms"] for row in rows}
    columns = ("params M", "cells ms", "/ SRU", "+ pooling", "/ SRU", "paper ms", "/ SRU")
    print(f"{'encoder':>14}" + "".join(f"{column:>10}" for column in columns))
    sru: Mapping[int, tuple[float, float]] = {
        each.layers: times
        for each, times in zip(encoders, found, strict=True)
        if each.name == "SRU"
    }
    for each, times in zip(encoders, found, strict=True):
        name = f"{each.name} {each.layers}"
        row = f"{name:>14}{each.millions:>10.1f}"
        for ours, theirs in zip(times, sru[each.layers], strict=True):
            row += f"{ours:>10.2f}{ours / theirs:>9.2f}x"
        if name in paper:
            row += f"{paper[name]:>10.1f}{paper[name] / paper[f'SRU {each.layers}']:>9.2f}x"
        print(row)
    lstm = next(
        times
        for each, times in zip(encoders, found, strict=True)
        if (each.name, each.layers) == ("LSTM", 2)
    )
    told = f"LSTM 2 against SRU 4: {lstm[0] / sru[4][0]:.2f}x, with pooling"
    print(f"{told} {lstm[1] / sru[4][1]:.2f}x (paper: {paper['LSTM 2'] / paper['SRU 4']:.2f}x)")


def rank(rows: int, rounds: int, clock: Clock) -> None:
    """Print how long the best of cached replies takes, by the width of their vectors."""
    ranked = next(row["ms"] for row in printed("asapp_table8")["rows"] if row["layers"] is None)
    for size in (SIZE, 2 * SIZE) if rows == CANDIDATES[0] else (SIZE,):
        matrix, times = torch.randn(rows, size), []
        for _ in range(rounds if rows == CANDIDATES[0] else min(rounds, 20)):
            query = torch.randn(1, size)
            begun = clock()
            topk.best(matrix, query, 1)
            times.append(1000 * (clock() - begun))
        told = f"+ best of {rows:,} cached replies x {size}: {statistics.median(times):.2f} ms"
        print(told + (f" (paper: {ranked} ms)" if rows == CANDIDATES[0] else ""), flush=True)


if __name__ == "__main__":
    main()
