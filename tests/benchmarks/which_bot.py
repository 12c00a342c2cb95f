"""Ten turns of six bots, as they were said: the last part of docs/which_bot.md.

    python -m tests.benchmarks.which_bot            # prints it
    python -m tests.benchmarks.which_bot --write    # puts it into the page

Each is trained anew on the text that comes with the package, with one seed, and talks to the
partner of `tests.benchmarks.ten_turns`. Nothing is chosen, and nothing left out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bots import Bot, Trainable, get_dataset, make_bot
from bots.bot import Reply
from bots.learning import training
from bots.registry import preset
from tests.benchmarks.ten_turns import PERSONA, exchanges

PAGE = Path(__file__).parents[2] / "docs" / "which_bot.md"
START = "## Ten turns of six bots"
SEED = 1
BOTS: Mapping[str, str] = {  # and the preset
    "minilm_matcher": "frozen",
    "ruuh": "toy",
    "profile_memory": "toy",
    "tfidf": "toy",
    "seq2seq": "toy",
    "generic": "toy",
}


def main() -> None:
    """Train, let them talk, print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the part of the page")
    request = parser.parse_args()
    part = "\n".join(lines())
    if request.write:
        PAGE.write_text(PAGE.read_text("utf-8").partition(START)[0] + part + "\n", "utf-8")
    else:
        print(part)


def lines() -> Iterator[str]:
    """Return the part, line by line."""
    yield START
    yield ""
    yield "By `python -m tests.benchmarks.which_bot`: trained on `demo:train` (168 dialogues of our"
    yield f"own) with seed {SEED}; in brackets the preset and the CPU seconds of the training."
    yield f'The persona, for those who read one: "{" ".join(PERSONA)}"'
    yield "*(canned)*: a fixed line of the filter, for want of a reply that is new and safe."
    for name, chosen in BOTS.items():
        with training.threads(1):  # two add in another order, and the weights differ
            part = list(chapter(name, chosen))
        yield from part


def chapter(name: str, chosen: str) -> Iterator[str]:
    """Return one bot's ten turns."""
    bot = make_bot(name, **preset(name, chosen))
    before = sum(os.times()[:2])
    if isinstance(bot, Trainable):
        with contextlib.redirect_stdout(sys.stderr):
            bot.train(get_dataset("demo").read("train"), seed=SEED)
    seconds = sum(os.times()[:2]) - before
    assert isinstance(bot, Bot)
    how = f"preset `{chosen}`, {seconds:.0f} s" if isinstance(bot, Trainable) else "untrained"
    yield from ("", f"### {name} ({how})", "", "| partner | bot |", "|---|---|")
    yield from (f"| {line} | {shown(reply)} |" for line, reply in exchanges(bot))


def shown(reply: Reply) -> str:
    """Return a reply as a cell of a table."""
    text = reply.text.replace("|", "\\|") or "*nothing*"
    return f"{text} *(canned)*" if "canned" in reply.events else text


if __name__ == "__main__":
    main()
