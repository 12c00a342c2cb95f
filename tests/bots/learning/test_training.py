"""The training loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor, nn

from bots.learning import checkpoints, training, unfinished
from tests.bots.examples import demo

SLOPE = 3.0


class Line(nn.Module):
    """y = slope x, to be found."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(()))

    def loss(self, batch: Sequence[float]) -> Tensor:
        x = torch.tensor(batch)
        return ((self.slope - SLOPE) * x).square().mean()


def fit(rate: float, plan: training.Plan, watched: Sequence[float] = (1.0, 2.0)) -> Line:
    line = Line()
    step = torch.optim.SGD(line.parameters(), lr=rate)
    training.fit(line, step, [1.0, 2.0, 0.5, 1.5], watched, line.loss, plan)
    return line


def test_it_finds_what_is_to_be_found() -> None:
    line = fit(0.1, training.Plan(epochs=50, batch=2, patience=3, seed=0, title="line"))
    assert abs(line.slope.item() - SLOPE) < 1e-3


def test_it_stops_when_it_gets_worse_and_keeps_the_best() -> None:
    """A rate this high overshoots further each step, so the first epochs' best stays."""
    plan = training.Plan(epochs=40, batch=4, patience=2, seed=0, title="line")
    line = Line()
    step = torch.optim.SGD(line.parameters(), lr=2.0)
    history = training.fit(line, step, [1.0] * 4, [1.0, 1.0], line.loss, plan)
    assert len(history) == 3
    best = min(history, key=lambda entry: entry["held_out"])
    assert best["epoch"] == 1
    with torch.no_grad():
        assert line.loss([1.0, 1.0]).item() == best["held_out"]


def test_randomness_outside_is_left_as_it_was() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    fit(0.1, training.Plan(epochs=1, batch=2, patience=1, seed=0, title="line"))
    assert torch.equal(torch.rand(1), expected)


def test_every_dialogue_is_learned_from_or_watched() -> None:
    known = demo("train")
    learned, watched = training.hold_out(known, 0.1, seed=0)
    assert len(watched) == round(len(known) * 0.1)
    assert {each.id for each in [*learned, *watched]} == {each.id for each in known}
    assert training.hold_out(known, 0.1, seed=1)[1] != watched


def test_auto_is_a_device_that_is_there() -> None:
    wanted = "cuda" if torch.cuda.is_available() else "cpu"
    assert training.device("auto").type == wanted
    assert training.device("cpu").type == "cpu"


class Noisy(nn.Module):
    """A line whose loss draws dropout, so that the state of chance matters."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.steps = 0
        self.killed_at = 0

    def loss(self, batch: Sequence[float]) -> Tensor:
        self.steps += self.training
        if self.killed_at and self.steps == self.killed_at:
            raise KeyboardInterrupt
        x = torch.tensor(batch)[:, None].expand(-1, 4)
        y = self.layer(nn.functional.dropout(x, 0.5, self.training))
        value: Tensor = (y - SLOPE * x[:, :1]).square().mean()
        return value


def learn(killed_at: int, epochs: int = 6) -> tuple[Noisy, tuple[dict[str, float], ...]]:
    torch.manual_seed(3)
    module = Noisy()
    module.killed_at = killed_at
    step = torch.optim.Adam(module.parameters(), lr=0.05)
    plan = training.Plan(
        epochs, 2, 6, 0, "noisy line", clip=1.0, schedule=lambda step: 1 / step**0.5
    )
    data = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    return module, training.fit(module, step, data, [1.0, 2.0], module.loss, plan)


def test_a_killed_training_goes_on_to_the_same_result(tmp_path: Path) -> None:
    whole, history = learn(killed_at=0)
    with unfinished.kept(tmp_path, "this run"):
        with pytest.raises(KeyboardInterrupt):
            learn(killed_at=11)  # in the fourth epoch of three steps
        resumed, again = learn(killed_at=0)
    assert resumed.steps == 9  # only the last three epochs
    assert again == history
    assert torch.equal(resumed.layer.weight, whole.layer.weight)


def test_a_checkpoint_of_another_run_or_broken_is_refused_by_name(tmp_path: Path) -> None:
    with unfinished.kept(tmp_path, "this run"):
        learn(killed_at=0, epochs=1)
    other = unfinished.kept(tmp_path, "other data")
    with other, pytest.raises(unfinished.InvalidCheckpoint, match="other data, options or seed"):
        learn(killed_at=0)
    (tmp_path / "noisy_line.safetensors").write_bytes(b"not a checkpoint")
    again = unfinished.kept(tmp_path, "this run")
    with again, pytest.raises(unfinished.InvalidCheckpoint, match="cannot be read"):
        learn(killed_at=0)


def test_a_checkpoint_of_another_version_is_refused_and_says_which_array(tmp_path: Path) -> None:
    with unfinished.kept(tmp_path, "this run"):
        learn(killed_at=0, epochs=1)
        stage = checkpoints.Stage(Noisy(), torch.optim.Adam([torch.ones(1)]), Random(0), {}, [])
        stage.module.layer = nn.Linear(5, 1)
        with pytest.raises(unfinished.InvalidCheckpoint, match=r"another version .*layer\.weight"):
            checkpoints.restore_stage("noisy line", stage)


def test_mixed_precision_finds_the_same_line() -> None:
    plan = training.Plan(50, 2, 3, 0, "line", precision="bf16")
    assert abs(fit(0.1, plan).slope.item() - SLOPE) < 0.05
