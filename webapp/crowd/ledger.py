"""Records of a crowd's clients, as JSON Lines: the one record that no server can alter.

Each write is an `invoke` followed by `ok`, by `fail`, or by nothing, which leaves it unknown. Each
entry of a conversation is a `show` when it is displayed. Times are seconds of a monotonic clock.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


class Ledger:
    """Appends records to a file, each flushed, so that a killed crowd leaves all it had done."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, person: str, what: str, **fields: Any) -> None:
        record = {"at": round(time.monotonic(), 4), "person": person, "what": what, **fields}
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._file.flush()


def read(*paths: Path) -> Iterator[dict[str, Any]]:
    """Yield all records of some ledgers."""
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
