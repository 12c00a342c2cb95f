"""All that a server has stored, read from its database file: what is refused must change nothing.

Signs of life are left out: a request may tell that somebody is there, whatever it asks.
"""

from __future__ import annotations

import sqlite3
from functools import cached_property
from pathlib import Path

LIFE = ("seen_at",)
OF_THE_PLATFORM = ("webapp_heartbeat", "sqlite_sequence")  # written by itself
Rows = dict[str, frozenset[tuple[object, ...]]]


class Stored:
    """The rows of a database, and what of them changes from one look to the next."""

    def __init__(self, folder: Path) -> None:
        address = f"file:{folder / 'parley.sqlite3'}?mode=ro"
        self.base = sqlite3.connect(address, uri=True, isolation_level=None)
        self.version, self.rows = self._version(), self._read()

    def changes(self) -> list[str]:
        """Return what is new or gone since the last look; free where nobody has committed."""
        version = self._version()
        if version == self.version:
            return []
        before, self.rows, self.version = self.rows, self._read(), version
        return [
            f"{table}: {word} {row!r:.300}"
            for table, found in self.rows.items()
            for word, rows in (("gone", before[table] - found), ("new", found - before[table]))
            for row in rows
        ]

    def _version(self) -> int:
        (found,) = self.base.execute("PRAGMA data_version").fetchone()
        return int(found)

    def _read(self) -> Rows:
        self.base.execute("BEGIN")  # one moment for all tables
        try:
            return {
                table: frozenset(self.base.execute(asked)) for table, asked in self.queries.items()
            }
        finally:
            self.base.execute("COMMIT")

    @cached_property
    def queries(self) -> dict[str, str]:
        """The query of each table, without signs of life."""
        found = self.base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [name for (name,) in found if name not in OF_THE_PLATFORM]
        return {name: f'SELECT {self._columns(name)} FROM "{name}"' for name in names}  # noqa: S608

    def _columns(self, table: str) -> str:
        columns = [each[1] for each in self.base.execute(f'PRAGMA table_info("{table}")')]
        return ", ".join(f'"{each}"' for each in columns if each not in LIFE)

    def close(self) -> None:
        self.base.close()
