"""Pages as a person's browser has them: forms, their questions, the token."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

from evaluation import AnswerField, AnswerOption

Attributes = dict[str, str]


@dataclass
class PageQuestion:
    """A question as a page shows it; `gate` names the one that opens it, by `gate_values`."""

    name: str
    kind: str
    gate: str = ""
    gate_values: tuple[str, ...] = ()
    options: list[str] = field(default_factory=list)
    input: Attributes = field(default_factory=dict)

    @property
    def answer_field(self) -> AnswerField:
        """Where the answer is given, as the kind of question described it."""
        options = tuple(AnswerOption(value=option) for option in self.options)
        return AnswerField(options=options, input=self.input)


@dataclass
class PageForm:
    """A form: where it goes, what it sends unasked, its questions and boxes to tick."""

    action: str
    sent: dict[str, str] = field(default_factory=dict)
    questions: list[PageQuestion] = field(default_factory=list)
    ticks: list[str] = field(default_factory=list)


@dataclass
class BrowserPage:
    """The parts of a page that matter for filling it in."""

    forms: list[PageForm] = field(default_factory=list)
    token: str = ""
    key: str = ""  # of the conversation
    marks: dict[str, str] = field(default_factory=dict)  # text, by data-part or id
    items: dict[str, list[str]] = field(default_factory=dict)  # the list items in such elements

    def form(self, ending: str) -> PageForm | None:
        """Return the form whose address ends so."""
        fitting = (form for form in self.forms if form.action.split("?")[0].endswith(ending))
        return next(fitting, None)

    @property
    def labels_are_optional(self) -> bool:
        """Whether the questions under each message can be left out."""
        return bool(json.loads(self.marks.get("chat-data") or "{}").get("optional"))

    @property
    def labels(self) -> list[PageQuestion]:
        """The questions under each message of a conversation."""
        questions = json.loads(self.marks.get("chat-data") or "{}").get("questions", ())
        return [
            PageQuestion(
                name=each["name"],
                kind=each["kind"],
                gate=each["only_if"] or "",
                gate_values=tuple(each["only_if_values"]),
                options=[value for value, _ in each["options"]],
                input=each["input"],
            )
            for each in questions
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = BrowserPage()
        self.form: PageForm | None = None
        self.question: PageQuestion | None = None
        self.open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "meta" and values.get("name") == "csrf-token":
            self.page.token = values.get("content", "")
        if "data-frames" in values:
            query = parse_qs(urlsplit(values["data-frames"]).query)
            self.page.key = query["conversation"][0]
        if tag == "form":
            self.form = PageForm(values.get("action", ""))
            self.page.forms.append(self.form)
        elif self.form is not None:
            self._field(self.form, tag, values)
        if tag not in VOID:
            self.open.append((tag, values.get("data-part") or values.get("id", "")))
            self._start(tag)

    def _field(self, form: PageForm, tag: str, values: Attributes) -> None:
        if "data-kind" in values:
            self.question = PageQuestion(
                name=values["data-name"],
                kind=values["data-kind"],
                gate=values.get("data-gate", ""),
                gate_values=tuple(json.loads(values.get("data-gate-values") or "[]")),
            )
            form.questions.append(self.question)
        elif self.question is not None:
            _ask(self.question, tag, values)
        elif tag == "input":
            _take(form, values)

    def _start(self, tag: str) -> None:
        for mark in self._marks():
            self.page.marks.setdefault(mark, "")
            if tag == "li":
                self.page.items.setdefault(mark, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("form", "fieldset"):
            self.question = None
        if tag == "form":
            self.form = None
        while self.open and tag in [name for name, _ in self.open]:
            if self.open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        in_item = any(tag == "li" for tag, _ in self.open)
        for mark in self._marks():
            self.page.marks[mark] += data
            if in_item and mark in self.page.items:
                self.page.items[mark][-1] += data

    def _marks(self) -> list[str]:
        return [mark for _, mark in self.open if mark]


VOID = {"input", "meta", "link", "br", "img", "hr", "source", "area", "col", "wbr"}


def _ask(question: PageQuestion, tag: str, values: Attributes) -> None:
    """Add an option, or the one input, of a question."""
    if tag == "option" or values.get("type") == "radio":
        question.options.append(values.get("value", "on"))
    elif tag in ("input", "textarea"):
        question.input = values


def _take(form: PageForm, values: Attributes) -> None:
    if not values.get("name"):
        return
    if values.get("type") == "checkbox":
        form.ticks.append(values["name"])
    else:
        form.sent[values["name"]] = values.get("value", "")


def read(html: str) -> BrowserPage:
    """Return the parts of a page that matter."""
    reader = _Reader()
    reader.feed(html)
    return reader.page
