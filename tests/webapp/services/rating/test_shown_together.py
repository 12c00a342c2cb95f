"""Several replies on one page: which are shown together, in which order, and what is stored.

Rules V3, V4, V10.
"""

from __future__ import annotations

import importlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from evaluation import InvalidAnswers
from evaluation.rating import Rate
from tests.asking import PROTOCOL, more_protocols
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import join
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Campaign, Candidate, Item, QuotaCell, Rating
from webapp.services.campaign import checklist, contexts_import
from webapp.services.data import tables
from webapp.services.participation import enrolment
from webapp.services.rating import context_items, form, items, one_kind, submission

pytestmark = pytest.mark.django_db
SYSTEMS = ("alpha", "beta", "gamma")
Toy = Callable[..., Campaign]


def rows_of(count: int, systems: tuple[str, ...] = SYSTEMS, **more: Any) -> list[dict[str, Any]]:
    """Return contexts, each with a reply of every system that no other one gives."""
    return [
        {
            "id": f"k{n}",
            "messages": [f"Question {n}?"],
            "replies": {name: f"Answer {n}{name[0]}." for name in systems},
            **more,
        }
        for n in range(count)
    ]


def filled(protocol: str, rows: list[dict[str, Any]], **changes: Any) -> Campaign:
    """Return an open campaign of these contexts and replies, with its items made."""
    campaign = make_campaign(protocol, personas=0, state="DRAFT", changes=changes)
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    campaign.systems.all().delete()
    text = "\n".join(map(json.dumps, rows))
    contexts_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW)
    context_items.make(campaign, at_launch=True)
    Campaign.objects.filter(pk=campaign.pk).update(state="OPEN")
    return Campaign.objects.get(pk=campaign.pk)


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Toy]:
    """Make a campaign of a protocol that consists of one `Rate`."""
    with more_protocols(tmp_path):

        def made(rate: str, rows: list[dict[str, Any]], **changes: Any) -> Campaign:
            name = f"asks_toy_{sha256(rate.encode()).hexdigest()[:12]}"
            text = PROTOCOL.format(name=name, kind="yes_no", steps=rate)
            text = text.replace("YesNo\n", "YesNo, Preference, Ranking\n", 1)
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
            importlib.invalidate_caches()
            return filled(name, rows, **changes)

        yield made


PAIRS = 'Rate(each=(), together=(get_kind("preference").sample(),), over="contexts", show="pairs")'


def systems_of(item: Item) -> list[str]:
    return sorted(item.candidates.values_list("system__name", flat=True))


def text_of(candidate: Candidate) -> str:
    return str(candidate.conversation.events.get(seq=candidate.seq or 0).content["text"])


# --- which ------------------------------------------------------------------------------------


def test_all_replies_to_a_context_are_one_item_under_keys_that_tell_nothing() -> None:
    """S11: a number is not always the same system."""
    campaign = filled("reply_ranking", rows_of(12))
    made = list(campaign.items.all())
    assert [systems_of(item) for item in made] == [[*SYSTEMS]] * 12
    assert {item.conversation for item in made} == {None}
    numbers = defaultdict(set)
    for candidate in Candidate.objects.select_related("system", "item"):
        numbers[candidate.system.name].add(candidate.key.partition("n")[2])
        assert candidate.system.name not in candidate.key + candidate.item.key
    assert all(found == {"1", "2", "3"} for found in numbers.values())
    assert context_items.make(campaign, at_launch=True) == 0, "a repeat adds nothing"


def test_every_two_systems_meet_once_per_context_or_each_meets_the_first(toy: Toy) -> None:
    campaign = toy(PAIRS, rows_of(2))
    met = Counter(tuple(systems_of(item)) for item in campaign.items.all())
    assert met == dict.fromkeys(combinations(SYSTEMS, 2), 2)
    campaign = toy(PAIRS, rows_of(2), **{"rate.with_first": True})
    met = Counter(tuple(systems_of(item)) for item in campaign.items.all())
    assert met == {("alpha", "beta"): 2, ("alpha", "gamma"): 2}


