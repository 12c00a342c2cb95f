"""Protocols to be simulated: by name, or as the file that the page of an own protocol exports."""

from __future__ import annotations

import json
from pathlib import Path

from evaluation import Protocol
from evaluation.registry import UnknownProtocol, get_protocol, protocol_names
from evaluation.serialized import from_json

END = ".json"


def is_file(word: str) -> bool:
    return word.endswith(END)


def protocol(word: str) -> Protocol:
    """Return the protocol of a name or file. Raises `UnknownProtocol`, `OSError`, `ValueError`."""
    if not is_file(word):
        return get_protocol(word)
    value = json.loads(Path(word).read_text(encoding="utf-8"))
    if isinstance(value, dict):
        value.pop("image_files", None)  # beside the protocol, for pages
    found = from_json(value)
    if found.name in protocol_names():
        raise UnknownProtocol(f"{word}: its name is {found.name}, which comes with Parley")
    return found


def comes_with_parley(protocol: Protocol) -> bool:
    """Tell whether a protocol is a file of `protocols/`, unchanged."""
    return protocol.name in protocol_names() and protocol == get_protocol(protocol.name)
