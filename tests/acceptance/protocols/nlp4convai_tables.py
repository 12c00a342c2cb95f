"""What rows of NLP4CONVAI read: printed tables, and who ranked what in an export."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

Row = Mapping[str, str]
RULED = re.compile(r"^-{10,}$")


def printed_tables(text: str) -> list[list[dict[str, str]]]:
    """Return the tables that a report printed, in order; a cell that is blank is left out.

    Cells are two spaces apart. A row lacks only its first ones, as of an unnamed data set.
    """
    lines, found = text.splitlines(), list[list[dict[str, str]]]()
    for number, line in enumerate(lines):
        if RULED.match(line):
            heads = re.split(r"\s{2,}", lines[number - 1].strip())
            found.append(list(_rows(heads, lines[number + 1 :])))
    return found


def _rows(heads: Sequence[str], lines: Iterable[str]) -> Iterator[dict[str, str]]:
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        if not line.strip() or len(cells) < 2:
            return
        yield dict(zip(heads[len(heads) - len(cells) :], cells, strict=True))


def compared(ratings: Iterable[Row], question: str) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Return the answers of a question about pairs, by the two systems in order of their names.

    An answer is which was preferred, 1, 2 or 0, and the name of the tie. Raises `ValueError` where
    ranks are no answer.
    """
    acts = defaultdict[tuple[str, str], dict[str, tuple[int, str]]](dict)
    for row in ratings:
        if row["question"] == question:
            acts[row["rater"], row["item"]][row["system"]] = (int(row["value"]), row["chosen"])
    found = defaultdict[tuple[str, str], list[tuple[int, str]]](list)
    for (rater, item), ranks in acts.items():
        one, other = sorted(ranks)
        (first, tie), (second, _) = ranks[one], ranks[other]
        if sorted((first, second)) != ([1, 1] if tie else [1, 2]):
            raise ValueError(f"{rater[:8]} ranked {item}: {ranks}")
        found[one, other].append((0 if tie else 1 if first < second else 2, tie))
    return dict(found)
