"""A ranking on its page: no ties, every place once; what is refused is not stored, and stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.services.judged import replies_campaign
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Rating

pytestmark = pytest.mark.django_db
SYSTEMS = ("alpha", "beta", "gamma")


def visit() -> Visit:
    """Return somebody whose page has three replies to rank."""
    replies = {name: f"Answer {number}." for number, name in enumerate(SYSTEMS)}
    rows = [{"id": "k", "messages": ["Question?"], "replies": replies}]
    found = Visit(replies_campaign("reply_ranking", rows, votes=1, batch=1))
    found.join()
    found.post("start")
    return found


def send(person: Visit, *ranks: str) -> Any:
    """Send the form with these ranks in the order of the page; an empty one is left out."""
    names = [field.name for field in person.get().context["fields"]]
    assert len(names) == len(SYSTEMS)
    return person.post(
        "rate", {name: rank for name, rank in zip(names, ranks, strict=True) if rank}
    )


@pytest.mark.parametrize(
    ("ranks", "complaint"),
    [
        (("1", "1", "3"), "Position 1 is given 2 times"),
        (("2", "2", "1"), "Position 2 is given 2 times"),
        (("3", "3", "3"), "Position 3 is given 3 times"),
        (("1", "2", ""), ""),
        (("", "", ""), ""),
        (("0", "1", "2"), ""),
        (("2", "3", "4"), ""),
        (("1", "2", "2.5"), ""),
    ],
)
def test_a_tie_a_gap_and_a_rank_that_is_none_are_refused(
    ranks: tuple[str, ...], complaint: str
) -> None:
    person = visit()
    refused = send(person, *ranks)
    assert refused.status_code == 422
    assert complaint in refused.content.decode()
    assert any(field.error for field in refused.context["fields"])
    kept = [field.value or "" for field in refused.context["fields"]]
    assert kept == [rank if rank in {"1", "2", "3"} else kept[n] for n, rank in enumerate(ranks)]
    assert not Rating.objects.exists()
    assert Assignment.objects.get().state == "RESERVED"
    done = send(person, "3", "1", "2")
    assert done.context["screen"].end.code
    assert sorted(Rating.objects.values_list("value", flat=True)) == [1, 2, 3]


@pytest.mark.parametrize("ranks", [("1", "2", "3"), ("3", "2", "1"), ("2", "3", "1")])
def test_every_permutation_is_taken_and_each_reply_has_its_own_rank(ranks: tuple[str, ...]) -> None:
    person = visit()
    keys = [field.name for field in person.get().context["fields"]]
    assert send(person, *ranks).context["screen"].end.code
    stored = dict(Rating.objects.values_list("candidate__key", "value"))
    assert stored == {
        name.partition(".")[0]: int(rank) for name, rank in zip(keys, ranks, strict=True)
    }
