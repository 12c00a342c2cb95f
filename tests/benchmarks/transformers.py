"""Training steps and generation of the bots that write: one at a time against batches.

    python -m tests.benchmarks.transformers --size 512
    python -m tests.benchmarks.transformers [--bot two_head --bot meena] [--preset toy]
        [--set OPTION=VALUE] [--device auto] [--precision fp32] [--rounds 3] [--peak-tflops 989]

The networks are untrained and the texts are random words, so nothing but speed is told. A training
step is forward, backward and the optimizer on one batch of the preset's size. Generation is greedy,
20 tokens in and 20 out, the end mark never chosen; medians of the rounds, batches in turn. In the
column "without" (small batches only) all is read and written anew for each token, as must be
without a state or a cache of keys and values; both ways must find the same. With --peak-tflops (the
card's, from its data sheet) a training step's share of it is told, counting 6 operations per token
and parameter outside the tables of vectors: attention and the output of a Transformer are not in
it, so its true share is higher. Needs no Django.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from bots import bot_options, make_bot
from bots.bot import Turn
from bots.candidates import Decoding
from bots.dialogue import Utterance
from bots.generation.decoding import StepModel, propose
from bots.learning import training
from bots.options import parse_option
from bots.registry import preset
from bots.text.vocabulary import END, START, WordCodec
from bots.writers.network import Stepped

BATCHES = (1, 8, 32, 64)
TOKENS = 20
MOST_UNCACHED = 8


class Endless(Stepped):
    """A network that never ends a reply, so that all are of one length."""

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        log_probs, state = super().step(state, tokens)
        log_probs[:, END] = -torch.inf
        return log_probs, state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", action="append")
    parser.add_argument("--preset", default="toy")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--size", type=int, help="units of each of two layers, of every bot")
    parser.add_argument("--words", type=int, default=8000, help="size of the vocabulary")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak-tflops", type=float)
    given = parser.parse_args()
    where = training.device(given.device)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{_card(where)}, {given.precision}, preset {given.preset}, {given.words} words")
    for name in given.bot or ["two_head", "meena", "seq2seq"]:
        bot = make_bot(name, **_options(name, given))
        network = bot.build(WordCodec(tuple(f"w{n}" for n in range(given.words - 4))))  # type: ignore[attr-defined]
        _measure(name, bot, network.to(where), given, where)


def _options(name: str, given: Any) -> dict[str, Any]:
    known = bot_options(name)
    has = {each.name for each in known}
    fixed = {"device": given.device, "precision": given.precision, "subwords": 0}
    options = {**preset(name, given.preset), **fixed}
    sized = ["layers=2", *(f"{each}={given.size}" for each in ("width", "hidden", "dimension"))]
    for setting in (*(sized if given.size else ()), *given.set):
        option, _, raw = setting.partition("=")
        if option in has:
            options[option] = parse_option(name, known, option, raw)
    return {option: value for option, value in options.items() if option in has}


def _measure(name: str, bot: Any, network: Any, given: Any, where: torch.device) -> None:
    total = sum(each.numel() for each in network.parameters())
    tables = [each for each in network.modules() if isinstance(each, torch.nn.Embedding)]
    count = total - sum(each.weight.numel() for each in tables)
    print(f"\n{name}: {total / 1e6:.1f} million parameters, {count / 1e6:.1f} outside tables")
    with _computing(given.precision, where):
        _train(bot, network, given, where, count)
        _generate(network.eval(), given, where)


def _train(bot: Any, network: Any, given: Any, where: torch.device, count: int) -> None:
    chance = Random(0)
    tokens, size = bot.tokens, bot.batch
    words = range(4, network.reading.codec.size)
    replies = [tuple(chance.choices(words, k=TOKENS)) for _ in range(size)]
    items = [(network.reading.encoded(_turn(chance, words, tokens)), each) for each in replies]
    if hasattr(network, "pool"):
        network.pool = replies
    optimizer = torch.optim.Adafactor(network.parameters())  # the least memory, the same for all
    network.train()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        bot.loss(network, items).backward()
        optimizer.step()  # type: ignore[no-untyped-call]

    seconds = _median(step, given.rounds, where)
    offered = getattr(bot, "candidates", 1) * (TOKENS + 1)
    seen = size * (len(items[0][0].flat) + offered)
    told = f"training step, batch {size}: {seconds * 1e3:.1f} ms, {seen / seconds:,.0f} tokens/s"
    teraflops = 6 * count * seen / seconds / 1e12
    share = f", {teraflops / given.peak_tflops:.1%} of peak" if given.peak_tflops else ""
    print(f"  {told}, {teraflops:.2f} TFLOP/s{share}")


class Uncached:
    """The same network without a cache: its state is the turns and what was written so far."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.codec = network.reading.codec

    def start(self, turns: Sequence[Turn]) -> Any:
        """Keep the turns."""
        return [self.network.reading.encoded(turn) for turn in turns], None

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Read and write everything again, one token further."""
        asked, before = state
        new = tokens.to(self.network.device)[:, None]
        written = new if before is None else torch.cat((before, new), dim=1)
        log_probs, _ = self.network.write(self.network.read(asked), written)
        last = log_probs[:, -1].clone()
        last[:, END] = -torch.inf
        return last, (asked, written)

    def select(self, state: Any, rows: Tensor) -> Any:
        """Return a state of these rows."""
        asked, written = state
        return [asked[row] for row in rows.tolist()], written[rows.to(written.device)]


def _generate(network: Any, given: Any, where: torch.device) -> None:
    chance = Random(1)
    words = range(4, network.reading.codec.size)
    ways: tuple[StepModel, StepModel] = (Endless(network), Uncached(network))
    rates: dict[tuple[int, int], list[float]] = {}
    for round_ in range(given.rounds + 1):  # the first one warms up
        for size in BATCHES:
            turns = [_turn(chance, words, TOKENS) for _ in range(size)]
            if not round_:
                _agree(ways, turns)
                continue
            for place, model in enumerate(ways[: 2 if size <= MOST_UNCACHED else 1]):
                run = partial(propose, model, turns, Decoding("greedy", max_tokens=TOKENS))
                rate = size * TOKENS / _seconds(run, where)
                rates.setdefault((size, place), []).append(rate)
    heads = f"{'tokens/s':>10} {'replies/s':>10} {'gain':>6} {'without':>10} {'gain':>6}"
    print(f"  {'batch':>7} {heads}")
    single = statistics.median(rates[1, 0])
    for size in BATCHES:
        rate = statistics.median(rates[size, 0])
        row = f"  {size:7} {rate:10,.0f} {rate / TOKENS:10,.1f} {rate / single:5.1f}x"
        if (size, 1) in rates:
            slow = statistics.median(rates[size, 1])
            row += f" {slow:10,.0f} {rate / slow:5.1f}x"
        print(row, flush=True)


def _agree(ways: tuple[StepModel, StepModel], turns: Sequence[Turn]) -> None:
    """Stop unless both find the same tokens as likely, one after the other."""
    with torch.inference_mode():
        one, other = (way.start(turns) for way in ways)
        tokens = torch.full((len(turns),), START)
        for _ in range(3):
            found, one = ways[0].step(one, tokens)
            again, other = ways[1].step(other, tokens)
            torch.testing.assert_close(found.float(), again.float(), rtol=0.05, atol=0.05)
            tokens = found.argmax(1).cpu()


def _turn(chance: Random, words: Sequence[int], tokens: int) -> Turn:
    said = " ".join(f"w{each - 4}" for each in chance.choices(words, k=tokens - 1))
    return ((), (Utterance("partner", said),))


def _median(work: Callable[[], object], rounds: int, where: torch.device) -> float:
    work()
    return statistics.median(_seconds(work, where) for _ in range(rounds))


def _seconds(work: Callable[[], object], where: torch.device) -> float:
    if where.type == "cuda":
        torch.cuda.synchronize()
    begun = time.perf_counter()
    work()
    if where.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun


@contextmanager
def _computing(precision: str, where: torch.device) -> Iterator[None]:
    mixed: AbstractContextManager[object] = nullcontext()
    if precision == "bf16":
        mixed = torch.autocast(where.type, torch.bfloat16)
    with mixed:
        yield


def _card(where: torch.device) -> str:
    return torch.cuda.get_device_name() if where.type == "cuda" else "CPU, one thread"


if __name__ == "__main__":
    main()
