"""Attempts at each operation of the schema: as its page has it, and wrong in one thing each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.conformance import cases
from tests.conformance.documents import complaints, document
from tests.conformance.wire import Browser, tls
from webapp.crowd import answers
from webapp.crowd.page import BrowserPage, PageForm, PageQuestion, read
from webapp.crowd.people import Person

LONG = "t" * 5_000  # more than any field of a form has room for
RAW = {"characters": "a%00b", "bytes": "%ff%fe", "long": LONG, "empty": ""}  # as sent
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
LATEST = "2"  # of the wire; the documents have no other
TOKEN = "csrfmiddlewaretoken"


@dataclass(frozen=True)
class Operation:
    """One method of an address, as the document has it."""

    path: str
    method: str
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.spec["operationId"])

    @property
    def action(self) -> str:
        """Return the word by which steps name the address."""
        return self.path.removeprefix("/c/{slug}/").partition("/")[0]

    def named(self, where: str) -> list[str]:
        return [each["name"] for each in self.spec["parameters"] if each["in"] == where]

    def body(self, kind: str) -> cases.Schema | None:
        content = self.spec.get("requestBody", {}).get("content", {})
        found: cases.Schema | None = content[kind]["schema"] if kind in content else None
        return found


def operations() -> list[Operation]:
    return [
        Operation(path, method, spec)
        for path, item in document("openapi.json")["paths"].items()
        for method, spec in item.items()
        if method != "parameters"
    ]


@dataclass(frozen=True)
class Asked:
    """A request, what is wrong in it, and whether it has to be refused for that."""

    operation: Operation
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None  # values as sent: percent-encoded
    raw: str = ""  # a body of JSON
    method: str = ""
    has_cookie: bool = True
    wrong: str = ""
    must_fail: bool = False
    leads_on: bool = False  # what refuses is where the answer leads to
    names: str = ""  # the field that the answer has to name

    def send(self, browser: Browser) -> httpx.Response:
        address = self.operation.path.format_map(self.path)
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        body = "&".join(f"{urlencode({'': name})[1:]}={v}" for name, v in (self.form or {}).items())
        headers = dict(self.headers)
        if self.form is not None or self.raw:
            headers["Content-Type"] = FORM if self.form is not None else JSON
        method = (self.method or self.operation.method).upper()
        asked: dict[str, Any] = {"headers": headers, "content": body or self.raw}
        address += f"?{query}" if query else ""
        if self.has_cookie:
            return browser.http.request(method, address, follow_redirects=self.leads_on, **asked)
        with httpx.Client(base_url=browser.site.base, trust_env=False, verify=tls()) as stranger:
            return stranger.request(method, address, **asked)

    def __str__(self) -> str:
        return f"{self.operation.name}, {self.wrong or 'valid'}"


# --- as a page has it ---------------------------------------------------------------------------


def valid(browser: Browser, operation: Operation) -> Asked:
    """Return the request that the page of the current step, or the entry page, would send."""
    text = browser.http.get(browser.site.path + "now", follow_redirects=True).text
    page = read(text)
    link = re.search(rf"/{operation.action}/([^/\"?]+)", text)
    path = {"slug": browser.site.slug, "token": link[1] if link else "none", "rest": "elsewhere"}
    known = {"version": LATEST, "after": "0", "conversation": page.key, "X-CSRFToken": page.token}
    asked = Asked(
        operation,
        path,
        query={name: known[name] for name in operation.named("query") if known.get(name)},
        headers={name: known.get(name) or "t" for name in operation.named("header")},
    )
    if operation.body(FORM) is not None:
        form = page.form(operation.path.format_map(path)) or _entry_form(browser, operation)
        return replace(asked, form=_values(form, page))
    if (schema := operation.body(JSON)) is not None:
        headers = {**asked.headers, "Accept": JSON}
        return replace(asked, headers=headers, raw=json.dumps(_body(schema, page)))
    return replace(asked, headers={**asked.headers, "Accept": JSON})


def _entry_form(browser: Browser, operation: Operation) -> PageForm | None:
    return browser.consent_form() if operation.action == "consent" else None


def _values(form: PageForm | None, page: BrowserPage) -> dict[str, str]:
    """Return what a form sends, encoded; without one, the token alone."""
    if form is None:
        return {TOKEN: page.token}
    given = {**form.sent, **filled(form)}
    return {name: urlencode({"": value})[1:] for name, value in given.items()}


def filled(form: PageForm) -> dict[str, str]:
    """Answer all questions of a form."""
    return answers.fill(Person(name="somebody", seed=1), form, {}, "")


def _body(schema: cases.Schema, page: BrowserPage) -> Any:
    """Return a body; answers are to the questions of the page."""
    if "ClientFrame" in schema["$ref"]:
        return {"type": "ping"}
    asked = next((form for form in page.forms if form.questions), None)
    return {"answers": filled(asked)} if asked else cases.example(schema)


# --- with something wrong -----------------------------------------------------------------------


def wrong_fields(asked: Asked, page: BrowserPage) -> Iterator[Asked]:
    """Yield requests with one field wrong each: of a form, of a body of JSON, or a header."""
    for name in asked.operation.named("header"):
        without = {key: value for key, value in asked.headers.items() if key != name}
        must = name == "X-CSRFToken"
        yield replace(asked, headers=without, wrong=f"{name} (missing)", must_fail=must)
        for value in (LONG, "%00"):
            changed = {**asked.headers, name: value}
            yield replace(asked, headers=changed, wrong=f"{name}: {value:.9}", must_fail=must)
    if asked.form is not None:
        yield from _wrong_fields(asked)
        yield from _wrong_answers(asked, page)
    if asked.raw:
        yield from _wrong_bodies(asked)


def wrong_requests(asked: Asked, page: BrowserPage) -> Iterator[Asked]:
    """Yield requests that are wrong whatever their fields say."""
    yield from _wrong_addresses(asked)
    yield from _others(asked, page.token)


def _wrong_addresses(asked: Asked) -> Iterator[Asked]:
    for name in re.findall(r"{(\w+)}", asked.operation.path):
        for value in ("none", LONG, "a%00b", "%ff"):
            wrong = f"{name}: {value:.9}"
            path, must = {**asked.path, name: value}, name != "rest"
            yield replace(asked, path=path, wrong=wrong, must_fail=must, leads_on=must)
    for name in asked.operation.named("query"):
        for way, value in RAW.items():
            yield replace(asked, query={**asked.query, name: value}, wrong=f"{name} ({way})")


def _wrong_fields(asked: Asked) -> Iterator[Asked]:
    schema, form = asked.operation.body(FORM), asked.form
    assert schema is not None
    assert form is not None
    for name in schema["properties"]:
        must = name in schema["required"]
        without = {key: value for key, value in form.items() if key != name}
        yield replace(asked, form=without, wrong=f"{name} (missing)", must_fail=must)
        for way, value in RAW.items():
            changed = {**form, name: value}
            yield replace(asked, form=changed, wrong=f"{name} ({way})", must_fail=must)


def _wrong_answers(asked: Asked, page: BrowserPage) -> Iterator[Asked]:
    schema, form = asked.operation.body(FORM), asked.form
    shown = page.form(asked.operation.path.format_map(asked.path))
    assert form is not None
    if shown is None or not (schema or {}).get("additionalProperties"):
        return
    for question in shown.questions:
        if question.name in form:
            without = {key: value for key, value in form.items() if key != question.name}
            about: dict[str, Any] = {"names": question.name, "must_fail": _is_needed(question)}
            yield replace(asked, form=without, wrong=f"{question.name} (missing)", **about)
            for way, value in RAW.items():
                changed = {**form, question.name: value}
                yield replace(asked, form=changed, wrong=f"{question.name} ({way})", **about)


def _is_needed(question: PageQuestion) -> bool:
    return bool(question.options) or question.input.get("data-least-words", "1") != "0"


def _wrong_bodies(asked: Asked) -> Iterator[Asked]:
    schema = asked.operation.body(JSON)
    assert schema is not None
    for raw in ("", "{", "[]", "1", "null", '{"a": NaN}', "[" * 9000, "\x00", '{"a": 1, "a": 2}'):
        yield replace(asked, raw=raw or " ", wrong=f"the body {raw:.9}", must_fail=True)
    name = cases.name_of(schema["$ref"])
    for kind in cases.client_frames() if name == "ClientFrame" else [name]:
        for case in cases.first_of_each(cases.spoiled(kind)):
            raw = json.dumps(case.body)
            about: dict[str, Any] = {
                "wrong": f"{kind} {case}",
                "must_fail": True,
                "names": case.field,
            }
            if case.way != "bytes":
                yield replace(asked, raw=raw, **about)


def _others(asked: Asked, token: str) -> Iterator[Asked]:
    """Yield the request without a cookie, by other methods, and with a body that is too large."""
    operation = asked.operation
    if "security" in operation.spec and operation.action != "consent":
        yield replace(
            asked, has_cookie=False, wrong="no cookie", must_fail=operation.method == "post"
        )
    known = document("openapi.json")["paths"][operation.path]
    for method in {"put", "delete", "patch", "get", "post"} - set(known):
        if "{rest}" not in operation.path:
            headers = {**asked.headers, "X-CSRFToken": token}
            yield replace(asked, method=method, headers=headers, wrong=f"by {method}")
    if operation.method == "post":
        large = "t" * (2**20 + 1)
        if asked.form is not None:
            yield replace(asked, form={**asked.form, "x": large}, wrong="too large", must_fail=True)
        else:
            yield replace(asked, raw=f'"{large}"', wrong="too large", must_fail=True)


# --- what may be answered -----------------------------------------------------------------------


def problems(asked: Asked, answer: httpx.Response) -> Iterator[str]:
    """Yield how an answer differs from what the document says of it."""
    status = str(answer.status_code)
    known = asked.operation.spec["responses"]
    if status.startswith("5"):
        yield f"status {status}"
    elif asked.method and status != "405":
        yield f"status {status} where there is no such method"
    elif not asked.method and status not in known:
        yield f"status {status}, which the document does not have"
    elif asked.must_fail and not status.startswith("4"):
        yield f"status {status}, not refused"
    else:
        yield from _wrong_content(asked, answer, known.get(status, {}))


def _wrong_content(asked: Asked, answer: httpx.Response, known: Any) -> Iterator[str]:
    ((kind, content),) = known.get("content", {"": {}}).items()
    if kind and not answer.headers["Content-Type"].startswith(kind):
        yield f"it is {answer.headers['Content-Type']}, not {kind}"
    elif kind == JSON and asked.query.get("version", LATEST) == LATEST:
        yield from complaints(answer.json(), cases.name_of(content["schema"]["$ref"]))
    if asked.names and asked.must_fail and not _is_named(asked.names, answer):
        yield f"{asked.names} is not named: {answer.text:.200}"


def _is_named(name: str, answer: httpx.Response) -> bool:
    if answer.headers["Content-Type"].startswith(JSON):
        return name in json.dumps(answer.json()) or "bad_text" in answer.text
    marked = re.findall(r"<fieldset[^>]*>", answer.text)
    return any(f'data-name="{name}"' in each and "aria-invalid" in each for each in marked)
