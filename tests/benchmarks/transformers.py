"""Training steps and generation of the bots that write: one at a time against batches.

    python -m tests.benchmarks.transformers [--bot two_head --bot meena] [--preset toy]
        [--set OPTION=VALUE] [--device auto] [--precision fp32] [--rounds 3] [--peak-tflops 989]

The networks are untrained and the texts are random words, so nothing but speed is told. A training
step is forward, backward and the optimizer on one batch of the preset's size. Generation is greedy,
20 tokens in and 20 out, the end mark never chosen; medians of the rounds, batches in turn. With
--peak-tflops (the card's, from its data sheet) a training step's share of it is told, counting 6
operations per token and parameter outside the tables of vectors: attention and the output of a
Transformer are not in it, so its true share is higher. Needs no Django.
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

from bots import bot_options, make_bot, training
from bots.bot import Turn
from bots.candidates import Decoding
from bots.decoding import propose
from bots.dialogue import Utterance
from bots.layers.network import Stepped
from bots.options import parse_option
from bots.registry import preset
from bots.vocabulary import END, WordCodec

BATCHES = (1, 8, 32, 64)
TOKENS = 20


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
    for setting in given.set:
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
    items = [(network.reading.asked(_turn(chance, words, tokens)), each) for each in replies]
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


def _generate(network: Any, given: Any, where: torch.device) -> None:
    model, chance = Endless(network), Random(1)
    words = range(4, network.reading.codec.size)
    decoding = Decoding("greedy", max_tokens=TOKENS)
    rates: dict[int, list[float]] = {size: [] for size in BATCHES}
    for round_ in range(given.rounds + 1):  # the first one warms up
        for size in BATCHES:
            turns = [_turn(chance, words, TOKENS) for _ in range(size)]
            seconds = _seconds(partial(propose, model, turns, decoding), where)
            if round_:
                rates[size].append(size * TOKENS / seconds)
    print(f"  {'batch':>7} {'tokens/s':>10} {'replies/s':>10} {'gain':>6}")
    for size, found in rates.items():
        rate, single = statistics.median(found), statistics.median(rates[1])
        print(f"  {size:7} {rate:10,.0f} {rate / TOKENS:10,.1f} {rate / single:5.1f}x", flush=True)


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
