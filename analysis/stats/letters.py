"""Compact letter display: which of several means cannot be told apart.

Apart because it is a paper's algorithm, on pairs of names alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def letters(order: Sequence[str], apart: Collection[frozenset[str]]) -> dict[str, str]:
    """Return a compact letter display: systems share a letter unless they are told apart.

    Insert and absorb (Piepho 2004, J. Computational and Graphical Statistics 13, 456-466); the
    first of `order` has the first letter.
    """
    columns = [frozenset(order)]
    for pair in sorted(apart, key=lambda each: sorted(map(order.index, each))):
        split = [column - {one} for column in columns if pair <= column for one in pair]
        columns = [column for column in columns if not pair <= column]
        columns += [one for one in split if not any(one <= other for other in columns)]
        columns = [one for one in columns if not any(one < other for other in columns)]
    columns = list(dict.fromkeys(columns))
    columns.sort(key=lambda column: sorted(map(order.index, column)))
    found = dict.fromkeys(order, "")
    for number, column in enumerate(columns):
        for name in order:
            found[name] += _letter(number) if name in column else ""
    return found


def _letter(number: int) -> str:
    """Return a, b, ... z, then a1, b1, ..."""
    again, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(again) if again else "")
