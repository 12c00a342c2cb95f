"""What there was before projects is put into one, with all of the staff as administrators (S4)."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.studies import make_study
from webapp.models import Campaign, Member, Project, Study, Whitelist

BEFORE = ("webapp", "0035_own_models")
NAME = "First project"


def there_and_back() -> None:
    """Take projects away with all that they need, and bring the database up to date again."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate([BEFORE])
    MigrationExecutor(connection).migrate(latest)


@pytest.mark.django_db(transaction=True)
def test_everything_is_put_into_the_first_project_and_nothing_into_none() -> None:
    there_and_back()
    assert not Project.objects.exists()  # nobody and nothing: no project
    campaign = make_campaign(personas=0)
    ann, guest = make_staff("ann"), get_user_model().objects.create_user("guest")
    make_study(campaign)
    Whitelist.objects.create(name="L", owner=ann, project=campaign.project, made_at=NOW)
    there_and_back()
    first = Project.objects.get()
    assert first.name == NAME
    for kind in (Campaign, Study, Whitelist):
        assert [row.project for row in kind._default_manager.all()] == [first]
    members = Member.objects.filter(project=first)
    staff = get_user_model().objects.filter(is_staff=True)
    assert {row.account_id for row in members} == {account.pk for account in staff}
    assert not members.filter(account=guest).exists()
    assert all(row.is_administrator for row in members)
