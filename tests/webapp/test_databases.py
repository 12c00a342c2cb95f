"""The quick compilers write what Django's own write, for every model and kind of query."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.backends.sqlite3.base import SQLiteCursorWrapper
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet
from django.db.models.sql.compiler import SQLCompiler
from django.test.utils import CaptureQueriesContext

from tests.factories import make_campaign, make_participation
from tests.live import ROOT
from webapp.databases.sqlite3.base import Cursor
from webapp.models import Campaign, Participation, Persona, Seat, System

pytestmark = pytest.mark.django_db
Query = QuerySet[Any, Any]
Change = Callable[[Query], Query]


def foreign(model: type[Model]) -> list[str]:
    return [each.name for each in model._meta.concrete_fields if each.is_relation]


def one_field(model: type[Model]) -> str:
    return model._meta.concrete_fields[-1].name


OF_A_MODEL: dict[str, Change] = {
    "all": lambda rows: rows.all(),
    "by key": lambda rows: rows.filter(pk__gt=1).order_by("-pk"),
    "reversed": lambda rows: rows.order_by("pk").reverse(),
    "by every column": lambda rows: rows.order_by(
        *(each.name for each in rows.model._meta.concrete_fields)
    ),
    "by an expression": lambda rows: rows.order_by(F("pk").desc(nulls_last=True)),
    "related": lambda rows: rows.select_related(*foreign(rows.model)).order_by("pk"),
    "one column": lambda rows: rows.only(one_field(rows.model)).order_by("pk"),
    "but one column": lambda rows: rows.defer(one_field(rows.model)).order_by("pk"),
    "values": lambda rows: rows.values_list("pk", one_field(rows.model)).order_by("pk"),
    "a name of its own": lambda rows: rows.annotate(own=F("pk")).order_by("own"),
    "counted": lambda rows: rows.values(one_field(rows.model)).annotate(n=Count("pk")),
    "extra": lambda rows: rows.extra(  # noqa: S610 (a number)
        select={rows.model._meta.db_table: "1"}, order_by=["pk"]
    ),
    "both": lambda rows: (
        rows.filter(pk=1).order_by().union(rows.filter(pk=2).order_by()).order_by("pk")
    ),
    "distinct": lambda rows: rows.distinct().order_by("pk")[3:5],
}
OF_SEVERAL: dict[str, Callable[[], Query]] = {
    "joined twice": lambda: Campaign.objects.filter(systems__name="a").filter(systems__name="b"),
    "ordered across": lambda: Seat.objects.select_related(
        "conversation__campaign", "conversation__system", "persona"
    ).order_by("-conversation__campaign__name", "participation__system"),
    "one table twice": lambda: Seat.objects.select_related(
        "participation__campaign", "conversation__campaign"
    ).order_by("conversation__campaign", "participation__campaign__name"),
    "inside": lambda: System.objects.filter(campaign__in=Campaign.objects.filter(state="OPEN")),
    "exists": lambda: Participation.objects.filter(
        ~Exists(Seat.objects.filter(participation=OuterRef("pk")).order_by("pk"))
    ),
    "inside its own table": lambda: Persona.objects.filter(
        Q(campaign__personas__order=F("order")) | Q(pk__in=Persona.objects.filter(order=1))
    ),
}


def compilers(rows: Query) -> tuple[SQLCompiler, SQLCompiler]:
    """Return ours and Django's own for one query each: they note joins in it."""
    ours = rows.query.clone().get_compiler(connection=connection)
    kind = type(ours).__mro__[2]
    assert kind.__module__.startswith("django."), type(ours).__mro__
    own = kind(rows.query.clone(), connection, connection.alias)
    return ours, own


def conversions(made: SQLCompiler, columns: list[Any]) -> dict[int, list[str]]:
    """Return what converts each column, by name: some are made anew each time."""
    found = made.get_converters(columns)
    return {number: [each.__qualname__ for each in chain] for number, (chain, _) in found.items()}


def assert_same(rows: Query) -> None:
    for _ in range(2):  # what was found out before is used the second time
        ours, own = compilers(rows)
        assert ours.as_sql() == own.as_sql()
        columns = [[each for each, _, _ in made.select] for made in (ours, own)]
        assert conversions(ours, columns[0]) == conversions(own, columns[1])


@pytest.mark.parametrize("change", OF_A_MODEL.values(), ids=OF_A_MODEL)
def test_queries_of_every_model_are_the_same(change: Change) -> None:
    models = apps.get_models()
    assert len(models) > 50
    for model in models:
        assert_same(change(model._base_manager.all()))


@pytest.mark.parametrize("make", OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_queries_across_tables_are_the_same(make: Callable[[], Query]) -> None:
    assert_same(make())


def test_rows_come_back_as_they_were_written() -> None:
    campaign = make_campaign(changes={"chat.minimum": [4]}, budget="12.50")
    person = make_participation(campaign)
    for _ in range(2):
        found = Participation.objects.select_related("campaign").get(pk=person.pk)
        for model, read, written in (
            (Participation, found, person),
            (Campaign, found.campaign, Campaign.objects.get(pk=campaign.pk)),
        ):
            for field in model._meta.concrete_fields:
                value = getattr(written, field.attname)
                assert getattr(read, field.attname) == field.to_python(value), field


@pytest.mark.parametrize("names", [None, ["a", "b"]])
def test_marks_of_values_are_converted_as_by_django(names: list[str] | None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has other marks")
    cursor = connection.connection.cursor(factory=Cursor)
    own = connection.connection.cursor(factory=SQLiteCursorWrapper)
    text = "SELECT '%%', %s, %s" if names is None else "SELECT %(a)s, %(b)s, '%%'"
    for _ in range(2):
        assert cursor.convert_query(text, param_names=names) == own.convert_query(
            text, param_names=names
        )


def test_statements_are_kept_for_who_captures_them_and_logged_for_who_reads_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settings, "DEBUG", True)
    connection.queries_log.clear()
    assert not Persona.objects.filter(pk=1).exists()
    assert connection.queries == [], "what people write would be among the values"
    with CaptureQueriesContext(connection) as captured:
        assert not Persona.objects.filter(pk=2).exists()
    assert [each["sql"].count('"id" = 2') for each in captured] == [1]
    connection.queries_log.clear()
    with caplog.at_level(logging.DEBUG, "django.db.backends"):
        assert not Persona.objects.filter(pk=3).exists()
    assert len(connection.queries) == len(caplog.records) == 1


def test_another_kind_of_database_is_refused_by_name() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import webapp.settings"],
        cwd=ROOT,
        env={**os.environ, "DEBUG": "1", "DATABASE_URL": "mysql://host/name"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert "DATABASE_URL names mysql; it must begin with sqlite:// or postgres://" in told.stderr