def test_two_replies_of_one_system_are_never_a_pair(toy: Toy) -> None:
    rows = [{"id": "k", "messages": ["Q?"], "replies": {"alpha": ["One.", "Two."], "beta": "B."}}]
    campaign = toy(PAIRS, rows)
    assert [systems_of(item) for item in campaign.items.all()] == [["alpha", "beta"]] * 2
    texts = {
        tuple(
            sorted(
                c.conversation.events.get(seq=c.seq or 0).content["text"]
                for c in i.candidates.all()
            )
        )
        for i in campaign.items.all()
    }
    assert texts == {("B.", "One."), ("B.", "Two.")}


def test_replies_that_are_shown_together_wait_for_the_launch() -> None:
    """Before it nobody knows whether more will come."""
    campaign = filled("reply_ranking", rows_of(3))
    Candidate.objects.all().delete()
    campaign.items.all().delete()
    assert context_items.make(campaign) == 0
    assert context_items.make(campaign, at_launch=True) == 3


def test_a_context_without_a_reply_of_the_first_is_named_where_all_are_compared_with_it(
    toy: Toy,
) -> None:
    rows = rows_of(2)
    rows[1]["replies"] = {"beta": "B.", "gamma": "C."}
    assert context_items.without_items(toy(PAIRS, rows)) == []
    campaign = toy(PAIRS, rows, **{"rate.with_first": True})
    assert context_items.without_items(campaign) == ["k1"]


def test_a_context_with_one_reply_is_named_before_the_launch() -> None:
    rows = rows_of(2)
    rows[1]["replies"] = {"alpha": "Alone."}
    campaign = filled("reply_ranking", rows)
    (check,) = (c for c in checklist.checklist(campaign, NOW) if c.name == "Replies shown together")
    assert not check.ok
    assert "k1" in check.text
    assert "k0" not in check.text


def test_what_compares_replies_cannot_be_asked_of_one() -> None:
    ranking, preference = (
        importlib.import_module(f"evaluation.kinds.{kind}").KIND.sample()
        for kind in ("ranking", "preference")
    )
    with pytest.raises(ValueError, match="shown together"):
        Rate(each=(ranking,), over="contexts")
    with pytest.raises(ValueError, match="belongs into each, not into together"):
        Rate(each=(), together=(ranking,), over="contexts", show="all")
    with pytest.raises(ValueError, match="belongs into together, not into each"):
        Rate(each=(preference,), over="contexts", show="pairs")
    with pytest.raises(ValueError, match="only replies to contexts"):
        Rate(each=(ranking,), over="partner", show="all")


# --- to whom, and in which order --------------------------------------------------------------


def test_each_rater_sees_the_replies_in_an_order_of_their_own_that_stays() -> None:
    campaign = filled("reply_ranking", rows_of(1), **{"rate.votes": 30, "rate.batch": 1})
    orders: Counter[tuple[str, ...]] = Counter()
    for _ in range(30):
        person = enrolment.start(person=join(campaign), now=NOW)
        mine = form.of(person)
        assert mine is not None
        assert [reply.letter for reply in mine.replies] == ["A", "B", "C"]
        assert mine.shown == form.of(person).shown  # type: ignore[union-attr]
        orders[tuple(reply.text for reply in mine.replies)] += 1
        assert [(line.text, line.judged) for line in mine.lines] == [("Question 0?", False)]
    assert len(orders) == 6, "all orders of three occur among thirty"


@pytest.mark.parametrize(("keep", "kinds"), [("group", 3), ("system", 3)])
def test_a_rater_stays_with_one_data_set_or_one_system_and_all_get_as_many(
    toy: Toy, keep: str, kinds: int
) -> None:
    rows = [{**row, "dataset": f"set{n % 3}"} for n, row in enumerate(rows_of(9))]
    rate = f'Rate(each=(ASKED,), over="contexts", keep="{keep}", votes=6, batch=3)'
    campaign = toy(rate, rows)
    seen: Counter[str] = Counter()
    for _ in range(12):
        person = enrolment.start(person=join(campaign), now=NOW)
        path = "item__context__group" if keep == "group" else "item__candidates__system__name"
        found = set(person.assignments.values_list(path, flat=True))
        assert len(found) == 1
        assert person.assignments.count() == 3
        seen[found.pop()] += 1
    assert len(seen) == kinds
    assert set(seen.values()) == {4}, "as many people for each"


