"""Values that a requester types, and their parsers: complaints name field, value and remedy.

Nothing that leaves here can fail to be stored: no NUL, no lone surrogate, no number out of range.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext as _

from webapp import languages

Parse = Callable[[str], Any]
Raw = Mapping[str, str]
Parsed = TypeVar("Parsed")
# ISO 4217: the codes of money that people are paid in, not those of metals, funds and tests.
CODES = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR
MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR
SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX
USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
"""
CURRENCIES = frozenset(CODES.split())
MOST_BUDGET = 10_000_000
DECIMAL_COMMA = re.compile(r"([0-9]{1,5}),([0-9]{1,2})")
LONGEST_SHOWN = 60  # characters of a wrong value that a complaint repeats


class BadField(ValueError):
    """The complaint about one value."""


class Invalid(ValueError):
    """Everything that is wrong with a form: field name to complaint."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


def parse_all(raw: Raw, parsers: Mapping[str, Parse]) -> dict[str, Any]:
    """Return every field's value, or raise `Invalid` with a complaint for each wrong one."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, parse in parsers.items():
        try:
            values[name] = parse(raw.get(name, ""))
        except BadField as problem:
            problems[name] = str(problem)
    if problems:
        raise Invalid(problems)
    return values


def shown(value: object) -> str:
    """Return a wrong value as a complaint repeats it."""
    text = str(value)
    return f"“{text[:LONGEST_SHOWN]}…”" if len(text) > LONGEST_SHOWN else f"“{text}”"


def text(*, most: int, least: int = 1) -> Parse:
    """A text of `least` to `most` characters, without what a database cannot hold."""

    def parse(raw: str) -> str:
        value = raw.replace("\r\n", "\n").strip()
        if not storable(value):
            raise BadField(_("has characters that cannot be stored; please type it again"))
        if len(value) < least:
            raise BadField(_("is empty; write something here"))
        if len(value) > most:
            raise BadField(
                _("has %(count)d characters; write at most %(most)d")
                % {"count": len(value), "most": most}
            )
        return value

    return parse


def whole(*, least: int, most: int) -> Parse:
    """A whole number from `least` to `most`."""

    def parse(raw: str) -> int:
        value = raw.strip()
        if value.isascii() and value.isdigit() and len(value) < 20 and least <= int(value) <= most:
            return int(value)
        raise BadField(
            _("%(value)s is not a whole number from %(least)d to %(most)d")
            % {"value": shown(value), "least": least, "most": most}
        )

    return parse


def money(*, most: int = 10_000, positive: bool = False) -> Parse:
    """An amount with at most two decimals."""

    def parse(raw: str) -> Decimal:
        if (comma := DECIMAL_COMMA.fullmatch(raw.strip())) is not None:
            about = {"value": shown(raw), "right": f"{comma[1]}.{comma[2]}"}
            raise BadField(_("%(value)s: write %(right)s") % about)
        try:
            value = Decimal(raw.strip()) if len(raw) < 20 else Decimal("NaN")
        except InvalidOperation:
            value = Decimal("NaN")
        fits = value.is_finite() and 0 <= value <= most and value == round(value, 2)
        if not fits or (positive and value == 0):
            raise BadField(
                _("%(value)s is not an amount from %(least)s to %(most)d with at most two decimals")
                % {"value": shown(raw), "least": "0.01" if positive else "0", "most": most}
            )
        return round(value, 2)

    return parse


def optional_text(*, most: int) -> Parse:
    """A text of so many characters at most, or "" for none."""
    return lambda raw: text(most=most)(raw) if raw.strip() else ""


def optional_money(raw: str) -> Decimal | None:
    """An amount of up to ten million, or nothing."""
    return money(most=MOST_BUDGET, positive=True)(raw) if raw.strip() else None


def number(
    *,
    most: float,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Parse:
    """A number from `least`, or above `above`, up to `most`, or below `below`; three decimals."""

    def fits(value: Decimal) -> bool:
        return (
            (least is None or value >= least)
            and (above is None or value > above)
            and (value <= most if below is None else value < below)
            and value == round(value, 3)
        )

    def parse(raw: str) -> Decimal:
        try:
            value = Decimal(raw.strip()) if len(raw) < 20 else Decimal("NaN")
        except InvalidOperation:
            value = Decimal("NaN")
        if value.is_finite() and fits(value):
            return value
        start = _("above %(end)g") if least is None else _("from %(end)g")
        stop = _("up to %(end)g") if below is None else _("below %(end)g")
        about = {
            "value": shown(raw),
            "start": start % {"end": above if least is None else least},
            "stop": stop % {"end": most if below is None else below},
        }
        complaint = _("%(value)s is not a number %(start)s and %(stop)s, such as 0.5")
        raise BadField(complaint % about)

    return parse


def optional(parse: Parse) -> Parse:
    """Return a parser that takes nothing as well, as None."""
    return lambda raw: parse(raw) if raw.strip() else None


def optional_whole(*, least: int, most: int) -> Parse:
    """A whole number within bounds, or nothing."""

    def parse(raw: str) -> int | None:
        return whole(least=least, most=most)(raw) if raw.strip() else None

    return parse


def one_of(choices: Mapping[str, str]) -> Parse:
    """One of the values of a list that maps each to its words."""

    def parse(raw: str) -> str:
        if raw in choices:
            return raw
        words = ", ".join(str(word) for word in choices.values())
        raise BadField(
            _("%(value)s is not a choice; choose one of: %(words)s")
            % {"value": shown(raw), "words": words}
        )

    return parse


def currency(raw: str) -> str:
    """A code of ISO 4217."""
    value = raw.strip().upper()
    if value in CURRENCIES:
        return value
    raise BadField(
        _("%(value)s is not a currency; write its code of three letters, such as USD or EUR")
        % {"value": shown(raw)}
    )


def language_codes(raw: str) -> list[str]:
    """Codes of languages that there are catalogs of, the usual one first; English where empty."""
    codes = [part.strip().lower() for part in raw.split(",") if part.strip()]
    for code in codes:
        if code not in languages.NAMES:
            right = ", ".join(languages.NAMES)
            raise BadField(
                _("%(value)s is not one of the languages; write some of %(right)s")
                % {"value": shown(code), "right": right}
            )
    return list(dict.fromkeys(codes)) or [languages.SOURCE]


def panel_address(raw: str) -> str:
    """An address of a panel that participants are led to, or none."""
    value = raw.strip()
    if not value:
        return ""
    try:
        URLValidator(schemes=["https"])(value)
    except ValidationError:
        value = ""
    if not value or len(value) > 200:
        raise BadField(
            _("%(value)s is not a web address of at most 200 characters; it begins with https://")
            % {"value": shown(raw)}
        )
    return value


def completion_address(raw: str) -> str:
    """An address that takes the code of a participant, or none."""
    value = panel_address(raw)
    if value and "{code}" not in value:
        right = f"{value}{'&' if '?' in value else '?'}{'own' if 'cc=' in value else 'cc'}={{code}}"
        complaint = _(
            "has no {code} where the participant's own code goes; write it, such as in %(right)s"
        )
        raise BadField(complaint % {"right": right})
    return value


def yes_no(raw: str) -> bool:
    """A box that was ticked, or was not sent at all."""
    return raw in ("true", "on", "1")


def storable(value: object) -> bool:
    """Tell whether JSON and every database can hold a value."""
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
        written.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return "\\u0000" not in written and "\0" not in written
