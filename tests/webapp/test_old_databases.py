"""Databases of former versions: what they held is as it was, on the way up, down and up again.

A database of nothing goes up, version by version; at some of them rows are made as that version had
them. At the top is looked at what became of them, and whether the tables are those of a new
database, which goes up in one step. Then it goes down to a former version, as for an installation
that takes an update back, and up once more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.models import Manager

from tests.factories import NOW
from tests.webapp.services.people import join, send_message, start
from tests.webapp.services.rules.test_tally import counts, talked
from webapp.models import (
    Campaign,
    Candidate,
    Conversation,
    Item,
    Member,
    Participation,
    PayLedger,
    Project,
    ReplyCall,
    Study,
    Whitelist,
)
from webapp.services.participation import enrolment, stopping, study_info
from webapp.services.rules import ledger, tally

POSTGRES_SCHEMA = """
SELECT attrelid::regclass::text, concat_ws(' ', attname, format_type(atttypid, atttypmod),
       attnotnull, attidentity, pg_get_expr(adbin, adrelid))
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid AND relkind IN ('r', 'S')
LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
UNION SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""
Rows = Callable[[str], "Manager[Any]"]  # by the name of a model of then, as in webapp.Campaign


@contextmanager
def nothing() -> Iterator[None]:
    """Have a database without tables inside, and afterwards what there was."""
    if connection.vendor != "sqlite":
        go([("webapp", None)])
        yield
        go(None)
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(":memory:")) as was, closing(sqlite3.connect(":memory:")) as empty:
        connection.connection.backup(was)
        empty.backup(connection.connection)
        try:
            yield
        finally:
            was.backup(connection.connection)


class EveryStep(MigrationLoader):
    """The migrations that former versions had, without the one that replaces them at new ones."""

    def load_disk(self) -> None:
        super().load_disk()
        found = self.disk_migrations
        self.disk_migrations = {name: one for name, one in found.items() if not one.replaces}


def go(target: list[tuple[str, str | None]] | None) -> Rows:
    """Migrate to a version, or else to the newest; return the models of it."""
    executor = MigrationExecutor(connection)
    if target and target[0][1]:
        executor.loader = EveryStep(connection)
    wanted: Any = target or executor.loader.graph.leaf_nodes()
    state = executor.migrate(wanted)
    state.clear_delayed_apps_cache()  # some of its models still know their neighbors of before
    return lambda name: state.apps.get_model(name)._default_manager


def schema() -> set[tuple[str, str]]:
    """Return columns, constraints, indexes and triggers, each as the database words it."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute(POSTGRES_SCHEMA)
            return {(table, part) for table, part in cursor}
        cursor.execute("SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {(table, part) for table, sql in cursor.fetchall() for part in parts(sql)}


def parts(sql: str) -> Iterator[str]:
    """Yield each column and constraint of a table in SQLite's words; an index or trigger whole."""
    if not sql.startswith("CREATE TABLE"):
        yield sql
        return
    depth, part = 0, ""
    for sign in sql[sql.index("(") + 1 : sql.rindex(")")] + ",":
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            yield part.strip()
        part = "" if sign == "," and not depth else part + sign


def campaign_of(rows: Rows, slug: str, **fields: Any) -> Any:
    """Make a campaign of a former version."""
    owner, _ = rows("auth.User").get_or_create(username="ann")
    given = {"pay": "1.00", "waiting_pay": "0.10", "protocol": "meena_static"} | fields
    return rows("webapp.Campaign").create(name=slug, slug=slug, owner=owner, **given)


def system_of(rows: Rows, campaign: Any) -> Any:
    return rows("webapp.System").create(campaign=campaign, name="alpha", bot="parrot")


