"""Types of settings: what can be typed, which values are accepted, and what a complaint names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar
from typing import Protocol as Interface

LONGEST_SHOWN = 60  # characters of a wrong value that a complaint repeats


class InvalidValue(ValueError):
    """A value outside a setting's type or bounds; the text states the bounds."""


@dataclass(frozen=True)
class Draw:
    """One of `options`, drawn uniformly for each conversation."""

    options: tuple[int, ...]


class SettingType(Interface):
    """Type of a setting: the values it takes. Both methods raise `InvalidValue`."""

    control: ClassVar[str]  # checkbox, number, select, text or textarea: how a form asks for it

    def read(self, text: str) -> Any:
        """Return the value that was typed, as JSON holds it."""

    def accept(self, value: Any) -> Any:
        """Return the field's value for a value as JSON holds it."""


@dataclass(frozen=True)
class OnOff:
    """On or off."""

    control: ClassVar[str] = "checkbox"

    def read(self, text: str) -> bool:
        return text in ("true", "on", "1")

    def accept(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        raise InvalidValue(f"{quoted(value)} is not true or false")


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `least` to `most`; where it is `optional`, empty means no limit."""

    control: ClassVar[str] = "number"
    least: int
    most: int
    optional: bool = False

    def read(self, text: str) -> Any:
        if not text and self.optional:
            return None
        return int(text) if _is_digits(text) else text

    def accept(self, value: Any) -> int | None:
        if value is None and self.optional:
            return None
        if _is_whole(value) and self.least <= value <= self.most:
            return int(value)
        empty = ", or empty for no limit" if self.optional else ""
        raise InvalidValue(
            f"{quoted(value)} is not a whole number from {self.least} to {self.most}{empty}"
        )


@dataclass(frozen=True)
class WholeNumbers:
    """Whole numbers from `least` to `most`, one of which is drawn."""

    control: ClassVar[str] = "text"
    least: int
    most: int
    count: int = 50  # of numbers at most

    def read(self, text: str) -> Any:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [int(part) if _is_digits(part) else part for part in parts]

    def accept(self, value: Any) -> Draw:
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"{quoted(value)} is not a list; write {self._right}")
        if not 1 <= len(value) <= self.count:
            raise InvalidValue(f"has {len(value)} numbers; write {self._right}")
        for each in value:
            WholeNumber(self.least, self.most).accept(each)
        return Draw(tuple(value))

    @property
    def _right(self) -> str:
        return (
            f"1 to {self.count} whole numbers from {self.least} to {self.most}, separated by commas"
        )


@dataclass(frozen=True)
class Number:
    """A number from `least` to `most`."""

    control: ClassVar[str] = "number"
    least: float
    most: float

    def read(self, text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            return text

    def accept(self, value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and math.isfinite(value) and self.least <= value <= self.most:
            return float(value)
        raise InvalidValue(f"{quoted(value)} is not a number from {self.least:g} to {self.most:g}")


@dataclass(frozen=True)
class Text:
    """A text of at most `most` characters; where it is `optional`, it may be empty."""

    control: ClassVar[str] = "text"
    most: int
    optional: bool = False

    def read(self, text: str) -> Any:
        return text

    def accept(self, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidValue(f"{quoted(value)} is not a text")
        if not value.strip() and not self.optional:
            raise InvalidValue(f"is empty; write a text of at most {self.most} characters")
        if len(value.strip()) > self.most:
            raise InvalidValue(f"has {len(value.strip())} characters; write at most {self.most}")
        return value.strip()


@dataclass(frozen=True)
class WordList:
    """Words in lower case, of at most `most` characters together; there may be none."""

    control: ClassVar[str] = "textarea"
    most: int

    def read(self, text: str) -> Any:
        return text.replace(",", " ").split()

    def accept(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(e, str) for e in value):
            raise InvalidValue(f"{quoted(value)} is no list of words; separate them by commas")
        if (count := sum(map(len, value))) > self.most:
            raise InvalidValue(f"have {count} characters; write at most {self.most} of them")
        return tuple(dict.fromkeys(each.lower() for each in value))


@dataclass(frozen=True)
class TextLines:
    """Texts, one per line; there may be none."""

    control: ClassVar[str] = "textarea"
    most_lines: int
    longest: int  # characters of one

    def read(self, text: str) -> Any:
        return [line.strip() for line in text.splitlines() if line.strip()]

    def accept(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"{quoted(value)} is not a list of texts")
        if len(value) > self.most_lines:
            raise InvalidValue(f"has {len(value)} lines; write at most {self.most_lines}")
        for each in value:
            Text(self.longest).accept(each)
        return tuple(each.strip() for each in value)


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    control: ClassVar[str] = "select"
    options: tuple[str, ...]

    def read(self, text: str) -> Any:
        return text

    def accept(self, value: Any) -> str:
        if isinstance(value, str) and value in self.options:
            return value
        raise InvalidValue(f"{quoted(value)} is none of {', '.join(self.options)}")


def quoted(value: Any) -> str:
    """Return a wrong value as a complaint repeats it."""
    text = str(value)
    return f"“{text[:LONGEST_SHOWN]}…”" if len(text) > LONGEST_SHOWN else f"“{text}”"


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
