"""Marks of a subject's data: they change with whatever its results rest on.

Apart because they are read at each look at a page: a constant number of statements, none of which
reads answers or messages.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import Count, Max, Q, Sum

from webapp.models import (
    Assignment,
    AuditEntry,
    Campaign,
    Contribution,
    Conversation,
    Flag,
    Participation,
    Rating,
    Study,
)

ROOT = Path(__file__).resolve().parents[3]
CODE = ("analysis", "webapp/services/results", "webapp/services/data")  # what makes the numbers
LEFT_OUT = Count("pk", filter=~Q(excluded=""))
Rows = list[tuple[Any, ...]]


def of(campaigns: list[int], study: int | None = None) -> str:
    """Return the digest of what is counted of these campaigns, and of the code that computes.

    An answer alone need not change it (a label in a conversation): see `newer_answers`.
    """
    read = [list(rows) for rows in _counted(campaigns, study)]
    text = json.dumps([read, _code()], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def newer_answers(campaigns: list[int], last: int) -> bool:
    """Tell whether the campaigns have an answer after the number of the last one."""
    return bool(_answers(campaigns).filter(pk__gt=last).exists())


def last_answer(campaigns: list[int]) -> int:
    """Return the number of the last answer of the campaigns, 0 where there is none."""
    return int(_answers(campaigns).aggregate(last=Max("pk"))["last"] or 0)


def _answers(campaigns: list[int]) -> Any:
    return Rating.objects.filter(assignment__item__campaign__in=campaigns)


def _counted(campaigns: list[int], study: int | None) -> Iterator[Rows]:
    wanted = {"campaign__in": campaigns}
    if study is not None:
        yield list(Study.objects.filter(pk=study).values_list())
    yield list(Campaign.objects.filter(pk__in=campaigns).order_by("pk").values_list())
    people = Participation.objects.filter(**wanted).values_list("campaign", "state", "outcome")
    yield _ordered(people.annotate(Count("pk"), Count("withdrawn_at"), left_out=LEFT_OUT))
    conversations = Conversation.objects.filter(**wanted).values_list(
        "campaign", "state", "purpose"
    )
    yield _ordered(conversations.annotate(Count("pk"), Sum("last_seq"), left_out=LEFT_OUT))
    items = Assignment.objects.filter(item__campaign__in=campaigns).values_list("state")
    yield _ordered(items.annotate(Count("pk"), Max("done_at")))
    flags = Flag.objects.filter(**wanted).values_list("campaign")
    yield _ordered(flags.annotate(Count("pk"), Count("settled_at")))
    texts = Contribution.objects.filter(assignment__item__campaign__in=campaigns)
    yield _ordered(texts.values_list("state").annotate(Count("pk")))
    acts = AuditEntry.objects.filter(**wanted).exclude(action="exported").values_list("campaign")
    yield _ordered(acts.annotate(Max("number")))


def _ordered(rows: Any) -> Rows:
    return sorted(rows.order_by(), key=str)


@functools.cache
def _code() -> str:
    """Return the digest of the code: what an older version computed is computed again."""
    found = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()