def test_raters_of_another_campaign_do_not_count_for_its_kinds(toy: Toy) -> None:
    """Kinds have names that campaigns share: the data sets, the systems."""
    rows = [{**row, "dataset": f"set{n % 2}"} for n, row in enumerate(rows_of(8))]
    rate = 'Rate(each=(ASKED,), over="contexts", keep="group", votes=6, batch=2)'
    campaign, beside = toy(rate, rows), toy(rate, rows)
    for made, name, count in ((campaign, "set0", 1), (beside, "set1", 2)):
        (item, *_) = made.items.filter(context__group=name)
        for _ in range(count):
            Assignment.objects.create(item=item, participation=join(made), place=0, state="DONE")
    person = enrolment.start(person=join(campaign), now=NOW)
    assert set(person.assignments.values_list("item__context__group", flat=True)) == {"set1"}


def test_what_was_given_back_does_not_count_for_its_kind(toy: Toy) -> None:
    rows = [{**row, "dataset": f"set{n % 2}"} for n, row in enumerate(rows_of(8))]
    rate = 'Rate(each=(ASKED,), over="contexts", keep="group", votes=6, batch=2)'
    campaign = toy(rate, rows)
    for name, state in (("set0", "RELEASED"), ("set0", "RELEASED"), ("set1", "DONE")):
        (item, *_) = campaign.items.filter(context__group=name)
        Assignment.objects.create(item=item, participation=join(campaign), place=0, state=state)
    person = enrolment.start(person=join(campaign), now=NOW)
    assert set(person.assignments.values_list("item__context__group", flat=True)) == {"set0"}


def test_who_comes_back_keeps_the_kind_they_had(toy: Toy) -> None:
    rows = [{**row, "dataset": f"set{n % 2}"} for n, row in enumerate(rows_of(8))]
    campaign = toy('Rate(each=(ASKED,), over="contexts", keep="group", batch=2)', rows)
    person = enrolment.start(person=join(campaign), now=NOW)
    before = set(person.assignments.values_list("item__context__group", flat=True))
    person.assignments.update(state="RELEASED")
    again = items.assign(person=person, now=NOW)
    assert {one.item.context.group for one in again if one.item.context} == before


def test_an_item_with_a_known_answer_settles_no_kind(toy: Toy) -> None:
    rows = [{**row, "dataset": f"set{n % 2}"} for n, row in enumerate(rows_of(8))]
    campaign = toy('Rate(each=(ASKED,), over="contexts", keep="group", batch=2)', rows)
    person = join(campaign)
    first = campaign.items.filter(context__group="set0")
    Assignment.objects.create(item=first[0], participation=person, place=0, state="DONE")
    first.update(known=True, target=0)
    found = one_kind.kept_to(items.open_items(campaign), person)
    assert set(found.values_list("context__group", flat=True)) == {"set1"}
    assert one_kind.kinds_of(campaign) == {}
    Assignment.objects.create(item=found[0], participation=person, place=1, state="DONE")
    assert one_kind.kinds_of(campaign) == {person.pk: ["set1"]}
    beside = toy('Rate(each=(ASKED,), over="contexts", keep="group", batch=2)', rows)
    assert one_kind.kinds_of(beside) == {}


@pytest.mark.parametrize(
    ("count", "first", "last"), [(8, "A", "H"), (9, "A", "I"), (10, "1", "10"), (11, "1", "11")]
)
def test_a_list_is_numbered_where_a_few_replies_have_letters(
    count: int, first: str, last: str
) -> None:
    replies = {f"s{number:02}": f"Answer {number}." for number in range(count)}
    rows = [{"id": "k", "messages": ["Hi?"], "replies": replies}]
    campaign = filled("reply_ranking", rows, **{"rate.votes": 1, "rate.batch": 1})
    mine = form.of(enrolment.start(person=join(campaign), now=NOW))
    assert mine is not None
    assert (mine.replies[0].letter, mine.replies[-1].letter) == (first, last)


# --- what is stored ---------------------------------------------------------------------------


def ranked(person: Any, order: tuple[int, ...]) -> dict[str, str]:
    mine = form.of(person)
    assert mine is not None
    return {
        f"{reply.key}.quality": str(position)
        for reply, position in zip(mine.replies, order, strict=True)
    }


