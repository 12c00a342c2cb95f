"""Tokens per second of a language model of one's own through Celery, beside the bare model.

    python -m tests.benchmarks.checkpoint_replies [--shape 1.1b] [--device auto]
        [--precision bf16] [--tokens 128] [--rounds 3] [--peak-tflops 989] [--bandwidth 3.35]
    python -m tests.benchmarks.checkpoint_replies --url http://127.0.0.1:8000/v1 --model NAME
    python -m tests.benchmarks.checkpoint_replies --make FOLDER [--shape 1.1b]

The bot is `checkpoint` with a Llama of the shape asked for, made on the spot with random weights
(what it says does not change how long that takes) and a vocabulary of as many made-up words. With
1, 8, 32 and 64 people waiting, each reply has `--tokens` tokens after a prompt of 256 to 383. The
bare loop is the same bot called with prompts as long, in a process of its own, in turn with Celery;
time through Celery is from the commit of the messages until the last reply is shown. Given the
card's figures of its data sheet, two shares are told: of its arithmetic (2 operations per token,
prompts included, and parameter outside the table of vectors) and of its memory (the weights are
read once per step of a batch).

The second form asks a server of chat completions in its place (the bot is `chat_server`); the third
only writes the model, for a server to serve.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.reply_jobs import PEOPLE, Jobs, study_with, worker
from tests.live import ROOT

COUNTS = (1, 8, 32, PEOPLE)
POSITIONS = 512  # of prompt and reply: the oldest exchanges go where they are more
SHAPES = {
    "tiny": {"hidden": 64, "layers": 2, "heads": 4, "shared": 2, "inner": 128, "words": 1000},
    "135m": {"hidden": 576, "layers": 30, "heads": 9, "shared": 3, "inner": 1536, "words": 49152},
    "1.1b": {"hidden": 2048, "layers": 22, "heads": 32, "shared": 4, "inner": 5632, "words": 32000},
    "8b": {"hidden": 4096, "layers": 32, "heads": 32, "shared": 8, "inner": 14336, "words": 32000},
}  # those of SmolLM2, TinyLlama and Llama 3 (with the vocabulary of Llama 2)


def system(folder: Path, *, given: Any) -> dict[str, Any]:
    """Return the options of the system; a checkpoint is written first."""
    if given.url:
        limits = {"max_tokens": given.tokens, "seconds": 300.0, "at_once": PEOPLE}
        return {"url": given.url, "model": given.model, "temperature": 1.0, **limits}
    make(folder, given.shape)
    computed = {"device": given.device, "precision": given.precision, "decoding": given.decoding}
    return {"checkpoint": str(folder), **computed, "number": 1, "max_tokens": given.tokens}


def make(folder: Path, name: str) -> None:
    """Write a model of this shape with random weights, and a tokenizer."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    shape = SHAPES[name]
    vocabulary = {"<end>": 0, **{f"w{each}": each for each in range(1, shape["words"])}}
    pieces = Tokenizer(models.WordLevel(vocabulary, unk_token="w1"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer: Any = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, eos_token="<end>", unk_token="w1"
    )
    tokenizer.chat_template = "{% for each in messages %}{{ each['content'] }} {% endfor %}"
    config = transformers.LlamaConfig(
        vocab_size=shape["words"],
        hidden_size=shape["hidden"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["shared"],
        intermediate_size=shape["inner"],
        max_position_embeddings=POSITIONS,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model: Any = transformers.LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


class Bare:
    """The bot alone, in a process of its own; it is told how many to answer, and says how long."""

    def __init__(self, bot: str, options: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, "--bare", json.dumps([bot, options])],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def asked(self, count: int, words: int) -> tuple[float, int]:
        """Return the seconds of so many replies to prompts of so many words, and their tokens."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(count, words, file=self.process.stdin, flush=True)
        took, written = self.process.stdout.readline().split()
        return float(took), int(written)

    def close(self) -> None:
        self.process.communicate()


def bare(name: str, options: dict[str, Any]) -> None:
    """Print the parameters; then answer as each line of the input says, and print the seconds."""
    from bots import Utterance, make_bot

    bot: Any = make_bot(name, **options)
    print(0 if name == "chat_server" else _outside(bot.model.model), flush=True)
    for line in sys.stdin:
        count, words = map(int, line.split())
        said = " ".join(f"w{1 + each % 900}" for each in range(words))
        started = time.perf_counter()
        replies = bot.respond_many([((), (Utterance("partner", said),))] * count)
        took = time.perf_counter() - started
        print(took, sum(each.details["usage"]["completion_tokens"] for each in replies), flush=True)


def _outside(model: Any) -> int:
    """Return the parameters outside the table of vectors."""
    every = sum(each.numel() for each in model.parameters())
    return int(every - model.get_input_embeddings().weight.numel())


def shown(count: int) -> tuple[int, int]:
    """Return the tokens of the latest replies, and those of their prompts."""
    from webapp.models import ReplyCall

    latest = ReplyCall.objects.filter(outcome="SHOWN").order_by("-pk")[:count]
    counted = list(latest.values_list("reply_tokens", "prompt_tokens"))
    return sum(reply or 0 for reply, _ in counted), sum(prompt or 0 for _, prompt in counted)


def measure(jobs: Jobs, loop: Bare, given: Any) -> None:
    """Print the table."""
    assert loop.process.stdout is not None
    parameters = int(loop.process.stdout.readline())
    loop.asked(1, POSITIONS)
    name = given.model if given.url else given.shape
    print(f"{name}: {parameters / 1e6:,.0f} million parameters outside the table of vectors")
    heads = f"{'waiting':>8} {'replies/s':>10} {'tokens/s':>9} {'bare':>9} {'of bare':>8}"
    print(f"{heads} {'TFLOP/s':>8} {'of peak':>8} {'of memory':>10}", flush=True)
    for count in COUNTS:
        rows = []
        for _ in range(given.rounds):
            took = jobs.at_once(count, lambda new: None)
            written, read = shown(count)
            rows.append((took, written, read, *loop.asked(count, read // count)))
        _tell(
            count, [statistics.median(each) for each in zip(*rows, strict=True)], parameters, given
        )
    loop.close()


def _tell(count: int, medians: list[float], parameters: int, given: Any) -> None:
    took, written, read, alone, written_alone = medians
    rate, bare_rate = written / took, written_alone / alone
    flops = 2 * parameters * (written + read) / took / 1e12
    moved = 2 * parameters * written / count / took / 1e12  # bytes of 16 bits, in TB/s
    row = f"{count:8} {count / took:10.2f} {rate:9.0f} {bare_rate:9.0f} {rate / bare_rate:8.2f}"
    row += f" {flops:8.2f}"
    if given.peak_tflops and parameters:
        row += f" {flops / given.peak_tflops:8.2%} {moved / given.bandwidth:10.1%}"
    print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="1.1b")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--precision", default="bf16", choices=("fp32", "bf16", "fp16"))
    parser.add_argument("--decoding", default="sample", choices=("greedy", "sample", "nucleus"))
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak-tflops", type=float, help="of the card, dense, at this precision")
    parser.add_argument("--bandwidth", type=float, default=3.35, help="of the card's memory, TB/s")
    parser.add_argument("--url", help="where a server's interface begins: it is asked instead")
    parser.add_argument("--model", help="as that server calls it")
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="only write the model there")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.bare:
        bare(*json.loads(given.bare))
    elif given.make:
        make(given.make, given.shape)
    else:
        through_celery(given)


def through_celery(given: Any) -> None:
    """Measure both ways in turn."""
    bot = "chat_server" if given.url else "checkpoint"
    if given.url:
        os.environ["BOT_PRIVATE_HOSTS"] = urlsplit(given.url).netloc
    arguments = ("-A", "webapp", "worker", "-Q", f"bot.{bot}", "-P", "solo")
    with study_with(bot, partial(system, given=given)) as (jobs, options), worker(arguments):
        for _ in range(3):  # the bot is loaded, and the prompts are as long as they get
            jobs.at_once(PEOPLE, lambda new: None)
        measure(jobs, Bare(bot, options), given)


if __name__ == "__main__":
    main()
