"""How quickly things went on after a kill, by the clients' own clocks (G3)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from tests.trust import cluster


def speed(records: Sequence[dict[str, Any]], kills: Sequence[cluster.Kill]) -> dict[str, float]:
    """Return how long after a kill the next write was acknowledged, and how long bots took (G3)."""
    writes = list(_writes(records))
    gaps = [gap_after(kill.at, writes) for kill in kills]
    waits = sorted(_waits(records))
    return {
        "next write after a kill, p95 s": _quantile(sorted(gaps), 0.95),
        "next write after a kill, max s": max(gaps, default=0.0),
        "write to acknowledgement, p50 s": _quantile(sorted(_acks(records)), 0.5),
        "message to reply, p50 s": _quantile(waits, 0.5),
        "message to reply, p95 s": _quantile(waits, 0.95),
        "message to reply, max s": max(waits, default=0.0),
    }


def _writes(records: Sequence[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """Yield when each acknowledged write was first sent and when its answer came."""
    begun: dict[tuple[str, str], float] = {}
    for record in records:
        key = record["person"], record.get("id", "")
        if record["what"] == "invoke":
            begun[key] = record["at"]
        elif record["what"] == "ok" and key in begun:
            yield begun.pop(key), record["at"]


def gap_after(kill: float, writes: Sequence[tuple[float, float]]) -> float:
    """Return seconds from a kill to the next acknowledgement, while anybody had a write to make.

    The last people of a run may wait half a minute for a partner who walked off: nothing is late
    then. So the clock starts with the first write that the kill could keep waiting.
    """
    after = [(begun, acked) for begun, acked in writes if acked > kill]
    if not after:
        return 0.0
    start = max(kill, min(begun for begun, _ in after))
    return min(acked for _, acked in after) - start


def _acks(records: Sequence[dict[str, Any]]) -> Iterator[float]:
    begun = {r["id"]: r["at"] for r in records if r["what"] == "invoke"}
    yield from (r["at"] - begun[r["id"]] for r in records if r["what"] == "ok" and "chat" in r)


def _waits(records: Sequence[dict[str, Any]]) -> Iterator[float]:
    """Yield the time from a message's acknowledgement to the partner's next one, on screen."""
    said: dict[tuple[str, int], float] = {}
    for record in records:
        if "chat" not in record:
            continue
        key = record["person"], record["chat"]
        entry = record.get("entry", {})
        if entry.get("kind") == "message" and entry["side"] == "you":
            said[key] = record["at"]
        elif entry.get("kind") == "message" and key in said:
            yield record["at"] - said.pop(key)


def _quantile(values: Sequence[float], share: float) -> float:
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]
