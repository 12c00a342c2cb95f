"""Roles in projects: each address by each role, members, what nobody else sees (S1, S4, G11)."""

from __future__ import annotations

import re
from contextlib import suppress
from io import StringIO
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from evaluation.registry import protocol_names
from tests.factories import NOW, make_campaign, make_member, make_project, make_staff
from tests.webapp.views.staff.addresses import arguments, filled
from webapp.management.commands.roles import staff_routes
from webapp.models import AuditEntry, Campaign, Member, Project, Study, Whitelist
from webapp.services.rules.access import Role
from webapp.views.audience import Need, needs

pytestmark = pytest.mark.django_db
OUTSIDER = "outsider"  # of the staff, and in no project


def visitor(name: str, *roles: str, project: Project | None = None) -> Client:
    client = Client()
    client.force_login(make_member(name, *roles, project=project))
    return client


@pytest.fixture
def actors(campaign: Campaign) -> dict[str, Client]:
    """Somebody of each role alone in the campaign's project, and an outsider."""
    found = {str(role): visitor(role, role, project=campaign.project) for role in Role}
    return found | {OUTSIDER: visitor(OUTSIDER)}


def ask(client: Client, method: str, address: str) -> int:
    """Return a page's status, and take back what it did."""
    with transaction.atomic():
        response = getattr(client, method.lower())(address)
        if response.streaming:  # a file is closed once it was read
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    return int(response.status_code)


def expected(need: Need, actor: str, method: str) -> int | None:
    """Return the status of who is refused, by what the address says it needs."""
    if need.is_only_deployers(method):
        return 403
    if actor == OUTSIDER:
        refusal = 404 if need.is_of_project else 403
        return None if need.role(method) is None else refusal
    return None if need.lets(Role(actor), method) else 403


def test_every_address_lets_in_whom_its_role_says(
    campaign: Campaign, actors: dict[str, Client]
) -> None:
    """All that are refused are asked for; of who is let in, who has that role alone."""
    deviations, cells = [], 0
    for route, need in staff_routes():
        assert need is not None, f"{route} has no role"
        address = filled(route, **arguments(campaign, route))
        for method in {"GET", "POST"} & set(need.methods):
            wanted = need.role(method)
            refused = {name: expected(need, name, method) for name in actors}
            for name, status in refused.items():
                if status is not None or name == (wanted or OUTSIDER):
                    found, cells = ask(actors[name], method, address), cells + 1
                    if found != status if status else found in (401, 403):
                        deviations.append((route, method, name, found, status))
    assert not deviations, "\n".join(map(str, deviations))
    assert cells > 400


def test_what_a_role_lets_do_every_role_with_it_may_do(campaign: Campaign) -> None:
    """The rest of the matrix: other members look at what a viewer looks at."""
    for role in Role:
        client = visitor(f"{role} again", role, project=campaign.project)
        for name in ("campaign", "live", "people", "conversations"):
            assert client.get(reverse(name, args=[campaign.pk])).status_code == 200


def test_the_command_prints_the_matrix() -> None:
    out = StringIO()
    call_command("roles", stdout=out)
    lines = [line.split("  ") for line in out.getvalue().splitlines()]
    cells = {(line[0], line[-1]) for line in lines}
    assert ("campaigns/<int:pk>/results/export/", "asks again") in cells
    assert f"{len(staff_routes())} addresses, each with a role" in out.getvalue()


def test_data_pay_and_deletion_ask_who_it_is_again() -> None:
    asking = {name for name, need in needs().items() if need.proof}
    assert asking >= {"results-export", "study-results-export", "panel-books"}
    assert asking >= {"pay", "budget", "bonus-person", "panel-change", "panel-submission"}
    assert asking >= {"delete", "delete-own-protocol", "members", "change-second-factor"}


# --- what nobody else sees ---------------------------------------------------------------------


def test_a_campaign_of_another_project_is_nowhere(campaign: Campaign) -> None:
    other = make_campaign(project=make_project("Elsewhere"), name="Secret campaign")
    Study.objects.create(
        name="Secret study", owner=other.owner, project=other.project, created_at=NOW
    )
    Whitelist.objects.create(
        name="Secret list", owner=other.owner, project=other.project, made_at=NOW
    )
    ann = visitor("ann", "administrator", project=campaign.project)
    for address in ("campaigns", "studies", "whitelists", "projects", "audit"):
        page = ann.get(reverse(address)).content.decode()
        assert "Secret" not in page, address
        assert "Elsewhere" not in page, address
    assert ann.get(reverse("live", args=[other.pk])).status_code == 404
    assert ann.get(reverse("live", args=[campaign.pk])).status_code == 200
    root = Client()
    root.force_login(get_user_model().objects.create_superuser("root"))
    assert "Secret campaign" in root.get(reverse("campaigns")).content.decode()


