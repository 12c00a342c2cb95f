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
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import QuerySet

from evaluation import Protocol, Question, Rate, serialized
from webapp.models import Assignment, Campaign, Contribution, ExternalId, Item, Participation
from webapp.services.data import answers, codebook, contribution_rows, tables
from webapp.services.rating import one_kind, third_parties
from webapp.services.rules.flags import ATTENTION
from webapp.services.rules.protocols import protocol_of

BROKEN = "broken_rules.csv"
COLUMNS = tuple(codebook.BROKEN_RULES)
DONE = Assignment.State.DONE
REFUSED = str(Contribution.State.REFUSED)
FAILED = {str(Participation.Outcome(each).label) for each in answers.NOT_ONBOARD}
CHECK_FAILED = str(Participation.Outcome.CHECK_FAILED.label)
WHY = {
    third_parties.OWN_CONVERSATION: "took part in it",
    third_parties.BEFORE: "judged its conversation in another campaign",
    third_parties.OWN_TEXT: "wrote it",
}
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


class Checked(NamedTuple):
    """What was looked at, and what is broken of it."""

    broken: list[Violation]
    answers: int
    raters: int
    items: int
    unknown: int = 0  # raters whose ids are deleted, where that matters

    def __str__(self) -> str:
        looked = f"{self.answers} answers of {self.raters} raters about {self.items} items"
        gone = f"; ids of {self.unknown} are deleted: where else they took part is unknown"
        return looked + (gone if self.unknown else "")


def of_campaign(campaign: Campaign) -> Checked:
    """Return what is broken in the database."""
    table = tables.ratings(campaign, include_excluded=True)
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    people = Participation.objects.filter(campaign=campaign, assignments__state=DONE).distinct()
    matters = third_parties.keeps_people_out(campaign)
    unknown = people.exclude(pk__in=_with_id(campaign)).count() if matters else 0
    found = [*violations(protocol_of(campaign), rows), *id_violations(campaign)]
    texts = list(contribution_rows.contribution_rows(campaign))
    found += of_texts(protocol_of(campaign), texts)
    rows += [_as_answer(text) for text in texts]
    return _checked(found, rows)._replace(unknown=unknown)


def of_export(path: Path) -> Checked:
    """Return what is broken in the export of a campaign, or of a study's campaigns."""
    with zipfile.ZipFile(path) as archive:
        rows = _table(archive, "ratings_all.csv")
        written = _table(archive, "contributions.csv")
        found = [Violation(*(row[name] for name in COLUMNS)) for row in _table(archive, BROKEN)]
        for name in (each for each in archive.namelist() if each.endswith("protocol.json")):
            protocol = serialized.from_json(json.loads(archive.read(name)))
            campaign = name.rpartition("/")[0]
            mine = [row for row in rows if campaign in ("", row["campaign"])]
            found += violations(protocol, mine)
            texts = [row for row in written if campaign in ("", row["campaign"])]
            found += of_texts(protocol, texts)
    return _checked(found, [*rows, *map(_as_answer, written)])


def _table(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(archive.read(name).decode(), newline="")))


def _checked(found: list[Violation], rows: Rows) -> Checked:
    raters, items = ({row[name] for row in rows} for name in ("rater", "item"))
    return Checked(found, len(rows), len(raters), len(items))


def violations(protocol: Protocol, rows: Rows) -> list[Violation]:
    """Return what is broken in rows of ratings."""
    found: list[Violation] = []
    if protocol.attention and protocol.attention.ends:  # others judge what those people judged
        rows = [row for row in rows if not _ended_inattentive(row)]
    found += _onboarding(protocol, rows)
    rows = [row for row in rows if not _is_known(row)]
    for rate in protocol.rates:
        names = {question.name for question in rate.questions}
        mine = [row for row in rows if row["question"] in names]
        found += [*_twice(mine), *_one_kind(rate, mine), *_gates(rate, mine)]
        found += _votes(mine) if rate.is_shared else ()
        for question in rate.questions:
            found += _ranks(question, [row for row in mine if row["question"] == question.name])
    return found


def _ended_inattentive(row: Mapping[str, Any]) -> bool:
    kinds = str(row.get("flags", "")).split(";")
    return row.get("excluded") == CHECK_FAILED and ATTENTION in kinds


