"""A-SPEED: encoding one context, SRU against LSTM and GRU of like size, and ranking 10,000 replies.

python tests/benchmarks/encoders.py [--rounds N] [--threads N] [--words N]

Encoders as in the ASAPP paper: 300 in, 300 units in each of two directions, 16 heads of size 64
that pool. The text is a random one. Medians of the rounds, in which all take turns, so that what
else the machine does meets them alike; parameters are those of both encoders, as in the paper.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

from bots.layers.bags import Vocabulary
from bots.layers.text_encoder import Cell, Shape, TextEncoder, WordTable
from bots.reference import printed

SIZE = 300
CELLS: tuple[Cell, ...] = ("sru", "lstm", "gru")
CANDIDATES = 10_000


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--words", type=int, default=120)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    table = WordTable(Vocabulary([str(word) for word in range(5000)], 0), SIZE)
    text = [tuple(torch.randint(1, 5001, (given.words,)).tolist())]
    encoders = {
        (cell, layers): TextEncoder(table, Shape(cell, layers, SIZE, 16, 64)).eval()
        for layers in (2, 4)
        for cell in CELLS
    }
    tasks: dict[object, Callable[[], object]] = {"best": best()}
    for name, encoder in encoders.items():
        tasks[name] = partial(encoder, text)
        tasks[*name, "cells"] = partial(encoder.reader, text)
    with torch.inference_mode():
        found = measure(tasks, given.rounds)
    print(
        f"one text of {given.words} words, {given.threads} thread(s), "
        f"torch {torch.__version__}, median of {given.rounds} rounds in turn"
    )
    show(found, {name: size(encoder, table) for name, encoder in encoders.items()})


def measure(tasks: Mapping[object, Callable[[], object]], rounds: int) -> dict[object, float]:
    """Return the median milliseconds of each task; one round before they count warms up."""
    found: dict[object, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds + 2):
        for name, run in tasks.items():
            start = time.perf_counter()
            run()
            found[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(times[2:]) for name, times in found.items()}


def size(encoder: TextEncoder, table: WordTable) -> float:
    """Return millions of parameters of the cells of both encoders."""
    return 2 * sum(each.numel() for each in encoder.reader.cells.parameters()) / 1e6


def best() -> Callable[[], object]:
    """Return what finds the best of the cached replies: one product and an arg max."""
    matrix, query = torch.randn(CANDIDATES, 2 * SIZE), torch.randn(2 * SIZE)
    return lambda: (matrix @ query).max(dim=0)


def show(found: Mapping[object, float], sizes: Mapping[tuple[Cell, int], float]) -> None:
    """Print what was measured beside what was printed."""
    rows = printed("asapp_table8")["rows"]
    paper = {(row["encoder"], row["layers"]): row["ms"] for row in rows}
    columns = ("params M", "cells ms", "/ SRU", "+ pooling", "/ SRU", "paper ms", "/ SRU")
    print(f"{'encoder':>8}" + "".join(f"{column:>10}" for column in columns))
    for (cell, layers), millions in sizes.items():
        row = f"{cell.upper() + ' ' + str(layers):>8}{millions:>10.1f}"
        for more in (("cells",), ()):
            ours, sru = found[cell, layers, *more], found["sru", layers, *more]
            row += f"{ours:>10.1f}{ours / sru:>9.2f}x"
        theirs = paper.get((cell.upper(), layers))
        if theirs:
            row += f"{theirs:>10.1f}{theirs / paper['SRU', layers]:>9.2f}x"
        print(row)
    like = found["lstm", 2, "cells"] / found["sru", 4, "cells"]
    print(f"of like size, LSTM 2 / SRU 4: {like:.2f}x (paper: 4.15x, 90.9 / 21.9)")
    ranked = next(row["ms"] for row in rows if row["layers"] is None)
    print(f"+ best of 10,000 cached replies: {found['best']:.2f} ms (paper: {ranked} ms)")


if __name__ == "__main__":
    main()
