"""docs/protocol/: as the code has it, complete, valid, and in agreement with the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any, get_args

import pytest
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator

from tests.conformance.documents import NAMES, PAGE, ROOT, complaints, document
from webapp.management.commands import schema
from webapp.management.schema import addresses, documents, pages
from webapp.sockets import answers, frames
from webapp.views.audience import Audience, audience_of, routes

TEXT = PAGE.read_text(encoding="utf-8")
LONG = "t" * 37
ITEM = "0b9f1f5e-6a3c-4c0e-9d0a-2f6a1c7f9f10"


def test_the_stored_files_are_what_the_code_says() -> None:
    call_command("schema", "--check", stdout=StringIO())


def test_a_stored_file_that_differs_is_found(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=r"asyncapi.json, openapi.json: run manage.py schema"):
        call_command("schema", "--check", stdout=StringIO())
    call_command("schema", stdout=StringIO())
    call_command("schema", "--check", stdout=StringIO())
    (tmp_path / "openapi.json").write_text("{}")
    with pytest.raises(CommandError, match=r"^openapi.json"):
        call_command("schema", "--check", stdout=StringIO())


# --- complete -----------------------------------------------------------------------------------


def tags(types: object) -> list[str]:
    return [each.__struct_config__.tag for each in get_args(types)]


def test_every_frame_of_the_code_is_a_message_of_the_socket_and_a_schema_of_http() -> None:
    sides = {"receive": frames.SCHEMA, "send": answers.ENTRIES | answers.ANSWERS}
    made = document("asyncapi.json")
    for action, types in sides.items():
        names = {each.__name__ for each in get_args(types)}
        of_side = [one for one in made["operations"].values() if one["action"] == action]
        assert {one["messages"][0]["$ref"].rpartition("/")[2] for one in of_side} == names
        assert names <= set(made["channels"]["conversation"]["messages"])
        assert names <= set(document("openapi.json")["components"]["schemas"])


def test_every_address_of_participants_is_in_the_document() -> None:
    """Derived from the routes, which carry whom they answer."""
    found = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route}")
        for route, pattern in routes()
        if audience_of(pattern.callback) is Audience.PARTICIPANT
    }
    assert len(found) > 15
    assert set(document("openapi.json")["paths"]) == found


def test_an_address_without_an_operation_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: each for name, each in addresses.ADDRESSES.items() if name != "draft"}
    monkeypatch.setattr(documents, "ADDRESSES", known | {"gone": ()})
    with pytest.raises(documents.MissingOperations, match="differ in draft, gone"):
        documents.openapi()


def test_every_step_and_kind_is_named() -> None:
    made = document("openapi.json")
    state = made["components"]["schemas"]["StepStatus"]["properties"]["state"]
    assert set(made["x-steps"]) == set(state["enum"])
    actions = {each for step in made["x-steps"].values() for each in step["actions"]}
    assert {f"/c/{{slug}}/{each}" for each in actions - {"withdraw"}} <= set(made["paths"])
    assert all(made["x-kinds"].values())


def test_every_part_that_pages_are_said_to_have_is_in_a_template_or_a_kind() -> None:
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "evaluation" / "kinds").glob("*.py")]
    text = "".join(each.read_text(encoding="utf-8") for each in files)
    for selector in pages.PARTS:
        for word in re.findall(r"[\w-]+", selector.replace("#", "")):
            assert re.search(rf"\b{word}\b", text), f"{selector}: nothing has {word}"


# --- valid --------------------------------------------------------------------------------------


def references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        yield from ([node["$ref"]] if isinstance(node.get("$ref"), str) else [])
        for each in node.values():
            yield from references(each)
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_one_and_every_reference_leads_somewhere(name: str) -> None:
    made = document(name)
    for each in made["components"]["schemas"].values():
        Draft202012Validator.check_schema(each)
    found = set(references(made))
    assert len(found) > 20
    for reference in found:
        node = made
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


SHAPES: dict[str, dict[str, Any]] = {  # what the two specifications ask of what we use of them
    "asyncapi.json": {
        "required": ["asyncapi", "info", "channels", "operations"],
        "properties": {
            "asyncapi": {"const": "3.0.0"},
            "info": {"required": ["title", "version"]},
            "channels": {"additionalProperties": {"required": ["address", "messages"]}},
            "operations": {
                "additionalProperties": {
                    "required": ["action", "channel", "messages"],
                    "properties": {"action": {"enum": ["send", "receive"]}},
                }
            },
        },
    },
    "openapi.json": {
        "required": ["openapi", "info", "paths"],
        "properties": {
            "openapi": {"pattern": r"^3\.1\.\d+$"},
            "info": {"required": ["title", "version"]},
            "paths": {
                "propertyNames": {"pattern": "^/"},
                "additionalProperties": {
                    "propertyNames": {"enum": ["parameters", "get", "post"]},
                    "patternProperties": {
                        "get|post": {
                            "required": ["operationId", "responses"],
                            "properties": {
                                "parameters": {"items": {"required": ["name", "in", "schema"]}},
                                "responses": {
                                    "minProperties": 1,
                                    "propertyNames": {"pattern": r"^\d{3}$"},
                                    "additionalProperties": {"required": ["description"]},
                                },
                                "requestBody": {"required": ["content"]},
                            },
                        }
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_the_document_has_the_shape_of_its_specification(name: str) -> None:
    problems = Draft202012Validator(SHAPES[name]).iter_errors(document(name))
    assert [f"{each.json_path}: {each.message}" for each in problems] == []


def test_names_of_operations_and_of_parameters_fit() -> None:
    names = []
    for path, item in document("openapi.json")["paths"].items():
        in_path = {each["name"] for each in item["parameters"]}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        names += [one["operationId"] for method, one in item.items() if method != "parameters"]
    assert len(names) == len(set(names))


# --- the same as what the server reads ----------------------------------------------------------

READ = [
    '{"type": "hello", "last_seq": 0, "tab": "t"}',
    '{"type": "hello", "last_seq": -1, "tab": "t"}',
    '{"type": "hello", "last_seq": 2147483648, "tab": "t"}',
    '{"type": "hello", "last_seq": 0, "tab": ""}',
    '{"type": "sync", "last_seq": true}',
    '{"type": "sync"}',
    f'{{"type": "message", "id": "{ITEM}", "text": "Hi"}}',
    f'{{"type": "message", "id": "{ITEM}", "text": 1}}',
    '{"type": "message", "id": "7", "text": "Hi"}',
    f'{{"type": "finish", "id": "{ITEM}"}}',
    f'{{"type": "finish", "id": "{ITEM}", "seq": 1}}',
    f'{{"type": "label", "id": "{ITEM}", "seq": 1, "question": "q", "value": "1", "revision": 1}}',
    f'{{"type": "label", "id": "{ITEM}", "seq": 1, "question": "", "value": "1", "revision": 1}}',
    f'{{"type": "takeover", "tab": "{LONG}"}}',
    '{"type": "ping"}',
    '{"type": "pong"}',
    "{}",
    "[]",
]


@pytest.mark.parametrize("raw", READ)
def test_the_schema_takes_what_the_server_takes(raw: str) -> None:
    """R24: the types that validate a frame are those that the schema is made of."""
    try:
        frames.parse(raw)
    except frames.BadFrame:
        is_read = False
    else:
        is_read = True
    assert (complaints(json.loads(raw), "ClientFrame") == []) == is_read
    assert (complaints(json.loads(raw), "ClientFrame", "asyncapi.json") == []) == is_read


# --- the page -----------------------------------------------------------------------------------


def examples() -> list[tuple[str, str]]:
    """Return the frames of the page's example: which side sends it, and its text."""
    block = TEXT.partition("## Example\n")[2]
    return re.findall(r"^    ([→←]) (\{.*\})$", block, re.MULTILINE)


