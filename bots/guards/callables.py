"""Functions of the user's own, found by name; only those that BOT_CALLABLES lists are called."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from bots.options import InvalidOption


def find(path: str, option: str) -> Callable[..., Any]:
    """Import a function, or refuse it with the reason; `option` is the option that named it.

    Raises InvalidOption if it is not listed, absent or not callable.
    """
    check_listed(path, option)
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InvalidOption(f"{option} {path} cannot be found ({error})") from error
    if not callable(found):
        raise InvalidOption(f"{option} {path} is {type(found).__name__}, but must be a function")
    function: Callable[..., Any] = found
    return function


def check_listed(path: str, option: str) -> None:
    """Refuse a function that is not listed, without importing anything.

    Raises InvalidOption.
    """
    listed = [entry.strip() for entry in os.environ.get("BOT_CALLABLES", "").split(",")]
    module = path.rpartition(".")[0]
    if not module or not (path in listed or f"{module}.*" in listed):
        raise InvalidOption(
            f"{option} is {path!r}, but must be one that BOT_CALLABLES names, as "
            "package.module.function"
        )