def test_ranks_are_stored_per_reply_and_stand_in_the_table_with_their_place_on_the_page() -> None:
    campaign = filled("reply_ranking", rows_of(1), **{"rate.votes": 1, "rate.batch": 1})
    person = enrolment.start(person=join(campaign), now=NOW)
    mine = form.of(person)
    assert mine is not None
    texts = [reply.text for reply in mine.replies]
    submission.submit(person=person, answers=ranked(person, (2, 3, 1)), now=NOW)
    rows = tables.ratings(campaign).set_index("place").sort_index()
    assert list(rows["value"]) == [2.0, 3.0, 1.0]
    named = [f"Answer 0{name[0]}." for name in rows["system"]]
    assert named == texts
    assert set(rows["item"]) == {"k0:all"}
    assert set(rows["level"]) == {"rank"}
    assert set(rows["context"]) == {"k0"}


def test_a_tie_is_refused_and_nothing_is_stored() -> None:
    campaign = filled("reply_ranking", rows_of(1), **{"rate.votes": 1, "rate.batch": 1})
    person = enrolment.start(person=join(campaign), now=NOW)
    with pytest.raises(InvalidAnswers, match="Position 2 is given 2 times"):
        submission.submit(person=person, answers=ranked(person, (2, 2, 1)), now=NOW)
    assert not Rating.objects.exists()
    assert Assignment.objects.get().state == "RESERVED"


def test_a_preference_sent_twice_is_stored_once_and_the_next_pair_is_not_touched(toy: Toy) -> None:
    """R19: the fields have names of their item, and a form of one question has no reply's key."""
    campaign = toy(PAIRS.replace('"pairs")', '"pairs", batch=2)'), rows_of(2, SYSTEMS[:2]))
    person = enrolment.start(person=join(campaign), now=NOW)
    mine = form.of(person)
    assert mine is not None
    answers = {f"{mine.shown.together}.better": mine.shown.candidates[1]}
    for _ in range(2):
        assert submission.submit(person=person, answers=answers, now=NOW) is None
    stored = Rating.objects.order_by("candidate__key").values_list("candidate__key", "value")
    lost, won = mine.shown.candidates
    assert dict(stored) == {lost: "lost", won: "won"}
    assert person.assignments.filter(state="DONE").count() == 1
    table = tables.ratings(campaign, include_excluded=True)
    assert dict(zip(table["place"], table["value"], strict=True)) == {0: 2.0, 1: 1.0}


def test_a_tie_is_one_rank_for_all_and_is_named(toy: Toy) -> None:
    campaign = toy(PAIRS, rows_of(1, SYSTEMS[:2]))
    person = enrolment.start(person=join(campaign), now=NOW)
    mine = form.of(person)
    assert mine is not None
    answers = {f"{mine.shown.together}.better": "neither"}
    submission.submit(person=person, answers=answers, now=NOW)
    table = tables.ratings(campaign)
    assert list(table["value"]) == [1.0, 1.0]
    assert set(table["chosen"]) == {"neither"}


def test_labels_of_replies_shown_together_are_items_of_their_own(toy: Toy) -> None:
    """Agreement is over replies: two of one page must not count as one item rated twice."""
    rate = 'Rate(each=(ASKED,), over="contexts", show="all", votes=2)'
    campaign = toy(rate, rows_of(1))
    for _ in range(2):
        person = enrolment.start(person=join(campaign), now=NOW)
        mine = form.of(person)
        assert mine is not None
        (question,) = mine.rate.each
        answers = {f"{key}.{question.name}": "1" for key in mine.shown.candidates}
        submission.submit(person=person, answers=answers, now=NOW)
    table = tables.ratings(campaign)
    assert table["item"].nunique() == 3
    assert set(table.groupby("item")["rater"].nunique()) == {2}
    assert set(table.groupby("item")["system"].nunique()) == {1}


def test_the_page_shows_no_name_of_a_system_and_keeps_what_was_answered(toy: Toy) -> None:
    campaign = filled("reply_ranking", rows_of(1), **{"rate.votes": 1, "rate.batch": 1})
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    page = visit.get().content.decode()
    assert page.count('class="reply"') == 3
    names = [field.name for field in visit.get().context["fields"]]
    refused = visit.post("rate", dict(zip(names, ("1", "1", "3"), strict=True)))
    assert refused.status_code == 422
    assert [field.value for field in refused.context["fields"]] == ["1", "1", "3"]
    told = "\n".join(visit.told)
    assert not any(f'"{name}"' in told or f">{name}<" in told for name in SYSTEMS)
    done = visit.post("rate", dict(zip(names, ("2", "1", "3"), strict=True)))
    assert done.context["screen"].end.code
