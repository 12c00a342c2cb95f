"""Requests that no page would send, drawn from a page's own fields and a list of odd values."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from django.db import transaction
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT

ODD = (
    *("", " ", "\0", "a\0b", "\ud83d", "\u202e", "\r\n\tx", "²", "١٢", "x" * 5_000, "é" * 300),
    *("-1", "0.001", "1e999", "NaN", "Infinity", "0x10", "1_000", "1,5", "9" * 400, str(2**63)),
    *("2026-13-45", "true", "null", "[]", "{}", '{"a":' * 50, "[" * 3_000, "../../etc/passwd"),
    *("<script>", "%00", 'a,b\n"c', "=1+1", "00000000-0000-0000-0000-000000000000"),
)
USUAL = ("1", "2", "yes", "2026-01-01", "a reason that is long enough")
FILES = (b"", b"\xff\xfe\0", b"a,b\n1", b"{" * 500, b"PK\x03\x04" + b"0" * 50, b"[1,2")
RAW = (b"\xff\xfe", b"a=%ff%fe&b", b"=&=&", b"\0" * 100)
TYPES = (
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data",
    MULTIPART_CONTENT,
)
FIELD, OPTION = re.compile(r'name="([^"]+)"'), re.compile(r'<option value="([^"]*)"')
# What no page shows, or only at times.
ELSEWHERE = ("next", "page", "search", "state", "after", "conversation", "version", "invitation")


TELLING = ("\0", "\ud83d", "é" * 300, "9" * 400, "NaN", "[")  # each breaks what does not look


@dataclass(frozen=True)
class Fields:
    """The names of a page's fields, and values that it offers."""

    names: frozenset[str]
    offered: tuple[str, ...] = ()

    @classmethod
    def of(cls, page: str) -> Fields:
        return cls(frozenset(FIELD.findall(page)), tuple(OPTION.findall(page)[:50]))

    def draw(self, chance: random.Random) -> dict[str, str]:
        """Return most of the fields, each with some value."""
        values = (*ODD, *USUAL, *self.offered)
        names = sorted(self.names | set(ELSEWHERE))
        return {name: chance.choice(values) for name in names if chance.random() < 0.7}


def _coded(values: Mapping[str, str]) -> bytes:
    pairs = (
        f"{quote_plus(name)}={quote_plus(value, errors='surrogatepass')}"
        for name, value in values.items()
    )
    return "&".join(pairs).encode()


def _form(values: Mapping[str, str], chance: random.Random) -> dict[str, Any]:
    return {"data": _coded(values), "content_type": TYPES[0]}


def _json(values: Mapping[str, str], chance: random.Random) -> dict[str, Any]:
    body: Any = chance.choice(
        (values, {"answers": values}, [], None, 3, {"type": "message", "id": "x"})
    )
    coding = chance.choice(("", "; charset=klingon"))
    return {"data": json.dumps(body).encode(), "content_type": f"application/json{coding}"}


def _files(values: Mapping[str, str], chance: random.Random) -> dict[str, Any]:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{kind}\r\n\r\n'.encode()
        + chance.choice((chance.choice(FILES), value.encode(errors="surrogatepass")))
        for name, value in values.items()
        for kind in ("; filename=x.csv" * chance.randrange(2),)
    ]
    end = f"\r\n--{BOUNDARY}--\r\n".encode() * chance.randrange(2)
    return {"data": b"\r\n".join(parts) + end, "content_type": MULTIPART_CONTENT}


def _raw(values: Mapping[str, str], chance: random.Random) -> dict[str, Any]:
    return {"data": chance.choice(RAW), "content_type": chance.choice(TYPES)}


def _query(values: Mapping[str, str], chance: random.Random) -> dict[str, Any]:
    return {"QUERY_STRING": _coded(values).decode(), "method": "GET"}


BODIES: tuple[Callable[[Mapping[str, str], random.Random], dict[str, Any]], ...] = (
    *(_form,) * 3,
    *(_json, _files, _raw, _query),
)


def faults(
    client: Client, addresses: list[str], *, rounds: int, seed: int
) -> tuple[int, dict[str, str]]:
    """Send each address the telling values and so many requests; return their count, and faults.

    The client must not raise what a view raises. Each request's changes are taken back.
    """
    chance, count, found = random.Random(seed), 0, dict[str, str]()
    pages = {address: _fields(client, address) for address in addresses}
    # What a page posts to another address stands nowhere at that address itself.
    every = Fields(frozenset[str]().union(*(fields.names for fields in pages.values())))
    for address, own in pages.items():
        fields = own if own.names else every
        telling = [_form(dict.fromkeys(fields.names, value), chance) for value in TELLING]
        drawn = [chance.choice(BODIES)(fields.draw(chance), chance) for _ in range(rounds)]
        for request in (*telling, *drawn):
            response, count = ask(client, address, request), count + 1
            if response.status_code >= 500:
                problem = getattr(response, "exc_info", None)
                found[address] = f"{response.status_code} {problem and problem[1]!r} {request}"
    return count, found


def _fields(client: Client, address: str) -> Fields:
    return Fields.of(_text(ask(client, address, {"method": "GET"})))


def ask(client: Client, address: str, request: Mapping[str, Any]) -> Any:
    """Send one request, read its answer, and take back what it did."""
    options = dict(request)
    with transaction.atomic():
        response: Any = client.generic(options.pop("method", "POST"), address, **options)
        response.body = b"".join(response.streaming_content) if response.streaming else None
        transaction.set_rollback(True)
    return response


def _text(response: Any) -> str:
    body: bytes = response.content if response.body is None else response.body
    return body.decode(errors="replace")
