"""Settings in frozen plans of every schema; without pandas, for the web reads them too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What plans of schema 1 called the fields of a setting.
_OLD_NAMES = {"name": "setting", "departs": "departure"}


def renamed(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return a setting's row of a plan of any schema, its fields named as they are today."""
    return {_OLD_NAMES.get(name, name): value for name, value in setting.items()}
