"""Form of the Human Evaluation Datasheet, HEDS 3.0: its questions, and a file that it loads.

The official form (Belz & Thomson 2025, https://nlp-heds.github.io) reads a JSON object with an
entry per element of its page: `data` has the value by criterion, "" for what is asked once;
`control` of the criteria says which is open; `number` is the question's. Read from commit 16f0ce9
of that page: 62 questions, of which 21 are of each criterion. What they ask is in our own words.

Apart because the form is not ours, and what is written into it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("heds_form.json")
CRITERIA = "heds-criteria-criterion"
Entry = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class FormQuestion:
    """One question: texts have one element, choices one per option and one for their explanation.

    options: the form's labels of those that Parley may choose, of `count` in all.
    """

    number: str
    id: str
    kind: Literal["text", "integer", "one", "several"]
    asks: str
    count: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_criterion(self) -> bool:
        return self.id.startswith(f"{CRITERIA}-")

    @property
    def is_choice(self) -> bool:
        return self.count > 0


@dataclass(frozen=True, kw_only=True)
class FormAnswer:
    """A text, or the options chosen with a text that explains them.

    check: what a researcher has to confirm, since it was inferred.
    """

    text: str = ""
    options: tuple[int, ...] = ()
    check: str = ""


@cache
def form() -> tuple[FormQuestion, ...]:
    """Return the questions in the order of the form."""
    return tuple(FormQuestion(**each) for each in json.loads(FILE.read_text(encoding="utf-8")))


def criteria(names: Sequence[str]) -> Entry:
    """Return the entry of the criteria; the form opens at the first."""
    control = {name: name == names[0] for name in names}
    return {"data": dict.fromkeys(names, ""), "control": control, "text": {}, "number": ""}


def entries(
    question: FormQuestion, answers: Mapping[str, FormAnswer]
) -> Iterator[tuple[str, Entry]]:
    """Yield the elements of a question with their entries, given its answer to each criterion.

    What is asked once is answered under "". Raises `KeyError` for an option that is not in `form`.
    """
    texts = {name: each.text for name, each in answers.items()}
    if not question.is_choice:
        yield question.id, _entry(texts, question.number)
        return
    for option in sorted({each for answer in answers.values() for each in answer.options}):
        label = question.options[str(option)]
        chosen = {name: option in each.options for name, each in answers.items()}
        labels = {name: label if is_chosen else "" for name, is_chosen in chosen.items()}
        yield f"{question.id}-{option}", _entry(chosen, question.number) | {"text": labels}
    yield f"{question.id}-other_text", _entry(texts, None)


def _entry(data: Mapping[str, object], number: str | None) -> Entry:
    return {"data": dict(data), "control": {}, "number": number}
