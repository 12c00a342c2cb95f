"""What a ledger run is asked to do, what came out, and how that is printed."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.trust.drills import Drill


@dataclass(frozen=True)
class Run:
    """What a ledger run is asked to do."""

    people: int
    backend: str
    seed: int
    kill_every: float
    drill: Drill | None = None
    with_bug: bool = False

    def pause(self, kills: int) -> float:
        """Return seconds to the next kill: a short run gets its three, then every 5 s (G1)."""
        return self.kill_every if kills < 3 else max(self.kill_every, 5.0)

    @property
    def injected(self) -> str:
        return self.drill.injected(with_bug=self.with_bug) if self.drill else ""


@dataclass
class Result:
    """What came out: sentences for each kind of fault, and how quickly things went on."""

    faults: dict[str, list[str]]
    kills: int
    seconds: float
    ended: dict[str, int] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not any(self.faults.values())


def table(run: Run, result: Result) -> str:
    """Return what is printed."""
    lines = [
        f"{run.people} people, {run.backend}, seed {run.seed}, {result.kills} kills "
        f"{'' if run.drill else f'(one every {run.pause(3):g} s)'}, {result.seconds:.0f} s",
        f"ended: {', '.join(f'{name} {n}' for name, n in sorted(result.ended.items()))}",
        *(f"{len(found):6d}  {name}" for name, found in result.faults.items()),
        *(f"{value:6.2f}  {name}" for name, value in result.speed.items()),
    ]
    for name, found in result.faults.items():
        lines += [f"  {name}: {sentence}" for sentence in found[:5]]
    return "\n".join(lines)