def of_texts(protocol: Protocol, rows: Rows) -> Iterator[Violation]:
    """Yield who wrote twice about one thing, and what more people wrote about than are wanted.

    What was refused is asked of somebody else, so it counts for nobody.
    """
    write = protocol.write
    firsts = [row for row in rows if row["about"] and int(row["number"]) == 1]
    keys = Counter((row["participant"], row["about"]) for row in firsts)
    for (writer, about), count in keys.items():
        if count > 1:
            yield Violation("twice", writer, about, f"is written {count} times")
    stands = Counter(row["about"] for row in firsts if row["state"] != REFUSED)
    for about, count in stands.items():
        if write is not None and count > write.writers:
            yield Violation("writers", "", about, f"has {count} writers, not {write.writers}")


def _as_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a text as what is looked at: by whom, and about what."""
    return {"rater": row["participant"], "item": row["about"] or row["contribution"]}


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


def _onboarding(protocol: Protocol, rows: Rows) -> Iterator[Violation]:
    """Yield who judged anything before all items with known answers, or after failing on them."""
    if protocol.onboarding is None:
        return
    wanted = protocol.onboarding.items
    known, others = _first_times(rows, known=True), _first_times(rows, known=False)
    for rater, items in others.items():
        tried = known.get(rater, {})
        for item, at in sorted(items.items()):
            count = sum(begun <= at for begun in tried.values())
            if count < wanted:
                why = f"judged after {count} of {wanted} items with known answers"
                yield Violation("onboarding", rater, item, why)
    failed = {(row["rater"], _key(row)) for row in rows if row.get("excluded") in FAILED}
    for rater, item in sorted(failed):
        yield Violation("onboarding", rater, item, "judged by who was below the share")


def _first_times(rows: Rows, *, known: bool) -> dict[str, dict[str, datetime]]:
    """Return when each rater judged each item first, of those with known answers or the others."""
    found: dict[str, dict[str, datetime]] = defaultdict(dict)
    for row in rows:
        if _is_known(row) == known:
            at, items = datetime.fromisoformat(row["given_at"]), found[row["rater"]]
            items[_key(row)] = min(at, items.get(_key(row), at))
    return found


def _is_known(row: Mapping[str, Any]) -> bool:
    """Tell whether an item's answers are known: it wants no votes, whoever is set aside."""
    return row.get("excluded") == answers.KNOWN or float(row["votes"]) == 0


def _key(row: Mapping[str, Any]) -> str:
    """Return the item, without the reply of several that a row is about."""
    return str(row["item"]).removesuffix(f":{row['conversation']}")


def id_violations(campaign: Campaign) -> Iterator[Violation]:
    """Yield who judged, or revised, what they said, wrote or judged in another campaign.

    Yields too who judged another kind there, where raters are kept to one over a study.

    Only the database knows: a person has another pseudonym in every campaign. An export has a row
    for what is broken, and nothing about anybody else.
    """
    people = Participation.objects.filter(campaign=campaign, pk__in=_with_id(campaign))
    people = people.filter(assignments__state=DONE).distinct().select_related("campaign")
    yield from _other_arms(campaign, people)
    if not third_parties.keeps_people_out(campaign):
        return
    for person in people:
        done = Item.objects.filter(assignments__participation=person, assignments__state=DONE)
        for rule, closed in third_parties.closed_to(done.shared(), person):
            for item in closed.order_by("pk"):
                yield Violation(rule, person.pseudonym, item.key, WHY[rule])


def _other_arms(campaign: Campaign, people: QuerySet[Participation]) -> Iterator[Violation]:
    kinds = one_kind.kinds_of(campaign)
    for person in people if kinds and campaign.study_id is not None else ():
        before, found = one_kind.drawn_before(person), kinds.get(person.pk, [])
        for kind in found if before is not None else ():
            if kind != before:
                why = f"judged {kind}, and {before} was drawn before in this study"
                yield Violation("arm", person.pseudonym, kind, why)


def id_rule_rows(campaign: Campaign) -> Iterator[dict[str, str]]:
    """Yield the same as rows of an export."""
    return (violation._asdict() for violation in id_violations(campaign))


def _with_id(campaign: Campaign) -> QuerySet[ExternalId, int]:
    known = ExternalId.objects.filter(participation__campaign=campaign)
    return known.values_list("participation", flat=True)


def _same(one: Any, other: Any) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return str(one) == str(other)


def _list(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
