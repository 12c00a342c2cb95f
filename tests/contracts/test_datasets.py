"""What every file of `bots/datasets/` must do."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from pathlib import Path

import pytest

from bots import Dialogue, Utterance, dataset_names, examples, get_dataset
from bots.datasets import jsonl
from bots.line_files import InvalidData

BUNDLED = {
    "because": "",
    "chitchat": "50",
    "context_tree": "",
    "contexts": "",
    "demo": "valid",
    "help_desk": "20",
    "role_play": "",
}
FOREIGN = b'1 yes\nthis is not data\n{"id": 3}\n'
SAMPLE = (
    Dialogue(
        "1",
        (
            Utterance("partner", "Hi! Any pets?"),
            Utterance("self", "Two cats – they're old."),
            Utterance("partner", "Aw,\u2028and\x85so\u2029on."),  # lines to Unicode, not to JSON
        ),
    ),
    Dialogue("2", (Utterance("partner", "What is “home” to you?"),)),
)
datasets = pytest.mark.parametrize("name", dataset_names())


@cache
def bundled(name: str) -> list[Dialogue]:
    if name == "chitchat" and importlib.util.find_spec("chitchat_dataset") is None:
        pytest.skip("the extra chitchat is not installed")
    return get_dataset(name).read(BUNDLED[name])


@datasets
def test_what_is_written_is_read_back_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    dialogues = bundled(name) if name in BUNDLED else list(SAMPLE)
    layout = importlib.import_module(f"bots.datasets.{name}")
    layout = layout if hasattr(layout, "write") else jsonl
    layout.write(dialogues, path)
    assert layout.read(str(path)) == dialogues


@datasets
def test_bad_data_is_refused_with_every_problem(name: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(FOREIGN)
    with pytest.raises(InvalidData) as refused:
        get_dataset(name).read(str(tmp_path / "data"))
    assert refused.value.problems
    for source in (str(tmp_path / "absent"), str(tmp_path)):
        with pytest.raises(InvalidData):
            get_dataset(name).read(source)


@datasets
def test_says_where_it_comes_from_and_is_read_as_dialogues(name: str) -> None:
    module = importlib.import_module(f"bots.datasets.{name}")
    assert module.__doc__
    if name in BUNDLED:
        dialogues = bundled(name)
        assert len({dialogue.id for dialogue in dialogues}) == len(dialogues)
        assert all(dialogue.turns for dialogue in dialogues)
        assert name in ("contexts", "context_tree") or list(examples(dialogues))