def test_a_campaign_is_made_in_one_of_the_projects_in_which_one_runs_some(
    campaign: Campaign,
) -> None:
    account = make_staff("ann")
    second = make_project("Second")
    third = make_project("Third")
    Member.objects.create(project=second, account=account, is_runner=True)
    Member.objects.create(project=third, account=account)
    ann = Client()
    ann.force_login(account)
    page = ann.get(reverse("studies")).content.decode()
    assert "Second" in page
    assert "Third" not in page
    raw = {"name": "A study", "note": "", "project": str(third.pk)}
    refused = ann.post(reverse("studies"), raw)
    assert refused.status_code == 422
    assert "is not one of your projects" in refused.content.decode()
    assert ann.post(reverse("studies"), raw | {"project": str(second.pk)}).status_code == 302
    assert Study.objects.get(name="A study").project == second
    form = ann.get(reverse("create-campaign", args=["personachat_bot"])).context["form"]
    typed = form.typed() | {"name": "New", "contact": "lab@example.org", "pay": "1"}
    address = reverse("create-campaign", args=["personachat_bot"])
    assert ann.post(address, typed | {"project": str(third.pk)}).status_code == 422
    assert ann.post(address, typed | {"project": str(second.pk)}).status_code == 302
    assert Campaign.objects.get(name="New").project == second


def test_a_page_shows_no_button_in_vain(campaign: Campaign) -> None:
    viewer = visitor("vera", "viewer", project=campaign.project)
    payer = visitor("pat", "payer", project=campaign.project)
    address, pay = reverse("live", args=[campaign.pk]), reverse("pay", args=[campaign.pk])
    assert pay not in viewer.get(address).content.decode()
    assert pay in payer.get(address).content.decode()
    refusal = viewer.get(pay)
    assert refusal.status_code == 403
    assert "the role of payer" in refusal.content.decode()
    assert "You may look at this page" not in refusal.content.decode()
    page = viewer.get(reverse("messages", args=[campaign.pk])).content.decode()
    assert "A change takes the role of runner" in page


def offered(page: str, path: str) -> set[tuple[str, str]]:
    """Return the method and path of every link and button of a page, those of the menu too."""
    found = {("GET", link) for link in re.findall(r'<a\b[^>]*?\shref="([^"#]+)', page)}
    for form in re.findall(r"<form\b[^>]*>", page):
        action = re.search(r'\saction="([^"]*)"', form)
        method = "POST" if 'method="post"' in form else "GET"
        found.add((method, action[1] if action and action[1] else path))
    found |= {("POST", action) for action in re.findall(r'\sformaction="([^"]+)"', page)}
    here = f"http://testserver{path}"
    whole = {(method, urlsplit(urljoin(here, address))) for method, address in found}
    return {(method, each.path) for method, each in whole if each.netloc == "testserver"}


def vain(page: str, path: str, role: str) -> list[tuple[str, str]]:
    """Return what a page offers and the role alone may not do."""
    wrong = []
    for method, address in sorted(offered(page, path)):
        with suppress(Resolver404):
            need = getattr(resolve(address).func, "need", None)
            if need is not None and not need.lets(Role(role), method):
                wrong.append((method, address))
    return wrong


