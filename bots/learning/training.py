"""Training loop that torch bots share: seeded, watched on held-out data, stopped in time.

Inside `unfinished.kept`, a stage that was killed goes on from its last whole epoch.
"""

from __future__ import annotations

import platform
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from typing import Generic, Literal, TypeVar

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn

from bots.dialogue import Dialogue
from bots.learning import checkpoints

Item = TypeVar("Item")
Loss = Callable[[Sequence[Item]], Tensor]
Precision = Literal["fp32", "bf16"]


@dataclass(frozen=True)
class Plan:
    """Length of a training; `patience` is the number of epochs without improvement.

    `title` names the stage among those of one bot. `schedule` gives each step's share of the
    learning rate, from step 1. `clip` bounds the gradient's norm; 0 does not. "bf16" computes the
    forward pass in mixed precision (autocast) and keeps weights and sums in fp32.
    """

    epochs: int
    batch: int
    patience: int
    seed: int
    title: str
    threads: int = 1  # small batches lose more to threads that wait for each other than they gain
    clip: float = 0.0
    schedule: Callable[[int], float] | None = None
    precision: Precision = "fp32"


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
    """Compute with this many threads for a while."""
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
    """Split into dialogues to learn from and dialogues to watch; each is in one of them."""
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
    """Train, keep the best epoch on the watched data, and return every epoch's losses."""
    shown = Progress(console=Console(stderr=True))
    with threads(plan.threads), seeded(plan.seed) as chance, shown as progress:
        stage = checkpoints.Stage(module, optimizer, chance, _copy(module), [])
        checkpoints.restore_stage(plan.title, stage)
        run = _Run(stage, plan, loss)
        begun = len(stage.history)
        per_epoch = max(1, len(data) // plan.batch)
        task = progress.add_task(
            plan.title, total=plan.epochs * per_epoch, completed=begun * per_epoch
        )
        for epoch in range(begun + 1, plan.epochs + 1):
            if run.stopped():
                break
            batches = _batches(chance.sample(data, len(data)), plan.batch)
            trained = run.epoch(batches, lambda: progress.advance(task))
            held_out = run.measure(_batches(watched, plan.batch)) if watched else trained
            run.note(epoch, trained, held_out)
            progress.update(task, description=f"{plan.title}: held-out loss {held_out:.3f}")
        progress.update(task, completed=progress.tasks[task].total)
    module.load_state_dict(stage.best)
    return tuple(stage.history)


@dataclass(frozen=True)
class _Run(Generic[Item]):
    """A stage with its optimizer, data and plan."""

    stage: checkpoints.Stage
    plan: Plan
    loss: Loss[Item]

    def stopped(self) -> bool:
        """Return whether `patience` epochs have passed without improvement."""
        history = self.stage.history
        return bool(history) and len(history) - _best_epoch(history) >= self.plan.patience

    def epoch(self, batches: Sequence[Sequence[Item]], advance: Callable[[], object]) -> float:
        """Learn from every batch once; return the mean loss."""
        stage, total = self.stage, 0.0
        stage.module.train()
        for batch in batches:
            stage.steps += 1
            stage.optimizer.zero_grad(set_to_none=True)
            with self._precision():
                value = self.loss(batch)
            value.backward()  # type: ignore[no-untyped-call]
            self._step()
            total += value.item()
            advance()
        return total / max(1, len(batches))

    def _step(self) -> None:
        stage, plan = self.stage, self.plan
        if plan.clip:
            nn.utils.clip_grad_norm_(stage.module.parameters(), plan.clip)
        if plan.schedule is not None:
            for group in stage.optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
                group["lr"] = group["initial_lr"] * plan.schedule(stage.steps)
        stage.optimizer.step()

    def measure(self, batches: Sequence[Sequence[Item]]) -> float:
        """Return the mean loss without learning."""
        self.stage.module.eval()
        with torch.inference_mode(), self._precision():
            return sum(self.loss(batch).item() for batch in batches) / max(1, len(batches))

    def _precision(self) -> AbstractContextManager[object]:
        if self.plan.precision == "fp32":
            return nullcontext()
        where = next(self.stage.module.parameters()).device.type
        return torch.autocast(where, torch.bfloat16)

    def note(self, epoch: int, trained: float, held_out: float) -> None:
        """Record an epoch's losses, its weights if they are the best, and keep the stage."""
        history = self.stage.history
        if not history or held_out < min(entry["held_out"] for entry in history):
            self.stage.best = _copy(self.stage.module)
        history.append({"epoch": epoch, "loss": trained, "held_out": held_out})
        checkpoints.write(self.plan.title, self.stage)


def _copy(module: nn.Module) -> dict[str, Tensor]:
    return {name: array.detach().clone() for name, array in module.state_dict().items()}


def _best_epoch(history: Sequence[dict[str, float]]) -> int:
    return int(min(history, key=lambda entry: entry["held_out"])["epoch"])


def _batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Cut into batches; a rest of one is left out: it has nothing to be compared with."""
    cut = [items[start : start + size] for start in range(0, len(items), size)]
    return [batch for batch in cut if len(batch) > 1]
