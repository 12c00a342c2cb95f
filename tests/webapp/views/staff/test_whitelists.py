"""The review of whitelists: who may, what is stored, and that nothing typed is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from bots.guards import whitelists as files
from bots.guards.whitelists import WhitelistEntry
from tests.factories import NOW, make_staff
from webapp.models import AuditEntry, ListedReply, Whitelist
from webapp.services.campaign import whitelists
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff import whitelists as staff_whitelists

pytestmark = pytest.mark.django_db
REPLIES = [WhitelistEntry(f"Reply number {place}.", 100 - place) for place in range(1, 31)]


@pytest.fixture
def ann(client: Client) -> Client:
    client.force_login(make_staff("ann"))
    return client


@pytest.fixture
def listed() -> Whitelist:
    text = files.to_json(REPLIES)
    return Whitelist.objects.get(
        pk=whitelists.upload(name="Frequency 30", text=text, by=make_staff("bob"), now=NOW)
    )


def addresses(row: Whitelist) -> list[str]:
    names = [str(pattern.name) for pattern in staff_whitelists.urlpatterns]
    return [reverse(each, args=[row.pk] if each != "whitelists" else []) for each in names]


def form(row: Whitelist, page: int = 1, **changes: str) -> dict[str, str]:
    """Fill in a page's form as it is shown, and change some fields, named by place."""
    raw = {}
    for each in row.replies.all()[(page - 1) * 25 : page * 25]:
        raw[f"was-{each.pk}"] = f"{each.decision}|{each.edited}"
        raw[f"decision-{each.pk}"] = changes.get(f"decision_{each.place}", each.decision)
        raw[f"edited-{each.pk}"] = changes.get(f"edited_{each.place}", each.edited)
    return raw


@pytest.mark.parametrize("method", ["get", "post"])
def test_only_staff_get_in(client: Client, listed: Whitelist, method: str) -> None:
    for address in addresses(listed):
        answer = getattr(client, method)(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/")
    client.force_login(get_user_model().objects.create_user("guest"))
    for address in addresses(listed):
        assert getattr(client, method)(address).status_code == 403
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_staff("eve"))
    assert [strict.post(address).status_code for address in addresses(listed)] == [403] * 3


def test_what_is_not_there_is_not_found(ann: Client) -> None:
    assert ann.get("/whitelists/4711/").status_code == 404
    assert ann.post("/whitelists/4711/").status_code == 404
    assert ann.get("/whitelists/4711/download/").status_code == 404


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_list_is_put_up_from_either_file(ann: Client, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"list.{kind}"
    files.write(
        [WhitelistEntry("Yes, gladly.", 7), WhitelistEntry('She said "no", twice.', 2, "drop")],
        path,
    )
    with path.open("rb") as file:
        answer = ann.post("/whitelists/", {"name": "Mine", "file": file})
    row = Whitelist.objects.get()
    assert answer["Location"] == f"/whitelists/{row.pk}/"
    kept = list(row.replies.values_list("place", "text", "count", "decision"))
    assert kept == [(1, "Yes, gladly.", 7, "keep"), (2, 'She said "no", twice.', 2, "drop")]
    assert b"Mine" in ann.get("/whitelists/").content
    assert AuditEntry.objects.get().detail == {"whitelist": row.pk, "count": 2}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("", "text,count\na,1", "must have 1 to 120 characters"),
        ("Mine", "", "is empty"),
        ("Mine", "a,b\n1,2", "must name the columns"),
        ("Mine", "text,count\nfine,1\nhm,many", "line 3: count is &#x27;many&#x27;"),
        ("Mine", '{"text": "hm", "count": 1, "decision": "burn"}', "must be one of keep, edit"),
        ("Mine", '{"text": "hm", "count": 1, "decision": "edit"}', "edited is empty"),
        ("Mine", '{"text": "hm", "count": 1}\nnot json', "line 2: not JSON"),
        ("Frequency 30", "text,count\na,1", "is the name of another whitelist"),
        ("Mine", "text,count\n" + "a" * 1001 + ",1", "more than 1000 characters"),
        ("Mine", "text,count\na\0b,1", "cannot be stored"),
        ("Mine", '{"text": "\\ud800", "count": 1}', "cannot be stored"),
        ("Mine", '{"text": "a", "count": 1, "decision": "keep", "edited": "\\udfff"}', "cannot be"),
    ],
)
def test_a_bad_list_is_refused_whole_and_what_was_typed_stays(
    ann: Client, listed: Whitelist, name: str, text: str, told: str
) -> None:
    answer = ann.post("/whitelists/", {"name": name, "text": text})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert told in page
    assert all(line.replace('"', "&quot;") in page for line in text.split("\n"))
    assert Whitelist.objects.count() == 1


