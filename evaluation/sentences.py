"""Sentences for participants: an English text that remembers what it was made of.

Here it is an ordinary text; the web translates the template and fills the values in again. What a
protocol shows is no such sentence: its words are the source's (`evaluation.words`).
"""

from __future__ import annotations

from collections.abc import Sequence


class Sentence(str):
    """A text made from `template` with %(names)s of `values`, which may be sentences themselves.

    plural, number: the form for other numbers than one, and the number.
    """

    template: str
    plural: str
    number: int
    values: dict[str, object]

    def __new__(
        cls, template: str, plural: str = "", number: int = 1, /, **values: object
    ) -> Sentence:
        """Return the English text."""
        form = plural if plural and number != 1 else template
        made = super().__new__(cls, form % values if values else form)
        made.template, made.plural, made.number, made.values = template, plural, number, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str, int], dict[str, object]]:
        """Return what makes a copy."""
        return (self.template, self.plural, self.number), self.values


def sentence(template: str, /, **values: object) -> Sentence:
    """Return a sentence."""
    return Sentence(template, **values)


def counted(singular: str, plural: str, count: int) -> Sentence:
    """Return a number with what it counts, such as "3 words"; both forms have %(count)d."""
    return Sentence(singular, plural, count, **{"count": count})


def listed(parts: Sequence[str]) -> str:
    """Return parts with commas between them."""
    joined: str = parts[0]
    for part in parts[1:]:
        joined = sentence("%(first)s, %(second)s", first=joined, second=part)
    return joined


def alternatives(parts: Sequence[str]) -> str:
    """Return parts of which one is meant."""
    joined: str = parts[0]
    for part in parts[1:]:
        joined = sentence("%(first)s or %(second)s", first=joined, second=part)
    return joined
