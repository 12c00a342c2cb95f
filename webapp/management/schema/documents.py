"""Documents of the schema: from the types of frames, the route table, and the operations of each.

Apart because Django takes each module of the folder of commands for a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec
from django.conf import settings
from django.urls import URLPattern

from evaluation.registry import get_kind, kind_names
from webapp.management.schema import pages
from webapp.management.schema.addresses import ADDRESSES, FRAMES, PAGE, TEXT, Operation
from webapp.services.participation.steps import STEPS
from webapp.sockets import answers, frames
from webapp.views.audience import Audience, audience_of, routes

Document = dict[str, Any]
COMPONENT = "#/components/schemas/"
SOCKET = "/c/{slug}/socket"  # webapp.asgi serves it
CONVERTERS = {"slug": "^[-a-zA-Z0-9_]+$", "str": "^[^/]+$", "path": ".+"}
PART = re.compile(r"<(\w+):(\w+)>")
CLIENT = get_args(frames.SCHEMA)
SERVER = (*get_args(answers.ENTRIES), *get_args(answers.ANSWERS))
JSON_TYPES = (
    answers.StepStatus,
    answers.StopMeaning,
    answers.UnfinishedAnswers,
    answers.DraftSaved,
    answers.JsonProblem,
)
CLOSE_CODES = {
    "1000": "the conversation has ended: go to /c/{slug}/now",
    "1001": "idle, or the server stops: connect again",
    "1008": "not allowed: three bad frames, a wrong cookie, no hello, an unknown version",
    "1009": "a frame of more bytes than x-limits says",
    "1013": "the server is busy: connect again after a while",
}


OF_EVERY_BODY = {
    "403": "without the token of the page, or with another: nothing was done",
    "413": "a body over 1 MiB: nothing was read",
}


class MissingOperations(Exception):
    """Routes of participants that no operation describes, or operations without a route."""


def documents() -> dict[str, str]:
    """Return the text of each file by its name; raises `MissingOperations`."""
    made = {"asyncapi.json": asyncapi(), "openapi.json": openapi()}
    return {
        name: json.dumps(each, indent=1, ensure_ascii=False) + "\n" for name, each in made.items()
    }


def participant_routes() -> dict[str, str]:
    """Return the addresses that answer participants, by the names of their routes."""
    found = dict(_of_participants())
    if differing := set(found) ^ set(ADDRESSES):
        raise MissingOperations(f"described and routed differ in {', '.join(sorted(differing))}")
    return found


def _of_participants() -> Iterator[tuple[str, str]]:
    pairs: Iterator[tuple[str, URLPattern]] = routes()
    for route, pattern in pairs:
        if audience_of(pattern.callback) is Audience.PARTICIPANT:
            yield str(pattern.name), f"/{route}"


# --- schemas of frames and of bodies of JSON ----------------------------------------------------


def schemas(*types: Any) -> Document:
    """Return the JSON Schemas of types by their names, each with its tag required."""
    _, found = msgspec.json.schema_components(types, ref_template=COMPONENT + "{name}")
    return dict(sorted(found.items()))


def _one_of(types: tuple[Any, ...]) -> Document:
    return {"oneOf": [{"$ref": COMPONENT + each.__name__} for each in types]}


def frame_schemas() -> Document:
    """Return the schemas of all frames, and the two that name a frame of either side."""
    return {
        **schemas(*CLIENT, *SERVER),
        "ClientFrame": _one_of(CLIENT),
        "ServerFrame": _one_of(SERVER),
    }


# --- AsyncAPI: the socket -----------------------------------------------------------------------


def asyncapi() -> Document:
    """Return the document of the socket."""
    sides = {"receive": CLIENT, "send": SERVER}  # as the server does
    return {
        "asyncapi": "3.0.0",
        "info": _info("The socket of a conversation"),
        "defaultContentType": "application/json",
        "channels": {"conversation": _channel()},
        "operations": {
            f"{action}{each.__name__}": {
                "action": action,
                "channel": {"$ref": "#/channels/conversation"},
                "messages": [{"$ref": f"#/channels/conversation/messages/{each.__name__}"}],
            }
            for action, types in sides.items()
            for each in types
        },
        "components": {
            "messages": {each.__name__: _message(each) for each in (*CLIENT, *SERVER)},
            "schemas": frame_schemas(),
        },
        "x-close-codes": CLOSE_CODES,
        "x-limits": {
            "frame bytes": settings.MAX_FRAME_BYTES,
            "message characters": settings.MAX_MESSAGE_CHARACTERS,
        },
    }


def _channel() -> Document:
    texts = {"conversation": "the key on the page", "version": frames.VERSIONS[-1]}
    query = {name: {"type": "string", "description": text} for name, text in texts.items()}
    return {
        "address": SOCKET,
        "description": "The query has `conversation` and `version`; `Origin` is the server's own, "
        "the cookie parley-{slug} is the participation's.",
        "parameters": {"slug": {"description": "the campaign's, from its link"}},
        "bindings": {
            "ws": {"method": "GET", "query": {"type": "object", "properties": query}},
        },
        "messages": {
            each.__name__: {"$ref": f"#/components/messages/{each.__name__}"}
            for each in (*CLIENT, *SERVER)
        },
    }


def _message(kind: Any) -> Document:
    return {
        "name": kind.__struct_config__.tag,
        "summary": " ".join((kind.__doc__ or "").split()),
        "payload": {"$ref": COMPONENT + kind.__name__},
    }


def _info(title: str) -> Document:
    return {
        "title": f"Parley: {title}",
        "version": f"{frames.VERSIONS[-1]}.0.0",
        "license": {"name": "GPL-3.0-or-later"},
        "description": "Generated by `manage.py schema`. The promise, and what it asks of a "
        "client, is in docs/protocol.md.",
    }


# --- OpenAPI: the addresses ---------------------------------------------------------------------


def openapi() -> Document:
    """Return the document of the addresses; raises `MissingOperations`."""
    return {
        "openapi": "3.1.0",
        "info": _info("A participant's addresses"),
        "paths": {
            _template(route): {
                "parameters": [_in_path(*each) for each in PART.findall(route)],
                **{each.method: _operation(name, each) for each in ADDRESSES[name]},
            }
            for name, route in participant_routes().items()
        },
        "components": {
            "schemas": {**frame_schemas(), **schemas(*JSON_TYPES), "Frames": _frames()},
            "securitySchemes": {
                "participation": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": f"{settings.PARTICIPANT_COOKIE}-{{slug}}",
                }
            },
        },
        "x-steps": {
            str(state): {"screen": step.screen, "actions": list(step.actions)}
            for state, step in STEPS.items()
        },
        "x-pages": dict(pages.PARTS),
        "x-kinds": {name: _first_line(get_kind(name)) for name in kind_names()},
    }


def _template(route: str) -> str:
    return PART.sub(r"{\2}", route)


def _in_path(converter: str, name: str) -> Document:
    schema = {"type": "string", "pattern": CONVERTERS[converter]}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _frames() -> Document:
    items = {"$ref": f"{COMPONENT}ServerFrame"}
    properties = {"frames": {"type": "array", "items": items}}
    return {"type": "object", "properties": properties, "required": ["frames"]}


def _operation(route: str, operation: Operation) -> Document:
    made: Document = {
        "operationId": f"{operation.method}-{route}",
        "summary": operation.summary,
        "parameters": [
            *_parameters("query", operation.query),
            *_parameters("header", operation.headers),
        ],
        "responses": _responses(operation),
    }
    if route not in ("entry", "private-link", "withdraw", "declined"):
        made["security"] = [{"participation": []}]
    if (body := _body(operation)) is not None:
        made["requestBody"] = {"required": True, "content": body}
    return made


def _parameters(where: str, texts: Mapping[str, str]) -> list[Document]:
    return [
        {"name": name, "in": where, "description": text, "schema": {"type": "string"}}
        for name, text in texts.items()
        if name != "Accept"  # OpenAPI has it from the kinds of answers
    ]


def _body(operation: Operation) -> Document | None:
    body = operation.body
    if body is not None:
        name = "ClientFrame" if isinstance(body, str) else body.__name__
        return {"application/json": {"schema": {"$ref": COMPONENT + name}}}
    if operation.form is None:
        return None
    fields = {"csrfmiddlewaretoken": "as the page's form has it", **operation.form}
    schema: Document = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in fields.items()
        },
        "required": ["csrfmiddlewaretoken"],
    }
    if operation.takes_answers:
        schema["additionalProperties"] = {
            "type": "string",
            "description": "an answer, by data-name",
        }
    return {"application/x-www-form-urlencoded": {"schema": schema}}


def _responses(operation: Operation) -> Document:
    found: Document = {
        str(status): {"description": text} for status, text in operation.more.items()
    }
    if operation.method == "post":
        found |= {status: {"description": text} for status, text in OF_EVERY_BODY.items()}
    for status in {"400", "429"} & set(found):
        if operation.found == FRAMES:
            found[status]["content"] = _content(FRAMES)
        elif operation.body is not None:
            found[status]["content"] = _content(answers.JsonProblem)
    if operation.found is None:
        return found
    return {
        "200": {"description": operation.summary, "content": _content(operation.found)},
        **found,
    }


def _content(found: Any) -> Document:
    if found in (PAGE, TEXT):
        return {"text/html" if found == PAGE else "text/plain": {"schema": {"type": "string"}}}
    name = "Frames" if found == FRAMES else found.__name__
    return {"application/json": {"schema": {"$ref": COMPONENT + name}}}


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").splitlines()[0]
