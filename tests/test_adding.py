"""The examples of docs/adding.md work as they stand."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bots.bot import Bot
from bots.dialogue import Utterance
from evaluation import Protocol, Shown
from tests.analysis.examples import triples

PAGE = Path(__file__).parents[1] / "docs" / "adding.md"
EXAMPLES = dict(re.findall(r"```python \w+ (\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL))


@pytest.fixture
def example(request: pytest.FixtureRequest) -> ModuleType:
    """The example of this name as a module that can be imported from."""
    module = ModuleType(f"example_{request.param}")
    sys.modules[module.__name__] = module  # dataclasses look their own module up
    exec(compile(EXAMPLES[request.param], request.param, "exec"), module.__dict__)  # noqa: S102
    return module


@pytest.mark.parametrize("example", ["humor"], indirect=True)
def test_the_protocol(example: ModuleType) -> None:
    protocol = example.PROTOCOL
    assert isinstance(protocol, Protocol)
    assert protocol.after is not None
    assert protocol.after.parse({"p.funny": "4"}, Shown(("p",))) == {("p", "funny"): 4}
    changed = protocol.change({"chat.minimum": [4]}).chat
    assert changed is not None
    assert changed.minimum.options == (4,)


@pytest.mark.parametrize("example", ["echo_last_word"], indirect=True)
def test_the_bot(example: ModuleType) -> None:
    bot = example.BOT(ending="?")
    assert isinstance(bot, Bot)
    assert bot.respond((), (Utterance("partner", "I like tea"),)).text == "Tea?"


@pytest.mark.parametrize("example", ["plain"], indirect=True)
def test_the_dataset(example: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "dialogues.txt"
    path.write_text("Hi\nHello\n\nMorning\nAnd you\n", encoding="utf-8")
    dialogues = example.read(str(path))
    assert [len(dialogue.turns) for dialogue in dialogues] == [2, 2]
    example.write(dialogues, tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("example", ["answers"], indirect=True)
def test_the_metric(example: ModuleType) -> None:
    frame = example.answers(triples([(0, 0, 3), (0, 1, 2), (1, 0, 1)]))
    assert list(frame["estimate"]) == [2, 1]
    assert set(frame.columns) >= {"metric", "protocol", "question", "system", "estimate", "n"}