def completed(text: str) -> dict[str, Any]:
    """Return a frame of the page; three dots stand for what an earlier one had, or for a value."""
    filled = text.replace('"0b9f..."', f'"{ITEM}"').replace('"id": "..."', f'"id": "{ITEM}"')
    filled = filled.replace('"at": "..."', '"at": "2026-01-05T12:00:00.000+00:00"')
    found: dict[str, Any] = json.loads(filled.replace(", ...}", "}"))
    return found | ({"...": True} if ", ...}" in filled else {})


@pytest.mark.parametrize(("side", "text"), examples())
def test_each_example_of_the_page_fits_the_schema(side: str, text: str) -> None:
    frame = completed(text)
    is_cut = frame.pop("...", False)
    problems = complaints(frame, "ClientFrame" if side == "→" else "ServerFrame")
    if is_cut:
        name = next(one.__name__ for one in documents.SERVER if _tag(one) == frame["type"])
        wanted = document("openapi.json")["components"]["schemas"][name]
        assert set(frame) < set(wanted["properties"])
        partial = {**wanted, "required": ["type"]}
        problems = [each.message for each in Draft202012Validator(partial).iter_errors(frame)]
    assert problems == []


def _tag(kind: Any) -> str:
    return str(kind.__struct_config__.tag)


def test_there_are_examples_of_both_sides() -> None:
    assert len(examples()) >= 10
    assert {side for side, _ in examples()} == {"→", "←"}


def rows(heading: str) -> dict[str, str]:
    """Return the rows of a table of the page, by the name in their first column."""
    return of_table(TEXT.partition(heading)[2].partition("\n\n## ")[0])


def of_table(table: str) -> dict[str, str]:
    found = re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)
    return {name: row for name, row in found if name != "type"}  # the heading


def fields(row: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", row.split("|")[0]))


def test_the_page_has_each_frame_of_a_client_with_its_fields() -> None:
    found = rows("## From the client")
    assert set(found) == set(tags(frames.SCHEMA))
    for kind in get_args(frames.SCHEMA):
        assert fields(found[_tag(kind)]) == set(kind.__struct_fields__), kind


def test_the_page_has_each_frame_of_the_server_with_its_fields() -> None:
    answer_rows, _, entry_rows = TEXT.partition("## From the server")[2].partition("| `event.kind`")
    found = of_table(answer_rows)
    assert set(found) == {*tags(answers.ANSWERS), "event"}
    for kind in get_args(answers.ANSWERS):
        if kind is not answers.StatusFrame:
            assert fields(found[_tag(kind)]) == set(kind.__struct_fields__), kind
    kinds = of_table(entry_rows)
    assert set(kinds) == set(tags(answers.ENTRIES))
    shared = set(answers.EntryFrame.__struct_fields__)
    for kind in get_args(answers.ENTRIES):
        assert fields(kinds[_tag(kind)]) == set(kind.__struct_fields__) - shared, kind


def test_the_page_has_each_field_of_the_status() -> None:
    paragraph = TEXT.partition("\n`status`: ")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", paragraph))
    assert set(answers.StatusFrame.__struct_fields__) <= named


@pytest.mark.parametrize(
    ("row", "kind"),
    [("refused", answers.RefusedFrame), ("error", answers.ErrorFrame)],
)
def test_the_page_has_each_code(row: str, kind: Any) -> None:
    name = kind.__name__
    codes = document("openapi.json")["components"]["schemas"][name]["properties"]["code"]["enum"]
    text = re.findall(rf"^\| `{row}` \| .*$", TEXT, re.MULTILINE)[0]
    named = {each for each in re.findall(r"`(\w+)`", text) if each in codes}
    assert named == set(codes)
