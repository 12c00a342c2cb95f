"""Checkpoints of a training run, to resume it after a kill: one safetensors file per stage.

Where they are kept is said around a whole training (`unfinished.kept`). A run that goes on ends
with the same weights as one that was never stopped.

Apart because files of a stage are another matter than the loop that trains it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from bots.learning.unfinished import InvalidCheckpoint, under_way


@dataclass
class Stage:
    """Everything that changes while one module is trained."""

    module: nn.Module
    optimizer: torch.optim.Optimizer
    chance: Random
    best: dict[str, Tensor]
    history: list[dict[str, float]]
    steps: int = 0


def file_of(title: str) -> Path | None:
    """Return where a stage is kept, or None where nothing is."""
    where = under_way()
    name = title.replace(" ", "_")
    return None if where is None else where.path / f"{name}.safetensors"


def write(title: str, stage: Stage) -> None:
    """Keep a stage as it is now; a kill while writing leaves the one before."""
    where, path = under_way(), file_of(title)
    if where is None or path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    state = stage.optimizer.state_dict()
    arrays = {
        **_named("module", stage.module.state_dict()),
        **_named("best", stage.best),
        **_named("random", _random_states()),
    }
    plain: dict[str, Any] = {}
    for index, values in state["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                arrays[f"optimizer/{index}/{name}"] = value
            else:
                plain[f"{index}/{name}"] = value
    about = {
        "run": where.run,
        "groups": state["param_groups"],
        "plain": plain,
        "chance": stage.chance.getstate(),
        "history": stage.history,
        "steps": stage.steps,
    }
    written = path.with_suffix(".part")
    dense = {name: array.detach().cpu().clone() for name, array in arrays.items()}
    save_file(dense, written, metadata={"about": json.dumps(about)})
    os.replace(written, path)


def restore_stage(title: str, stage: Stage) -> bool:
    """Restore a stage as it was kept; return whether there was one.

    Raises InvalidCheckpoint if it is of another run.
    """
    where, path = under_way(), file_of(title)
    if where is None or path is None or not path.is_file():
        return False
    arrays, about = _open(path)
    if about["run"] != where.run:
        raise InvalidCheckpoint(
            f"{path} was begun with other data, options or seed; remove {path.parent}, "
            "or write to another directory"
        )
    try:
        stage.module.load_state_dict(_under("module", arrays))
    except RuntimeError as error:
        wrong = " ".join(str(error).splitlines()[1:]).strip()
        reason = f"{path} was begun by another version ({wrong}); remove {path.parent}"
        raise InvalidCheckpoint(reason) from None
    stage.best = _under("best", arrays)
    stage.optimizer.load_state_dict(
        {"state": _optimizer_state(arrays, about["plain"]), "param_groups": about["groups"]}
    )
    version, internal, gauss = about["chance"]
    stage.chance.setstate((version, tuple(internal), gauss))
    stage.history[:] = about["history"]
    stage.steps = int(about["steps"])
    _restore_random(_under("random", arrays))
    return True


def _open(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads(file.metadata()["about"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidCheckpoint(f"{path} cannot be read ({error}); remove it") from error


def _optimizer_state(
    arrays: Mapping[str, Tensor], plain: Mapping[str, Any]
) -> dict[int, dict[str, Any]]:
    state: dict[int, dict[str, Any]] = {}
    for key, value in [*_under("optimizer", arrays).items(), *plain.items()]:
        index, name = key.split("/", 1)
        state.setdefault(int(index), {})[name] = value
    return state


def _random_states() -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states |= {f"cuda{i}": each for i, each in enumerate(torch.cuda.get_rng_state_all())}
    return states


def _restore_random(states: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    cuda = [state for name, state in sorted(states.items()) if name != "cpu"]
    if cuda and torch.cuda.device_count() == len(cuda):
        torch.cuda.set_rng_state_all(cuda)


def _named(prefix: str, arrays: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _under(prefix: str, arrays: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}/"
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}
