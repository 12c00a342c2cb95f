"""The stored documents of the wire, and what they say of a value."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "protocol"
PAGE = ROOT / "docs" / "protocol.md"
NAMES = ("asyncapi.json", "openapi.json")


@cache
def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return found


@cache
def _registry() -> Registry[Any]:
    each = ((name, DRAFT202012.create_resource(document(name))) for name in NAMES)
    registry: Registry[Any] = Registry().with_resources(each)
    return registry


@cache
def _validator(schema: str, of: str) -> Draft202012Validator:
    return Draft202012Validator(
        {"$ref": f"{of}#/components/schemas/{schema}"},
        registry=_registry(),
        format_checker=FormatChecker(["uuid"]),
    )


def complaints(value: object, schema: str, of: str = "openapi.json") -> list[str]:
    """Return what a schema of a document finds wrong with a value."""
    found = _validator(schema, of).iter_errors(value)
    return [f"{error.json_path}: {error.message:.200}" for error in found]


def unknown_fields(frame: dict[str, Any]) -> set[str]:
    """Return the fields of a server's frame that its schema does not have."""
    schemas = document("asyncapi.json")["components"]["schemas"]
    fitting = [
        schemas[each["$ref"].rpartition("/")[2]]
        for each in schemas["ServerFrame"]["oneOf"]
        if not complaints(frame, each["$ref"].rpartition("/")[2], "asyncapi.json")
    ]
    return set(frame) - set().union(*(each["properties"] for each in fitting))