class Promises:
    """A campaign pays what it said then (R21)."""

    made_at = "0004_whitelist"

    @staticmethod
    def make(rows: Rows) -> None:
        """Two campaigns with two people each, and one campaign of each state."""
        fields: dict[str, Any] = {"waiting_pay": "0.30", "currency": "EUR", "minutes": 10}
        fields |= {"protocol": "meena_interactive", "consent": "Yes.", "contact": "me"}
        people = []
        for name, pay in (("one", "2.00"), ("two", "0.70")):
            campaign = campaign_of(rows, name, pay=pay, **fields)
            for number in range(2):
                names = {"pseudonym": str(number), "secret_hash": f"{name}{number}"}
                times = {"state_at": NOW, "seen_at": NOW}
                person = rows("webapp.Participation").create(campaign=campaign, **names, **times)
                people.append(person)
        codes = rows("webapp.CompletionCode")
        codes.create(participation=people[2], code="A", kind="WAITING", amount="0.20")
        codes.create(participation=people[3], code="B", kind="FULL", amount="1.90")
        for state in Campaign.State.values:
            campaign_of(rows, state, state=state, pay="2.00", **fields)
        system = system_of(rows, rows("webapp.Campaign").get(slug="OPEN"))
        rows("webapp.QuotaCell").create(system=system, target=5)
        rows("webapp.Participation").create(
            campaign=system.campaign, pseudonym="p", secret_hash="s", state_at=NOW, seen_at=NOW
        )

    @staticmethod
    def check() -> None:
        people = Participation.objects.filter(campaign__slug__in=("one", "two")).order_by("pk")
        # Who held a full code was promised what it is worth.
        pays = [Decimal(amount) for amount in ("2.00", "2.00", "0.70", "1.90")]
        names = ("pay", "waiting_pay", "currency", "quit_rule", "least_work")
        assert list(people.values_list(*names)) == [
            (pay, Decimal("0.30"), "EUR", "FULL", 1) for pay in pays
        ]
        rows = Campaign.objects.filter(slug__in=Campaign.State.values)
        found = {slug: rule for slug, *rule in rows.values_list("slug", "quit_rule", "least_work")}
        assert found == {
            state: ["SHARE", 4] if state == "DRAFT" else ["FULL", 1]
            for state in Campaign.State.values
        }

    @staticmethod
    def use() -> None:
        """One word is paid in full, as was promised to who was there, and is to who comes later."""
        campaign = Campaign.objects.get(slug="OPEN")
        assert "in full, 2.00 EUR. Nothing is paid before you" in study_info.of(campaign).stopping
        old = enrolment.start(person=Participation.objects.get(pseudonym="p"), now=NOW)
        join(campaign, "A1")
        for person in (old, start(campaign, "A1")):
            send_message(person, "hello")
            code = stopping.stop(person=person, now=NOW).code
            assert (code.kind, str(code.amount)) == ("FULL", "2.00")


class FirstSides:
    """Where the bot opened, its side began."""

    made_at = "0007_rounds"

    @staticmethod
    def make(rows: Rows) -> None:
        campaign = campaign_of(rows, "sides", protocol="meena_human")
        system = system_of(rows, campaign)
        for answered in (0, 1):
            made = rows("webapp.Conversation").create(
                campaign=campaign, system=system, seed=1, started_at=NOW, last_seq=1
            )
            rows("webapp.Event").create(
                conversation=made, seq=1, kind="message", side=1, in_reply_to=answered, content={}
            )

    @staticmethod
    def check() -> None:
        held = Conversation.objects.filter(campaign__slug="sides").order_by("pk")
        assert list(held.values_list("first_side", flat=True)) == [1, 0]


class Candidates:
    """Candidates get the conversation, items of contexts their context; and lose them again."""

    made_at = "0009_one_entrance"
    purposes = ["CONTEXT", "STUDY"]  # a context's reply, and a chat of one's own

    @staticmethod
    def make(rows: Rows) -> None:
        campaign = campaign_of(rows, "items")
        system = system_of(rows, campaign)
        for key in ("k1", "k2"):
            rows("webapp.Context").create(campaign=campaign, key=key, messages=["Hi."])
        for purpose, context in zip(Candidates.purposes, ("k2", ""), strict=True):
            made = rows("webapp.Conversation").create(
                campaign=campaign,
                system=system,
                seed=1,
                started_at=NOW,
                purpose=purpose,
                context=context,
            )
            item = rows("webapp.Item").create(
                campaign=campaign, key=f"{purpose}:{made.pk}", conversation=made, target=1
            )
            rows("webapp.Candidate").create(item=item, key="r", system=system, side=1)

    @staticmethod
    def check() -> None:
        static, chat = Item.objects.filter(campaign__slug="items").order_by("pk")
        assert static.conversation is None
        assert static.context is not None
        assert static.context.key == "k2"
        assert chat.context is None
        assert chat.conversation is not None
        assert chat.conversation.purpose == "STUDY"
        about = Candidate.objects.filter(item__campaign__slug="items").order_by("pk")
        assert list(about.values_list("conversation__purpose", flat=True)) == Candidates.purposes

    @staticmethod
    def check_former(rows: Rows) -> None:
        items = rows("webapp.Item").filter(campaign__slug="items").order_by("pk")
        assert [item.conversation.purpose for item in items] == Candidates.purposes


class Budgets:
    """Budgets of campaigns that had none cover what was promised (R37)."""

    made_at = "0027_platform_time"

    @staticmethod
    def make(rows: Rows) -> None:
        fields: dict[str, Any] = {"protocol": "meena_interactive", "consent": "Yes."}
        fields |= {"contact": "me", "pay": "2.00", "waiting_pay": "0.50"}
        campaign = campaign_of(rows, "a", state="OPEN", **fields)
        campaign_of(rows, "b", state="DRAFT", **fields)
        system = system_of(rows, campaign)
        rows("webapp.QuotaCell").create(system=system, target=12, reserved=1, completed=1)
        promised = {"pay": "3.00", "waiting_pay": "0.50", "currency": "USD", "quit_rule": "FULL"}
        for number, end in enumerate((("ENDED", "COMPLETED"), ("CHATTING", ""))):
            person = rows("webapp.Participation").create(
                campaign=campaign,
                pseudonym=f"a{number}",
                secret_hash=f"a{number}",
                least_work=1,
                state_at=NOW,
                seen_at=NOW,
                state=end[0],
                outcome=end[1],
                **promised,
            )
            if end[1]:
                codes = rows("webapp.CompletionCode")
                codes.create(participation=person, code="C", kind="FULL", amount="3.00")
                rows("webapp.Bonus").create(
                    participation=person, amount="0.10", reason="x", given_by=campaign.owner
                )

    @staticmethod
    def check() -> None:
        (row,) = PayLedger.objects.filter(campaign__slug__in=("a", "b"))
        assert (row.campaign.slug, row.reserved, row.spent) == ("a", 300, 310)
        assert row.budget == 310 + 300 + (10 + 1) * 250

    @staticmethod
    def use() -> None:
        at_work = Participation.objects.get(pseudonym="a1")
        assert at_work.reserved_pay == Decimal("3.00")
        assert ledger.settle(at_work, Decimal("3.00")) == Decimal("3.00")
        assert ledger.books(Campaign.objects.get(slug="a")).reserved == 0


