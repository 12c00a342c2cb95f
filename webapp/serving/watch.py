"""Jobs that tasks wait for: a task lasts as long as its replies take, and tells how they ended.

States are those of the table's rows; one that is neither owed nor failed any more is DONE.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping

from webapp.services.replies import queue

DONE = "DONE"


class Watch:
    """The jobs that are waited for, and what became of them."""

    def __init__(self) -> None:
        self._waiting: Counter[int] = Counter()
        self._states: dict[int, str] = {}
        self._changed = threading.Condition()
        self.is_closed = False

    def wait_for(self, jobs: Collection[int], seconds: float) -> dict[int, str]:
        """Return the states of these jobs once all are known; fewer where that took too long."""
        with self._changed:
            self._waiting.update(jobs)
            self._changed.wait_for(
                lambda: self.is_closed or all(job in self._states for job in jobs), seconds
            )
            found = {job: self._states[job] for job in jobs if job in self._states}
            self._waiting.subtract(jobs)
            for job in jobs:
                if self._waiting[job] <= 0:
                    del self._waiting[job]
                    self._states.pop(job, None)
        return found

    def look(self, settled: Collection[int] | None = None) -> None:
        """Read the jobs' states: of those settled just now, or of all that wait."""
        with self._changed:
            mine = [job for job in self._waiting if settled is None or job in settled]
        if not mine:
            return
        owed = queue.still_owed(mine)
        self._tell(
            {
                job: owed.get(job, DONE)
                for job in mine
                if settled is not None or owed.get(job, DONE) not in queue.OWED
            }
        )

    def close(self) -> None:
        """Let all go on."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def _tell(self, states: Mapping[int, str]) -> None:
        with self._changed:
            self._states.update({job: at for job, at in states.items() if job in self._waiting})
            self._changed.notify_all()
