"""Names of reply workers that say whether they still run, and what dead ones of this host held.

A name has the host, its boot and its process with the tick that it began at, so a number that was
given to another process, or a container with the same name, is not taken for it. Where there is no
/proc nobody can tell, and leases run out as before.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from webapp.services.replies import delivery, queue

PROC = Path("/proc")


def owner_name() -> str:
    """Return the name of this process as an owner of jobs; at most 50 characters."""
    return f"{_host()}:{os.getpid()}.{_began(os.getpid()) or 0}"


def take_back() -> int:
    """Put back what processes of this host held that are no more; returns how many jobs."""
    dead = [job for job in queue.held_by(f"{_host()}:") if not _runs(job.owner.rpartition(":")[0])]
    for job in dead:
        delivery.lost(job, "the worker ended", to_blame=False)
    return len(dead)


def _host() -> str:
    """Return the host's name with a mark of its boot and of the space its numbers are of."""
    boot = ""
    with suppress(OSError):
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        boot += os.readlink(PROC / "self/ns/pid")
    mark = sha256(boot.encode()).hexdigest()[:8]
    return f"{socket.gethostname()[:20]}:{mark}"


def _runs(name: str) -> bool:
    """Tell whether a process runs; one whose name cannot be read is taken to."""
    number, _, began = name.rpartition(":")[2].partition(".")
    if not (number.isdigit() and began.isdigit()) or began == "0":
        return True
    return _began(int(number)) == int(began)


def _began(pid: int) -> int | None:
    """Return the tick at which a process began; None where there is none, or a dead one."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])
