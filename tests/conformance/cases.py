"""Cases from the stored schema: an example of each body, and each of its fields wrong in each way.

Nothing here names a field: what a frame, a form or an address takes is read from the documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import uuid4

from tests.conformance.documents import complaints, document

Schema = dict[str, Any]
OF_EACH_TYPE: tuple[Any, ...] = (None, True, 1.5, 7, "text", [], {}, [[[[[[[[[]]]]]]]]])
HUGE = 10**30
BEYOND = ("bytes", "characters", "long")  # what the server refuses and no JSON Schema can say
UNSTORABLE = ("a\0b", "a\ud800b")


@dataclass(frozen=True)
class Case:
    """A body in which one field is wrong."""

    field: str
    way: str
    body: Any

    def __str__(self) -> str:
        return f"{self.field} ({self.way}): {json.dumps(self.body):.200}"


def schema_of(name: str) -> Schema:
    found: Schema = document("openapi.json")["components"]["schemas"][name]
    return found


def name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def client_frames() -> list[str]:
    """Return the names of the frames that a client sends."""
    return [name_of(each["$ref"]) for each in schema_of("ClientFrame")["oneOf"]]


@cache
def limits() -> dict[str, int]:
    found: dict[str, int] = document("asyncapi.json")["x-limits"]
    return found


def example(schema: Schema) -> Any:
    """Return a value that fits."""
    if "$ref" in schema:
        return example(schema_of(name_of(schema["$ref"])))
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "string" if schema.get("format") == "uuid":
            return str(uuid4())
        case "string":
            return "t" * max(schema.get("minLength", 0), 1)
        case "integer":
            return max(schema.get("minimum", 0), 1)
    fields = {name: example(each) for name, each in schema.get("properties", {}).items()}
    more = schema.get("additionalProperties")
    return fields | ({"field.name": example(more)} if isinstance(more, dict) else {})


def spoiled(name: str) -> Iterator[Case]:
    """Yield a body of a schema with each field missing, or wrong in each way."""
    schema = schema_of(name)
    whole = example(schema)
    for field, of in schema["properties"].items():
        if field in schema.get("required", ()):
            yield Case(field, "missing", {key: whole[key] for key in whole if key != field})
        for way, value in wrong(of):
            yield Case(field, way, {**whole, field: value})
    if schema.get("additionalProperties") is False:
        yield Case("surplus", "unknown", {**whole, "surplus": 1})


def first_of_each(found: Iterable[Case]) -> Iterator[Case]:
    """Yield one case for each field and way; all are for where a case costs little."""
    tried = set[tuple[str, str]]()
    for case in found:
        if (case.field, case.way) not in tried:
            tried.add((case.field, case.way))
            yield case


def wrong(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield values that do not fit, each with the way in which it does not."""
    for value in OF_EACH_TYPE:
        if not fits(value, schema):
            yield "type", value
    for value in (schema.get("minimum", 0) - 1, schema.get("maximum", 0) + 1, HUGE):
        if schema.get("type") == "integer":
            yield "range", value
    if schema.get("type") == "string" or "enum" in schema:
        yield from _wrong_texts(schema)
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        yield from ((way, {"field.name": value}) for way, value in wrong(more))


def _wrong_texts(schema: Schema) -> Iterator[tuple[str, str]]:
    if "enum" in schema:
        yield "option", f"{schema['enum'][0]}s"
    if "minLength" in schema:
        yield "length", "t" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield "length", "t" * (schema["maxLength"] + 1)
    if "format" in schema:
        yield from (("format", each) for each in ("7", uuid4().hex, f"{uuid4()}0"))
    yield from (("characters", each) for each in UNSTORABLE)
    yield "bytes", "t" * limits()["frame bytes"]


def fits(value: object, schema: Schema) -> bool:
    """Tell whether a value fits the schema of a field."""
    kinds = {"string": str, "integer": int, "object": dict}
    if "enum" in schema:
        return value in schema["enum"]
    is_bool = isinstance(value, bool)
    return isinstance(value, kinds[schema["type"]]) and not is_bool


def is_refused_by_schema(case: Case, name: str) -> bool:
    return case.way in BEYOND or bool(complaints(case.body, name))