class Projects:
    """What there was before projects is in one, with all of the staff as administrators (S4)."""

    made_at = "0035_own_models"

    @staticmethod
    def make(rows: Rows) -> None:
        people = rows("auth.User")
        for name in ("bob", "cid"):
            people.create(username=name, is_staff=True)
        people.create(username="guest", is_staff=False)
        owner = people.get(username="ann")
        rows("webapp.Whitelist").create(name="L", owner=owner, made_at=NOW)
        rows("webapp.Study").create(name="A study", owner=owner, created_at=NOW)

    @staticmethod
    def check() -> None:
        first = Project.objects.get(name="First project")
        kinds = (Campaign, Study, Whitelist)
        assert {row.project for kind in kinds for row in kind._default_manager.all()} == {first}
        members = Member.objects.filter(project=first)
        staff = get_user_model().objects.filter(is_staff=True)
        assert staff.count() >= 2
        assert {row.account_id for row in members} == {account.pk for account in staff}
        assert all(row.is_administrator for row in members)


class Replies:
    """Replies that nobody got, since the conversation was over, are neither shown nor failed."""

    made_at = "0050_panel_parts_and_hooks"
    late = "the answer came after the job had gone to another worker, or was given up"
    made = (
        ("DROPPED", "SHOWN", "", "UNWANTED"),
        ("DROPPED", "FAILED", late, "UNWANTED"),
        ("DROPPED", "FAILED", "status 500", "FAILED"),
        ("DONE", "FAILED", late, "FAILED"),
        ("DONE", "SHOWN", "", "SHOWN"),
    )

    @staticmethod
    def make(rows: Rows) -> None:
        campaign = campaign_of(rows, "replies", project=rows("webapp.Project").first())
        conversation = rows("webapp.Conversation").create(
            campaign=campaign, system=system_of(rows, campaign), seed=1, started_at=NOW
        )
        for number, (state, outcome, error, _) in enumerate(Replies.made):
            job = rows("webapp.ReplyJob").create(
                conversation=conversation, in_reply_to=number, bot="x", queued_at=NOW, state=state
            )
            rows("webapp.ReplyCall").create(
                job=job, number=1, attempt=1, outcome=outcome, error=error, seed=1, seconds=1
            )

    @staticmethod
    def check() -> None:
        calls = ReplyCall.objects.filter(job__conversation__campaign__slug="replies")
        found = list(calls.order_by("pk").values_list("outcome", flat=True))
        assert found == [outcome for *_, outcome in Replies.made]


STORIES = (Promises, FirstSides, Candidates, Budgets, Projects)  # which outlast a way down


@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_what_former_versions_held_is_as_it_was_up_down_and_up_again() -> None:
    made_in_one_step = schema()
    assert len(made_in_one_step) > 500
    with nothing():
        for story in STORIES:
            story.make(go([("webapp", story.made_at)]))
        Replies.make(go([("webapp", Replies.made_at)]))
        go(None)
        assert schema() == made_in_one_step
        check_all()
        Replies.check()
        assert Study.objects.exists()
        assert Whitelist.objects.exists()
        conversation, empty = said_today()
        Candidates.check_former(go([("webapp", Candidates.made_at)]))
        go(None)
        check_all()
        assert counts(Conversation.objects.get(pk=conversation.pk)) == counts(conversation)
        assert counts(Conversation.objects.get(pk=empty.pk)) == (0, 0, 0, 0, 0, None, None)
        assert list(tally.faults()) == []
        Promises.use()
        Budgets.use()


def check_all() -> None:
    for story in STORIES:
        story.check()


def said_today() -> tuple[Conversation, Conversation]:
    """What was said before messages were counted on rows is counted by the migration."""
    conversation = talked()
    empty = Conversation.objects.create(
        campaign=conversation.campaign,
        system=conversation.system,
        seed=1,
        started_at=conversation.started_at,
    )
    return conversation, empty


@pytest.mark.django_db
def test_who_begins_with_today_s_version_has_no_first_project() -> None:
    assert not Project.objects.exists()
