"""A chat of ten turns, the partner's lines and the bot's persona fixed: printed as it was.

    python -m tests.benchmarks.ten_turns two_head --weights W

What a bot says is for reading, not for counting: nothing is chosen, and nothing left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch

from bots import Bot, Utterance, bot_options, make_bot
from bots.options import parse_option

PERSONA = (
    "i work as a nurse .",
    "i love to cook italian food .",
    "i have a cat named felix .",
    "my brother lives in france .",
)
PARTNER = (
    "hi ! how are you doing today ?",
    "nice . what do you do for a living ?",
    "do you like your job ?",
    "i am a teacher , i have a class of twenty kids .",
    "what do you like to do on weekends ?",
    "do you have any pets ?",
    "i have two dogs . they love the beach .",
    "what is your favorite food ?",
    "do you have brothers or sisters ?",
    "it was nice to talk to you . good night !",
)


def chat(bot: Bot) -> Iterator[Utterance]:
    """Return both sides' messages, one by one."""
    history: list[Utterance] = []
    for line in PARTNER:
        history.append(Utterance("partner", line))
        yield history[-1]
        history.append(Utterance("self", bot.respond(PERSONA, tuple(history)).text))
        yield history[-1]


def main() -> None:
    """Build the bot, let it talk, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bot")
    parser.add_argument("--weights", default="")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    given = parser.parse_args()
    torch.set_num_threads(1)
    named = {"weights": given.weights} if given.weights else {}
    for name, _, raw in (each.partition("=") for each in given.set):
        named[name] = parse_option(given.bot, bot_options(given.bot), name, raw)
    bot = make_bot(given.bot, **named)
    assert isinstance(bot, Bot), f"{given.bot} does not answer"
    print(given.bot, *(f"{name}={value}" for name, value in named.items()))
    for turn in chat(bot):
        print(f"{'BOT:    ' if turn.speaker == 'self' else 'PARTNER:'} {turn.text}", flush=True)


if __name__ == "__main__":
    main()
