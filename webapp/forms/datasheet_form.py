"""Form of the datasheet: what a researcher answers to the questions of HEDS 3.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from analysis.output.heds_form import FormQuestion, form
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.staff_forms.fields import one_of, optional_text, yes_no

MOST = 5000
NONE = ""  # no option is chosen
Known = Sequence[Mapping[str, str]]  # analysis.output.heds.known


class Answer(TypedField):
    """A text of some lines."""

    rows = 2


class DatasheetForm(StaffForm):
    """A field for each question, of what is asked of each criterion one for each.

    known: what Parley says by itself. own: the answers that are kept, by number. Choices of which
    Parley knows no option are left to the official form.
    """

    is_stored = True

    def __init__(
        self, data: Mapping[str, str] | None = None, *, known: Known, own: Mapping[str, Any]
    ) -> None:
        questions = {each.number: each for each in form()}
        self._criteria = list(dict.fromkeys(row["criterion"] for row in known))
        rows = [(questions[row["number"]], row) for row in known]
        self._rows = [(question, row) for question, row in rows if _has_field(question)]
        initial: dict[str, str] = {}
        for question, row in self._rows:
            initial |= _initial(question, self._key(row), _kept(question, row, own))
        super().__init__(data, initial=initial)
        for question, row in self._rows:
            self.fields |= _fields(question, self._key(row), _known_text(row))

    def _key(self, row: Mapping[str, str]) -> str:
        return f"q{row['number']}.c{self._criteria.index(row['criterion'])}"

    @cached_property
    def groups(self) -> list[tuple[str, list[BoundField]]]:
        """The fields of each criterion, after those of the whole experiment ("")."""
        of: dict[str, list[BoundField]] = {name: [] for name in self._criteria}
        for question, row in self._rows:
            of[row["criterion"]] += [self[name] for name in _fields(question, self._key(row), "")]
        return sorted(of.items(), key=lambda each: each[0] != "")

    def clean(self) -> dict[str, Any]:
        """Refuse an explanation without the option that it explains."""
        for question, row in self._rows:
            key = self._key(row)
            text = self.cleaned_data.get(f"{key}.text")
            if text and not self._chosen(question, key):
                self.add_error(f"{key}.text", _("explains an option; choose one above"))
        return self.cleaned_data

    def answers(self) -> dict[str, Any]:
        """Return what was answered, by number, as `analysis.output.heds_own` reads it."""
        found: dict[str, Any] = {}
        for question, row in self._rows:
            answer = self._answer(question, self._key(row))
            if answer and question.of_criterion:
                found.setdefault(question.number, {})[row["criterion"]] = answer
            elif answer:
                found[question.number] = answer
        return found

    def _answer(self, question: FormQuestion, key: str) -> Any:
        if not question.is_choice:
            return self.cleaned_data[key]
        chosen = self._chosen(question, key)
        name, value = ("options", chosen) if question.kind == "several" else ("option", chosen[:1])
        text = self.cleaned_data[f"{key}.text"]
        return {name: value if name == "options" else value[0], "text": text} if chosen else None

    def _chosen(self, question: FormQuestion, key: str) -> list[int]:
        found = self.cleaned_data
        if question.kind == "several":
            return [int(each) for each in question.options if found.get(f"{key}.{each}")]
        return [int(found[key])] if found.get(key) else []


def _has_field(question: FormQuestion) -> bool:
    return not question.is_choice or bool(question.options)


def _kept(question: FormQuestion, row: Mapping[str, str], own: Mapping[str, Any]) -> Any:
    kept = own.get(question.number, "")
    if question.of_criterion:
        return kept.get(row["criterion"], "") if isinstance(kept, dict) else ""
    return kept


def _initial(question: FormQuestion, key: str, kept: Any) -> dict[str, str]:
    if not question.is_choice:
        return {key: str(kept)}
    answer = kept if isinstance(kept, dict) else {"option": kept}
    chosen = [str(each) for each in answer.get("options", [answer.get("option", "")])]
    text = {f"{key}.text": str(answer.get("text", ""))}
    if question.kind == "several":
        return text | {f"{key}.{each}": "true" for each in chosen}
    return text | {key: chosen[0]}


def _known_text(row: Mapping[str, str]) -> str:
    """Return what stands in the file where nothing is typed."""
    if not row["text"]:
        return _("Parley knows nothing of it.")
    known = _("Left empty, Parley writes: “%(text)s”") % {"text": row["text"]}
    if not row["check"]:
        return known
    return known + _(" To be checked: %(check)s.") % {"check": row["check"]}


def _fields(question: FormQuestion, key: str, known: str) -> dict[str, TypedField]:
    label = f"{question.number} {question.asks}"
    if not question.is_choice:
        read = optional_text(most=MOST)
        return {key: Answer(read, label=label, help_text=known, kind="textarea")}
    return dict(_choice(question, key, label, known))


def _choice(
    question: FormQuestion, key: str, label: str, known: str
) -> Iterator[tuple[str, TypedField]]:
    if len(question.options) < question.count:
        known += _(" Other options than these are chosen in the official form.")
    if question.kind == "several":
        for number, option in question.options.items():
            yield f"{key}.{number}", TypedField(yes_no, label=f"{label}: {option}", kind="checkbox")
    else:
        choices = {NONE: "—", **question.options}
        yield key, TypedField(one_of(choices), label=label, kind="select", choices=choices.items())
    about = _("%(number)s in words, such as an address") % {"number": question.number}
    read = optional_text(most=MOST)
    yield f"{key}.text", Answer(read, label=about, help_text=known, kind="textarea")
