"""Rules of who judges what, looked for in the answers of a campaign or of its export.

Apart because the rules are read off rows: they hold whoever shared the items out, and are told by
rule, person and item.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evaluation import Protocol, Question, Rate, serialized
from webapp.models import Campaign, ExternalId, Item, Participation
from webapp.services.data import answers, tables
from webapp.services.rating import third_parties
from webapp.services.rules.protocols import protocol_of

Rows = Sequence[Mapping[str, Any]]


class Violation(NamedTuple):
    """A rule that is broken, by whom and about what; "" where it is about nobody or nothing."""

    rule: str
    rater: str
    item: str
    why: str

    def __str__(self) -> str:
        about = "; ".join(filter(None, (self.rater, self.item)))
        return f"{self.rule}: {about}: {self.why}"


def of_campaign(campaign: Campaign) -> list[Violation]:
    """Return what is broken in the database."""
    table = tables.ratings(campaign, include_excluded=True)
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    return [*violations(protocol_of(campaign), rows), *_own_conversations(campaign)]


def of_export(path: Path) -> list[Violation]:
    """Return what is broken in an export; whose conversation it was does not stand there."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read("ratings_all.csv").decode()
        protocol = serialized.from_json(json.loads(archive.read("protocol.json")))
    return violations(protocol, list(csv.DictReader(io.StringIO(text, newline=""))))


def violations(protocol: Protocol, rows: Rows) -> list[Violation]:
    """Return what is broken in rows of ratings."""
    found: list[Violation] = []
    rows = [row for row in rows if row.get("excluded") != answers.KNOWN]
    for rate in protocol.rates:
        names = {question.name for question in rate.questions}
        mine = [row for row in rows if row["question"] in names]
        found += [*_twice(mine), *_one_kind(rate, mine), *_gates(rate, mine)]
        found += _votes(mine) if rate.is_shared else ()
        for question in rate.questions:
            found += _ranks(question, [row for row in mine if row["question"] == question.name])
    return found


def _twice(rows: Rows) -> Iterator[Violation]:
    keys = ("rater", "item", "conversation", "message_seq", "question")
    for key, count in Counter(tuple(row[name] for name in keys) for row in rows).items():
        if count > 1:
            yield Violation("twice", key[0], key[1], f"{key[-1]} is answered {count} times")


def _votes(rows: Rows) -> Iterator[Violation]:
    raters: dict[str, set[str]] = defaultdict(set)
    wanted = {row["item"]: int(float(row["votes"])) for row in rows}
    for row in rows:
        raters[row["item"]].add(row["rater"])
    for item, people in raters.items():
        if len(people) != wanted[item]:
            yield Violation("votes", "", item, f"has {len(people)} raters, not {wanted[item]}")


def _one_kind(rate: Rate, rows: Rows) -> Iterator[Violation]:
    """Yield who met two kinds of what the protocol keeps apart."""
    kinds = {"group": ("dataset",), "system": ("system",), "": ()}[rate.keep]
    if rate.over == "contexts" and rate.messages == (0, 0):
        kinds = (*kinds, "context", "character")
    for column in kinds:
        met: dict[str, dict[str, str]] = defaultdict(dict)
        for row in rows:
            met[row["rater"]].setdefault(row[column], row["item"])
        for rater, items in met.items():
            if len(items) > 1:
                why = f"judged {len(items)}: {', '.join(sorted(items))}"
                yield Violation(f"one {column}", rater, list(items.values())[1], why)


def _gates(rate: Rate, rows: Rows) -> Iterator[Violation]:
    """Yield answers that depend on another one and do not follow from it."""
    of_item = {
        (row["rater"], row["item"], row["conversation"], row["question"]): row["value"]
        for row in rows
    }
    gates = {each.name: (each.only_if, each.otherwise) for each in rate.questions if each.only_if}
    for (rater, item, conversation, name), value in of_item.items():
        gate, otherwise = gates.get(name, (None, None))
        if gate is None:
            continue
        answer = of_item.get((rater, item, conversation, gate.question))
        is_open = answer is not None and any(_same(answer, each) for each in gate.values)
        if not is_open and not _same(value, otherwise):
            why = f"{name} is {value} where {gate.question} is {answer}"
            yield Violation("only if", rater, item, why)


def _ranks(question: Question, rows: Rows) -> Iterator[Violation]:
    """Yield positions that are no permutation, and pairs without one winner that are no tie."""
    if question.level != "rank":
        return
    forms: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        forms[row["rater"], row["item"]].append(row)
    for (rater, item), shown in forms.items():
        positions = sorted(float(row["value"]) for row in shown)
        is_tie = set(positions) == {1.0} and len({row["chosen"] for row in shown} - {""}) == 1
        ranked = [float(n) for n in range(1, len(shown) + 1)]
        won = [1.0] + [2.0] * (len(shown) - 1)
        if question.compares == "each" and positions != ranked:
            yield Violation("permutation", rater, item, f"positions are {_list(positions)}")
        elif question.compares == "together" and positions != won and not is_tie:
            yield Violation("one winner", rater, item, f"ranks are {_list(positions)}")


def _own_conversations(campaign: Campaign) -> Iterator[Violation]:
    """Yield third parties who judged a conversation that they took part in."""
    if not third_parties.judges(campaign):
        return
    known = ExternalId.objects.filter(participation__campaign=campaign)
    people = Participation.objects.filter(campaign=campaign, pk__in=known.values("participation"))
    for person in people:
        judged = Item.objects.filter(assignments__participation=person, assignments__state="DONE")
        for item in judged.exclude(pk__in=third_parties.open_to(judged, person)):
            yield Violation("own conversation", person.pseudonym, item.key, "took part in it")


def _same(one: Any, other: Any) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return str(one) == str(other)


def _list(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
