"""The folder `protocols/` is the registry: a file there is a protocol."""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from evaluation import protocols
from evaluation.protocol import Protocol


class UnknownProtocol(LookupError):
    """No file of that name in `protocols/`."""


def protocol_names() -> list[str]:
    """Return the names of all protocols, sorted, without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules(protocols.__path__))


def get_protocol(name: str) -> Protocol:
    """Return the protocol that the file `protocols/<name>.py` declares."""
    if name not in protocol_names():
        raise UnknownProtocol(f"no protocol {name!r}; there are {', '.join(protocol_names())}")
    module = importlib.import_module(f"evaluation.protocols.{name}")
    return cast(Protocol, module.PROTOCOL)
