"""The training loop that torch bots share: seeded, watched on held-out data, stopped in time."""

from __future__ import annotations

import platform
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeVar

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn

from bots.dialogue import Dialogue

Item = TypeVar("Item")
Loss = Callable[[Sequence[Item]], Tensor]


@dataclass(frozen=True)
class Plan:
    """How long to train; `patience` is how many epochs may pass without getting better."""

    epochs: int
    batch: int
    patience: int
    seed: int
    title: str
    threads: int = 1  # small batches lose more to threads that wait for each other than they gain


def device(name: str) -> torch.device:
    """Return the device of this name; "auto" is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def versions() -> dict[str, str]:
    """Return the versions that weights depend on."""
    found = {name: version(name) for name in ("torch", "numpy", "safetensors")}
    return {"python": platform.python_version(), **found}


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Compute with so many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[random.Random]:
    """Seed torch for a while, leave its state as it was, and give a generator of our own."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield random.Random(seed)  # noqa: S311


def hold_out(
    dialogues: Sequence[Dialogue], share: float, seed: int
) -> tuple[list[Dialogue], list[Dialogue]]:
    """Split into what to learn from and what to watch; every dialogue is in one of them."""
    shuffled = list(dialogues)
    random.Random(seed).shuffle(shuffled)  # noqa: S311
    held = round(len(shuffled) * share)
    return shuffled[held:], shuffled[:held]


def fit(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    data: Sequence[Item],
    watched: Sequence[Item],
    loss: Loss[Item],
    plan: Plan,
) -> tuple[dict[str, float], ...]:
    """Train, keep the epoch that was best on the watched data, and return every epoch's losses."""
    history: list[dict[str, float]] = []
    best, kept = float("inf"), deepcopy(module.state_dict())
    shown = Progress(console=Console(stderr=True))
    with threads(plan.threads), seeded(plan.seed) as chance, shown as progress:
        task = progress.add_task(plan.title, total=plan.epochs * max(1, len(data) // plan.batch))
        for epoch in range(1, plan.epochs + 1):
            order = chance.sample(data, len(data))
            batches = _batches(order, plan.batch)
            trained = _epoch(module, optimizer, batches, loss, lambda: progress.advance(task))
            seen = _measure(module, _batches(watched, plan.batch), loss) if watched else trained
            history.append({"epoch": epoch, "loss": trained, "held_out": seen})
            progress.update(task, description=f"{plan.title}: held-out loss {seen:.3f}")
            if seen < best:
                best, kept = seen, deepcopy(module.state_dict())
            elif epoch - _best_epoch(history) >= plan.patience:
                break
        progress.update(task, completed=progress.tasks[task].total)
    module.load_state_dict(kept)
    return tuple(history)


def _best_epoch(history: Sequence[dict[str, float]]) -> int:
    return int(min(history, key=lambda entry: entry["held_out"])["epoch"])


def _batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Cut into batches; a rest of one is left out: it has nothing to be compared with."""
    cut = [items[start : start + size] for start in range(0, len(items), size)]
    return [batch for batch in cut if len(batch) > 1]


def _epoch(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Sequence[Item]],
    loss: Loss[Item],
    advance: Callable[[], object],
) -> float:
    module.train()
    total = 0.0
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        value = loss(batch)
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += value.item()
        advance()
    return total / max(1, len(batches))


def _measure(module: nn.Module, batches: Sequence[Sequence[Item]], loss: Loss[Item]) -> float:
    module.eval()
    with torch.inference_mode():
        return sum(loss(batch).item() for batch in batches) / max(1, len(batches))