def test_decisions_are_stored_and_audited(ann: Client, listed: Whitelist) -> None:
    raw = form(listed, decision_2="drop", decision_3="edit", edited_3="  Better   words. ")
    answer = ann.post(f"/whitelists/{listed.pk}/?search=&page=1", raw)
    assert answer["Location"] == f"/whitelists/{listed.pk}/?page=1"
    rows = {row.place: row for row in listed.replies.all()}
    assert [rows[place].decision for place in (1, 2, 3)] == ["keep", "drop", "edit"]
    assert rows[3].edited == "Better words."
    assert all((row.decided_at is not None) == (place <= 25) for place, row in rows.items())
    entry = AuditEntry.objects.get(action="whitelist reply: edit")
    about = {"whitelist": listed.pk, "place": 3, "before": "keep", "edited": "Better words."}
    assert (entry.actor, entry.detail) == ("ann", about)
    assert AuditEntry.objects.filter(action__startswith="whitelist reply").count() == 25
    ann.post(f"/whitelists/{listed.pk}/", form(listed, decision_2="keep"))
    assert AuditEntry.objects.filter(action__startswith="whitelist reply").count() == 26


def test_a_bad_decision_saves_nothing_and_shows_what_was_typed(
    ann: Client, listed: Whitelist
) -> None:
    raw = form(listed, decision_1="drop", decision_2="edit", edited_3="Unsaved words.")
    answer = ann.post(f"/whitelists/{listed.pk}/", raw)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "type the replacement" in page
    assert "Unsaved words." in page
    first = listed.replies.get(place=1)
    assert f'name="decision-{first.pk}" value="drop" checked' in page
    assert not listed.replies.exclude(decided_at=None).exists()
    assert not AuditEntry.objects.filter(action__startswith="whitelist reply").exists()
    odd = {f"decision-{first.pk}": "burn", "decision-x": "keep", "decision-99999999": "drop"}
    assert ann.post(f"/whitelists/{listed.pk}/", odd).status_code == 422


def test_two_people_on_one_page_keep_each_other_s_decisions(listed: Whitelist) -> None:
    one, other = form(listed, decision_1="drop"), form(listed, decision_2="drop")
    everything = form(listed)
    whitelists.decide(whitelist=listed.pk, raw=everything, by=make_staff(), now=NOW)
    for raw in (one, other):
        whitelists.decide(whitelist=listed.pk, raw=raw, by=make_staff(), now=NOW)
    assert set(listed.replies.filter(decision="drop").values_list("place", flat=True)) == {1, 2}


def test_replies_of_another_list_are_out_of_reach(listed: Whitelist) -> None:
    key = whitelists.upload(name="Mine", text="text,count\nHi.,1", by=make_staff(), now=NOW)
    mine = Whitelist.objects.get(pk=key)
    reply = listed.replies.get(place=1)
    raw = {f"decision-{reply.pk}": "drop", f"was-{reply.pk}": "keep|"}
    assert whitelists.decide(whitelist=mine.pk, raw=raw, by=make_staff(), now=NOW) == []
    reply.refresh_from_db()
    assert reply.decision == "keep"


def test_search_filters_and_pages(ann: Client, listed: Whitelist) -> None:
    def shown(query: str) -> list[int]:
        found = ann.get(f"/whitelists/{listed.pk}/?{query}").context["found"]
        return [each.row.place for each in found.rows]

    assert shown("") == list(range(1, 26))
    assert shown("page=2") == list(range(26, 31))
    assert shown("page=999") == list(range(26, 31))
    assert shown("search=NUMBER+30") == [30]
    ListedReply.objects.filter(place=4).update(decision="drop", decided_at=NOW)
    assert shown("decision=drop") == [4]
    assert 4 not in shown("decision=open")
    assert shown("search=%00") == list(range(1, 26))


def test_the_download_is_read_back_by_bots(ann: Client, listed: Whitelist, tmp_path: Path) -> None:
    ann.post(f"/whitelists/{listed.pk}/", form(listed, decision_1="drop"))
    answer = ann.get(f"/whitelists/{listed.pk}/download/")
    assert "attachment" in answer["Content-Disposition"]
    path = tmp_path / "reviewed.jsonl"
    path.write_bytes(answer.content)
    entries = files.read_whitelist(path)
    assert json.loads(answer.content.splitlines()[0])["decision"] == "drop"
    assert files.replies(entries) == tuple(entry.text for entry in REPLIES[1:])


def test_hostile_text_is_only_text(ann: Client) -> None:
    text = files.to_json([WhitelistEntry("<script>alert(1)</script> hi", 1)])
    key = whitelists.upload(name="<b>x</b>", text=text, by=make_staff(), now=NOW)
    row = Whitelist.objects.get(pk=key)
    page = ann.get(f"/whitelists/{row.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "<b>x</b>" not in page
    assert ' style="' not in page


def test_the_database_refuses_an_edit_without_words(listed: Whitelist) -> None:
    with pytest.raises(IntegrityError):
        listed.replies.filter(place=1).update(decision="edit", edited="")


def test_too_many_replies_are_refused() -> None:
    text = "text,count\n" + "yes yes,1\n" * 10_001
    with pytest.raises(Invalid, match="more than 10000 replies"):
        whitelists.upload(name="Mine", text=text, by=make_staff(), now=NOW)
