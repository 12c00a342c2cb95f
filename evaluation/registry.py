"""Registries of protocols and of kinds of question: a file in their folder is one."""

from __future__ import annotations

import importlib
import os
import pkgutil
from functools import lru_cache
from typing import cast

from evaluation import kinds, protocols
from evaluation.protocol import Protocol
from evaluation.questions import Question


class UnknownProtocol(LookupError):
    """No file of that name in `protocols/`."""


class UnknownKind(LookupError):
    """No file of that name in `kinds/`."""


def protocol_names() -> list[str]:
    """Return the names of all protocols, sorted, without importing them."""
    return list(_names(protocols.__name__))


def get_protocol(name: str) -> Protocol:
    """Return the protocol that `protocols/<name>.py` declares. Raises `UnknownProtocol`."""
    if name not in protocol_names():
        raise UnknownProtocol(f"no protocol {name!r}; there are {', '.join(protocol_names())}")
    module = importlib.import_module(f"evaluation.protocols.{name}")
    return cast(Protocol, module.PROTOCOL)


def kind_names() -> list[str]:
    """Return the names of all kinds of question, sorted, without importing them."""
    return list(_names(kinds.__name__))


def get_kind(name: str) -> type[Question]:
    """Return the kind of question that `kinds/<name>.py` declares. Raises `UnknownKind`."""
    if name not in kind_names():
        raise UnknownKind(f"no kind of question {name!r}; there are {', '.join(kind_names())}")
    module = importlib.import_module(f"evaluation.kinds.{name}")
    return cast(type[Question], module.KIND)


def _names(package: str) -> tuple[str, ...]:
    folders = importlib.import_module(package).__path__
    return _read(tuple((folder, os.stat(folder).st_mtime_ns) for folder in folders))


@lru_cache(maxsize=8)
def _read(folders: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    """Read folders once as they are: each field of a protocol's JSON asks for the kinds."""
    found = pkgutil.iter_modules([folder for folder, _ in folders])
    return tuple(sorted(module.name for module in found))
