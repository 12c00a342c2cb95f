"""Systems of a simulated campaign that are not the usual three, from a file of `--systems`.

{"weights": FOLDER, "callables": BOT_CALLABLES, "systems": [{"name": .., "bot": .., "options":
{..}, "share": .., "unseen": .., "in": {PROTOCOL: {"options": {..}, "share": ..}}}]}: `share` is
planted, 0 for the worst of each scale and 1 for the best; `in` has what is otherwise in one
protocol; `unseen` keeps a bot from its persona; the bot "people" is other participants.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

VARIABLE = "SIMULATED_SYSTEMS"  # which the process of the campaign inherits


@dataclass(frozen=True)
class OwnSystem:
    """A system as it is entered in the form of a protocol's campaign."""

    name: str
    bot: str
    share: float
    options: Mapping[str, str] = field(default_factory=dict)
    unseen: bool = False  # its persona


def use(file: Path) -> None:
    """Let this process, and those that it starts, have the systems of a file.

    Raises `OSError` and `ValueError` where the file is not one of systems.
    """
    path = str(file.resolve())
    given = _read(path)
    os.environ[VARIABLE] = path
    named = {"WEIGHTS_DIR": given.get("weights"), "BOT_CALLABLES": given.get("callables")}
    os.environ.update({name: str(value) for name, value in named.items() if value})


def own_systems(protocol: str) -> tuple[OwnSystem, ...]:
    """Return the systems of the file that is used, as this protocol has them; none for none."""
    file = os.environ.get(VARIABLE)
    if not file:
        return ()
    found = []
    for row in _read(file)["systems"]:
        here = row.get("in", {}).get(protocol, {})
        share, options = here.get("share", row["share"]), here.get("options", row.get("options"))
        unseen = bool(row.get("unseen"))
        found.append(OwnSystem(row["name"], row["bot"], float(share), options or {}, unseen))
    return tuple(found)


@cache
def _read(file: str) -> dict[str, Any]:
    found = json.loads(Path(file).read_text(encoding="utf-8"))
    rows = found.get("systems") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ValueError(f'write {{"systems": [{_ROW}, ...]}}')
    if bad := [number for number, row in enumerate(rows, 1) if not _is_system(row)]:
        raise ValueError(f"systems {', '.join(map(str, bad))}: write {_ROW}, share from 0 to 1")
    checked: dict[str, Any] = found
    return checked


_ROW = '{"name": .., "bot": .., "share": ..}'


def _is_system(row: object) -> bool:
    if not isinstance(row, dict):
        return False
    share = row.get("share")
    if isinstance(share, bool) or not isinstance(share, int | float):
        return False
    return 0 <= share <= 1 and all(row.get(key) for key in ("name", "bot"))
