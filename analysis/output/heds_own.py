"""A researcher's own answers to the datasheet: what neither plan nor ratings can tell.

A JSON object by the form's numbers, typed once and used for every file: a text; the number of an
option; or `{"option": 1, "text": "..."}` (`"options": [1, 2]` where several may be chosen). What is
asked of each quality criterion has such an answer by the criterion's name.

Apart because it is typed by people, and each mistake in it is told with its number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from analysis.output.heds_form import FormAnswer, FormQuestion, form
from analysis.tables.options import BadOption

OPTION = "--heds-answers"
Own = Mapping[str, object]
Answers = dict[str, dict[str, FormAnswer]]  # by criterion ("" of what is asked once) and element


def read(path: Path) -> Own:
    """Return what a file has.

    Raises:
        BadOption: it cannot be read, or is no JSON object.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadOption(OPTION, str(path), f"a JSON file ({error})") from None
    if not isinstance(found, dict):
        raise BadOption(OPTION, str(path), 'a JSON object such as {"1.3.1.1": "Ada Lovelace"}')
    return found


def of_criteria(own: Own, criteria: Sequence[str]) -> dict[str, object]:
    """Return the answers without those about criteria that are not there, whose ratings may be."""
    each = {question.number for question in form() if question.of_criterion}
    return {
        number: {name: answer for name, answer in typed.items() if name in criteria}
        if number in each and isinstance(typed, dict)
        else typed
        for number, typed in own.items()
    }


def own_answers(own: Own, criteria: Sequence[str]) -> Answers:
    """Return the answers by criterion and element; blank ones are none.

    Raises:
        BadOption: a number, an option or a criterion that the form does not have here.
    """
    known = {each.number: each for each in form()}
    found: Answers = {name: {} for name in ("", *criteria)}
    for number, typed in own.items():
        if number not in known:
            raise BadOption(OPTION, number, "a number of the form, such as 1.3.1.1")
        for name, answer in _by_criterion(known[number], typed, criteria):
            if answer != FormAnswer():
                found[name][known[number].id] = answer
    return found


def _by_criterion(
    question: FormQuestion, typed: object, criteria: Sequence[str]
) -> Iterator[tuple[str, FormAnswer]]:
    if not question.of_criterion:
        yield "", _answer(question, typed)
        return
    if not isinstance(typed, dict) or not typed.keys() <= {*criteria}:
        right = f"an answer by criterion, of: {', '.join(criteria) or 'none is known'}"
        raise BadOption(f"{OPTION} {question.number}", str(typed), right)
    for name, each in typed.items():
        yield name, _answer(question, each)


def _answer(question: FormQuestion, typed: object) -> FormAnswer:
    named = typed if isinstance(typed, dict) else {}
    if not question.is_choice:
        if not isinstance(typed, str | int) or isinstance(typed, bool):
            raise BadOption(f"{OPTION} {question.number}", str(typed), "a text")
        return FormAnswer(text=str(typed).strip())
    chosen = named.get("options", [named["option"]] if "option" in named else [typed])
    text = named.get("text", "")
    is_right = isinstance(chosen, list) and all(str(each) in question.options for each in chosen)
    several = question.kind == "several" or (is_right and len(chosen) == 1)
    if not (is_right and several and chosen and isinstance(text, str)):
        raise BadOption(f"{OPTION} {question.number}", str(typed), _right(question))
    return FormAnswer(options=tuple(sorted(map(int, chosen))), text=text.strip())


def _right(question: FormQuestion) -> str:
    if not question.options:
        return "left out here and chosen in the form: Parley does not know its options"
    return f"one of {'; '.join(question.options.values())}"


def listed(question: FormQuestion) -> str:
    """Return all options, as the form has them; "" where they are not all known."""
    return "; ".join(question.options.values()) * (len(question.options) == question.count)
