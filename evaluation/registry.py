"""Registries of protocols and of kinds of question: a file in their folder is one."""

from __future__ import annotations

import importlib
import pkgutil
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
    return sorted(module.name for module in pkgutil.iter_modules(protocols.__path__))


def get_protocol(name: str) -> Protocol:
    """Return the protocol that `protocols/<name>.py` declares. Raises `UnknownProtocol`."""
    if name not in protocol_names():
        raise UnknownProtocol(f"no protocol {name!r}; there are {', '.join(protocol_names())}")
    module = importlib.import_module(f"evaluation.protocols.{name}")
    return cast(Protocol, module.PROTOCOL)


def kind_names() -> list[str]:
    """Return the names of all kinds of question, sorted, without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules(kinds.__path__))


def get_kind(name: str) -> type[Question]:
    """Return the kind of question that `kinds/<name>.py` declares. Raises `UnknownKind`."""
    if name not in kind_names():
        raise UnknownKind(f"no kind of question {name!r}; there are {', '.join(kind_names())}")
    module = importlib.import_module(f"evaluation.kinds.{name}")
    return cast(type[Question], module.KIND)
