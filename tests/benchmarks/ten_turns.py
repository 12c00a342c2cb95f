"""A chat of ten turns, the partner's lines and the bot's persona fixed: printed as it was.

    python -m tests.benchmarks.ten_turns two_head --weights W

What a bot says is for reading, not for counting: nothing is chosen, and nothing left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch

from bots import Bot, Utterance, bot_options, make_bot
from bots.bot import Reply
from bots.options import parse_option

PERSONA = (
    "I work as a nurse.",
    "I love to cook Italian food.",
    "I have a cat named Felix.",
    "My brother lives in France.",
)
PARTNER = (
    "Hi! How are you doing today?",
    "Nice. What do you do for a living?",
    "Do you like your job?",
    "I am a teacher, I have a class of twenty kids.",
    "What do you like to do on weekends?",
    "Do you have any pets?",
    "I have two dogs. They love the beach.",
    "What is your favorite food?",
    "Do you have brothers or sisters?",
    "It was nice to talk to you. Good night!",
)


def exchanges(bot: Bot) -> Iterator[tuple[str, Reply]]:
    """Return each line of the partner with the bot's reply."""
    history: list[Utterance] = []
    for line in PARTNER:
        history.append(Utterance("partner", line))
        reply = bot.respond(PERSONA, tuple(history))
        history.append(Utterance("self", reply.text))
        yield line, reply


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
    for line, reply in exchanges(bot):
        print(f"PARTNER: {line}\nBOT:     {reply.text}", flush=True)


if __name__ == "__main__":
    main()