@pytest.mark.parametrize(
    ("role", "state"),
    [
        *(("viewer", state) for state in Campaign.State.values),
        *((str(role), "OPEN") for role in Role if role not in ("viewer", "administrator")),
    ],
)
def test_no_page_offers_what_its_visitor_may_not_do(
    campaign: Campaign, role: str, state: str
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    client = visitor(role, role, project=campaign.project)
    wrong, count = [], 0
    for route, need in staff_routes():
        if need is not None and need.lets(Role(role), "GET") and "GET" in need.methods:
            path = filled(route, **arguments(campaign, route))
            response = client.get(path)
            if response.status_code == 200 and "html" in response.headers["Content-Type"]:
                count += 1
                page = response.content.decode()
                wrong += [(path, *each) for each in vain(page, path, role)]
    assert not wrong, "\n".join(map(str, wrong))
    assert count > 30


def test_no_draft_of_any_protocol_offers_a_viewer_a_change(campaign: Campaign) -> None:
    """What is imported or taken for a campaign has a page in some protocols only."""
    viewer, wrong, pages = visitor("vera", "viewer", project=campaign.project), [], set()
    contents = ("campaign", "personas", "contexts", "messages", "transcripts", "contributions")
    for protocol in protocol_names():
        draft = make_campaign(protocol, project=campaign.project, state="DRAFT")
        for name in (*contents, "launch", "desk", "campaign-words"):
            path = reverse(name, args=[draft.pk])
            response = viewer.get(path)
            if response.status_code == 200:
                pages.add(name)
                wrong += [(path, *each) for each in vain(response.content.decode(), path, "viewer")]
    assert not wrong, "\n".join(map(str, wrong))
    assert pages >= {*contents, "launch"}


# --- members ----------------------------------------------------------------------------------


def test_members_are_added_changed_and_removed() -> None:
    project = make_project("Lab")
    boss = visitor("boss", "administrator", project=project)
    make_member("eve")
    address = reverse("members", args=[project.pk])

    def post(**raw: Any) -> int:
        return int(boss.post(address, raw).status_code)

    assert post(do="add", name="eve", roles=["runner", "payer"]) == 302
    row = Member.objects.get(account__username="eve", project=project)
    assert (row.is_runner, row.is_exporter, row.is_payer, row.is_administrator) == (
        *(True, False, True),
        False,
    )
    assert post(do="add", name="eve", roles=["runner"]) == 422
    assert post(do="add", name="nobody", roles=[]) == 422
    assert post(do="add", name="eve", roles=["emperor"]) == 422
    assert post(do="change", member=row.pk, roles=["exporter"]) == 302
    row.refresh_from_db()
    assert (row.is_runner, row.is_exporter) == (False, True)
    eve = Client()
    eve.force_login(row.account)
    assert eve.get(address).status_code == 200
    assert eve.post(address, {"do": "remove", "member": row.pk}).status_code == 403
    assert post(do="remove", member=row.pk) == 302
    assert eve.get(address).status_code == 404
    log = list(AuditEntry.objects.values_list("action", flat=True))
    assert [each for each in log if each.startswith("member")] == [
        "member added",
        "member changed",
        "member removed",
    ]


@pytest.mark.parametrize("others", [0, 1, 2])
def test_the_last_administrator_cannot_go(others: int) -> None:
    project = make_project("Lab")
    boss = visitor("boss", "administrator", project=project)
    for number in range(others):
        make_member(f"admin{number}", "administrator", project=project)
    away = make_member("away", "administrator", project=project)
    get_user_model().objects.filter(pk=away.pk).update(is_active=False)  # cannot sign in
    own = Member.objects.get(project=project, account__username="boss")
    address = reverse("members", args=[project.pk])
    for raw in ({"do": "change", "roles": ["runner"]}, {"do": "remove"}):
        with transaction.atomic():
            answer = boss.post(address, raw | {"member": own.pk})
            assert answer.status_code == (302 if others else 422)
            transaction.set_rollback(True)
    if not others:
        assert "is the last administrator" in answer.content.decode()


def test_another_project_s_member_is_not_found() -> None:
    boss = visitor("boss", "administrator", project=make_project("Lab"))
    stranger = make_member("eve", "administrator", project=make_project("Other"))
    row = Member.objects.get(account=stranger)
    address = reverse("members", args=[make_project("Lab").pk])
    assert boss.post(address, {"do": "remove", "member": row.pk}).status_code == 404
    assert Member.objects.filter(pk=row.pk).exists()


def test_a_project_is_made_by_who_administers_one() -> None:
    boss = visitor("boss", "administrator", project=make_project("Lab"))
    runner = visitor("rob", "runner", project=make_project("Lab"))
    assert runner.post(reverse("projects"), {"name": "Mine"}).status_code == 403
    assert boss.post(reverse("projects"), {"name": "Lab"}).status_code == 422
    assert boss.post(reverse("projects"), {"name": "New lab"}).status_code == 302
    row = Member.objects.get(project__name="New lab")
    assert (row.account.username, row.is_administrator) == ("boss", True)


# --- from the server ---------------------------------------------------------------------------


def test_an_account_gets_a_project_of_its_own_or_joins_one() -> None:
    call_command("staff", "ann", "--generate", stdout=StringIO())
    joining = ("--generate", "--project", "ann", "--role", "runner", "--role", "exporter")
    call_command("staff", "bob", *joining, stdout=StringIO())
    with pytest.raises(CommandError, match="must have the role administrator"):
        call_command("staff", "cyd", "--generate", "--project", "New", "--role", "runner")
    assert not get_user_model().objects.filter(username="cyd").exists()
    out = StringIO()
    call_command("members", stdout=out)
    assert out.getvalue() == "ann\n  ann: administrator\n  bob: runner, exporter\n"


def test_the_command_changes_members_but_not_the_last_administrator() -> None:
    make_member("ann", "administrator", project=make_project("Lab"))
    make_member("bob")
    out = StringIO()
    call_command("members", "Lab", "bob", "--role", "payer", stdout=out)
    assert "  bob: payer\n" in out.getvalue()
    call_command("members", "Lab", "bob", "--remove", stdout=StringIO())
    for refused, words in (
        (("Lab", "ann", "--remove"), "last administrator"),
        (("Lab", "ann", "--role", "viewer"), "last administrator"),
        (("Lab", "bob", "--remove"), "no member"),
        (("Lab", "nobody", "--role", "viewer"), "no account of staff"),
        (("Lba", "bob", "--role", "viewer"), "there are: Lab"),
        (("Lab", "bob"), "--role or --remove"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("members", *refused)
    assert Member.objects.filter(project__name="Lab").count() == 1
