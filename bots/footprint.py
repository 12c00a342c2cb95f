"""Memory footprint of this process, on its machine and on its GPU."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEGABYTE = 1024 * 1024
STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Footprint:
    """Megabytes of one process."""

    machine: float
    device: float


def footprint() -> Footprint:
    """Return the present footprint; off Linux it is the peak of the process."""
    return Footprint(round(_machine(), 1), round(_device(), 1))


def machine_megabytes() -> float:
    """Return how much memory this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def _machine() -> float:
    try:
        pages = int(STATM.read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (MEGABYTE if sys.platform == "darwin" else 1024)


def _device() -> float:
    """Ask torch only where a bot has loaded it and has used a GPU."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0.0
    reserved = (torch.cuda.memory_reserved(each) for each in range(torch.cuda.device_count()))
    return float(sum(reserved)) / MEGABYTE
