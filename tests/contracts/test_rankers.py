"""Rankers in a chat: never the partner's own words, never their own line again."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

import pytest

from bots import (
    Bot,
    Dialogue,
    InvalidOption,
    Ranker,
    Trainable,
    Utterance,
    bot_names,
    bot_options,
    make_bot,
)
from bots.bot import Generator, Reply
from bots.guards import filters
from bots.text.tokens import words
from tests.bots.examples import PERSONA, demo, trained

TURNS = 10
THINGS = "bakery bridge cinema library market museum park river school theater".split()  # noqa: SIM905
PROBE = Utterance("partner", "What else do you like?")
Messages = list[Utterance]


def choosers() -> list[str]:
    """Return the bots that rank what they may say and write nothing of their own."""
    kinds = {name: importlib.import_module(f"bots.zoo.{name}").BOT for name in bot_names()}
    return [
        name
        for name, kind in kinds.items()
        if issubclass(kind, Ranker) and not issubclass(kind, Generator)
    ]


rankers = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in choosers()]
)


def parroted(bot: Bot) -> tuple[Messages, list[Reply]]:
    """Chat with a partner that always sends the line that the bot itself would send next."""
    history: Messages = []
    replies = []
    for _ in range(TURNS):
        wanted = bot.respond(PERSONA, [*history, PROBE]).text
        history.append(Utterance("partner", wanted))
        replies.append(bot.respond(PERSONA, history))
        history.append(Utterance("self", replies[-1].text))
    return history, replies


def copies(history: Messages, replies: Iterable[Reply]) -> list[str]:
    """Return the chosen replies that are copies, or near copies, of an earlier message."""
    found = []
    for turn, reply in enumerate(replies):
        earlier = [words(each.text) for each in history[: 2 * turn + 1]]
        chosen = words(reply.text)
        near = any(chosen == old or filters.NEAR_COPY.alike(chosen, old) for old in earlier)
        if near and "canned" not in reply.events:
            found.append(reply.text)
    return found


def echoing() -> Dialogue:
    """Return people who answer each line with the line itself."""
    lines = (f"I really like the {thing} in our town." for thing in THINGS)
    turns = [Utterance(side, line) for line in lines for side in ("partner", "self")]
    return Dialogue("echo", tuple(turns))


def among_echoes(name: str) -> tuple[Messages, list[Reply]]:
    """Train on people who echo and a few who do not, and send their lines, one after another."""
    bot = make_bot(name)
    assert isinstance(bot, Trainable)
    assert isinstance(bot, Bot)
    bot.train([echoing(), *demo("train")[:3]], seed=1)
    history: Messages = []
    replies = []
    for line in echoing().turns[::2]:
        history.append(line)
        replies.append(bot.respond((), history))
        history.append(Utterance("self", line.text))  # as in what it learned
    return history, replies


def taught_at_once() -> list[str]:
    """Return the rankers whose training counts words or keeps replies, without passes."""
    return [
        name
        for name in choosers()
        if isinstance(make_bot(name), Trainable)
        and all(option.name != "epochs" for option in bot_options(name))
    ]


@rankers
def test_a_ranker_with_an_encoder_has_the_one_setting_of_a_device(name: str) -> None:
    options = {each.name: each for each in bot_options(name)}
    if not options.keys() & {"encoder", "dimension", "layers", "device", "unigrams"}:
        return  # it counts words
    device = options["device"]
    assert (device.choices, device.default) == (("auto", "cpu", "cuda"), "auto")
    with pytest.raises(InvalidOption, match="device is 'gpu', but must be one of auto, cpu, cuda"):
        make_bot(name, device="gpu")


@rankers
def test_a_partner_that_repeats_its_candidates_hears_none_of_them_back(name: str) -> None:
    bot = trained(name)
    assert isinstance(bot, Bot)
    history, replies = parroted(bot)
    assert copies(history, replies) == []
    chosen = sum("canned" not in reply.events for reply in replies)
    assert chosen == (0 if name == "repeat_label" else TURNS)  # which knows no such conversation


@pytest.mark.parametrize("name", taught_at_once())
def test_people_who_echo_teach_no_echo(name: str) -> None:
    assert copies(*among_echoes(name)) == []


@rankers
def test_without_the_rule_each_of_them_would_echo(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruled = filters._Earlier
    monkeypatch.setattr(
        filters, "_Earlier", lambda history, *, written: ruled(history, written=True)
    )
    bot = trained(name)
    assert isinstance(bot, Bot)
    assert copies(*parroted(bot)) or copies(*among_echoes(name))
