"""Batch sizes of a worker: fewer jobs of a bot at once for a while after its process was lost.

A device that had no memory for a batch may have it for half of it. Of a batch in whose midst the
process ended, one conversation may be to blame: they are taken one by one, so that it alone fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from webapp.services.replies import queue

RECOVERY = 20  # batches that have to go well before they may be twice as large again


@dataclass
class Limit:
    """The most jobs of one batch; None is as many as there may be."""

    most: int | None = None
    good: int = 0
    losses: int = 0

    @property
    def now(self) -> int:
        """The most jobs of the next batch."""
        return queue.BATCH if self.most is None else self.most

    def lost(self, size: int, *, of_device: bool) -> None:
        """Take fewer at once from now on."""
        self.most = max(1, min(size, self.now) // 2) if of_device else 1
        self.good = 0
        self.losses += 1

    def answered(self) -> None:
        """Count a batch that went well."""
        if self.most is None:
            return
        self.good += 1
        if self.good >= RECOVERY:
            self.good, more = 0, 2 * self.most
            self.most = None if more >= queue.BATCH else more
