"""One's own model from the form: presets, preview, a try before saving, servers and their keys."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

from bots import registry
from bots.guards import egress
from tests import serving
from tests.bots.chat_completions import Fake, running
from tests.factories import NOW, make_campaign, make_staff
from webapp import inference
from webapp.models import (
    AuditEntry,
    Campaign,
    Conversation,
    ModelServer,
    ReplyCall,
    ReplyJob,
    ServerKey,
    System,
)
from webapp.services.data import exports
from webapp.services.replies import model_keys, rehearsal

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-0123456789"
PROMPT = "Be brief.\n\nYou are:\n{{persona}}\n\n{{brief}}\n\nTopic: {{topic}}"


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake
    egress.enter(egress.Entered())


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_staff("ann"))
    return client


@pytest.fixture
def admin() -> Client:
    user = make_staff("root")
    type(user).objects.filter(pk=user.pk).update(is_superuser=True)
    client = Client()
    client.force_login(type(user).objects.get(pk=user.pk))
    return client


@pytest.fixture
def allowed(admin: Client, fake: Fake) -> ModelServer:
    """The fake server, allowed and given a key in the browser."""
    sent = {"server": f"http://127.0.0.1:{fake.port}", "private": "true"}
    assert admin.post("/servers/", sent).status_code == 302
    row = ModelServer.objects.get()
    sent = {"name": "lab-key", "key": f" {KEY}\n"}
    assert admin.post(f"/servers/{row.pk}/key/", sent).status_code == 302
    return row


def draft(protocol: str = "personachat_bot") -> Campaign:
    campaign = make_campaign(protocol, state=Campaign.State.DRAFT)
    System.objects.filter(campaign=campaign).select_related("cell").get().cell.delete()
    campaign.systems.all().delete()
    return campaign


def typed(fake: Fake, **changes: str) -> dict[str, str]:
    fields = {"url": fake.url, "model": "good", "key_variable": "lab-key", "told": PROMPT}
    fields |= {"temperature": "", "top_p": "0.9", "max_tokens": "50", "extra": '{"top_k": 5}'}
    fields |= {"opening": "(Begin.)", "told_persona": "You:", "seed": "0", "seconds": "20"}
    fields |= {"tries": "1", "at_once": "4", "limit_field": "max_tokens", "system_role": "system"}
    fields |= {"safety": "off", "display": "verbatim", "on_cut": "show", "draws": "independent"}
    fields |= {"reasoning_begins": "<think>", "reasoning_ends": "</think>", "adapts": "true"}
    raw = {f"option.{name}": value for name, value in (fields | changes).items()}
    return {"name": "own", "target": "5", "sees_persona": "true", **raw}


def rehearse(system: System) -> list[dict[str, object]]:
    """Return the prompts that a rehearsal stores."""
    rehearsal.start(system=system, by="ann", now=NOW)
    for _ in range(3):
        ReplyJob.objects.update(lease_until=None)
        serving.serve(bot="chat_server", owner="test", respond=inference.respond_here)
    return [json.loads(one.prompt) for one in ReplyCall.objects.order_by("job", "number")]


@pytest.mark.parametrize("protocol", ["personachat_bot", "meena_interactive"])
def test_a_preview_is_what_the_rehearsal_then_sends_and_stores(
    staff: Client, fake: Fake, allowed: ModelServer, protocol: str
) -> None:
    campaign = draft(protocol)
    address = f"/campaigns/{campaign.pk}/systems/add/chat_server/"
    page = staff.post(address, typed(fake) | {"act": "preview"})
    assert page.status_code == 200
    previewed = [json.loads(one) for one in page.context["requests"]]
    assert len(previewed) == rehearsal.REPLIES
    assert not campaign.systems.exists()
    assert fake.asked == []
    assert staff.post(address, typed(fake) | {"act": "save"}).status_code == 302
    prompts = rehearse(campaign.systems.get())
    sent = [{name: one[name] for name in one if name != "path"} for one in fake.asked]
    assert prompts == sent
    assert [headers["Authorization"] for headers in fake.headers] == [f"Bearer {KEY}"] * 3
    replies = [call.job.text for call in ReplyCall.objects.order_by("job", "number")]
    for prompt, shown in zip(prompts, previewed, strict=True):
        assert {name: one for name, one in prompt.items() if name != "seed"} == {
            **shown,
            "messages": _with_replies(shown["messages"], replies),
        }
    assert (prompts[0]["top_p"], prompts[0]["top_k"]) == (0.9, 5)
    assert "temperature" not in prompts[0]


def _with_replies(messages: list[dict[str, str]], replies: list[str]) -> list[dict[str, str]]:
    left = iter(replies)
    placed = rehearsal.REPLY
    return [{**one, "content": next(left)} if one["content"] == placed else one for one in messages]


def test_what_is_typed_can_be_tried_and_nothing_is_stored(
    staff: Client, fake: Fake, allowed: ModelServer
) -> None:
    campaign = draft()
    address = f"/campaigns/{campaign.pk}/systems/add/chat_server/"
    raw = typed(fake) | {"act": "try", "message": "Any pets?"}
    page = staff.post(address, raw)
    attempt = page.context["attempt"]
    assert attempt.shown.startswith("You said: Any pets?")
    assert json.loads(attempt.prompt) == {
        name: value for name, value in fake.asked[0].items() if name != "path"
    }
    assert attempt.tokens == "9 prompt, 5 reply"
    assert b'value="Any pets?"' in page.content
    page = staff.post(address, raw | {"option.model": "refuses"})
    assert page.context["attempt"].error.endswith("answered with status 400: no field seed")
    page = staff.post(address, raw | {"option.model": "empty"})
    assert "wrote nothing" in page.context["attempt"].events[0]
    page = staff.post(address, raw | {"option.url": "http://127.0.0.1:1/v1"})
    assert page.status_code == 422
    assert b"has to add it under Model servers" in page.content
    for rows in (System, Conversation, ReplyJob, ReplyCall):
        assert not rows.objects.filter().exists()
    assert KEY.encode() not in page.content


def test_a_function_is_tried_in_a_process_of_its_own(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_CALLABLES", "tests.bots.functions.*")
    campaign = draft()
    address = f"/campaigns/{campaign.pk}/systems/add/callable/"
    raw = staff.get(address).context["form"].typed() | {"act": "try", "name": "own"}
    raw["option.function"] = "tests.bots.functions.no_such"
    assert "no_such cannot be found" in staff.post(address, raw).context["attempt"].error
    raw |= {"option.function": "tests.bots.functions.considered", "message": "Any pets?"}
    attempt = staff.post(address, raw).context["attempt"]
    assert (attempt.error, bool(attempt.shown)) == ("", True)


def test_a_preset_fills_in_the_prompt_and_keeps_what_was_typed(staff: Client, fake: Fake) -> None:
    campaign = draft()
    address = f"/campaigns/{campaign.pk}/systems/add/chat_server/"
    raw = typed(fake, model="mine", told="Old.") | {"act": "preset", "preset": "role"}
    del raw["option.adapts"]
    form = staff.post(address, raw).context["form"]
    shown = form.typed()
    assert "You play a character" in shown["option.told"]
    assert (shown["option.model"], shown["option.adapts"]) == ("mine", "")
    assert not form.is_bound
    names = [name for name, _label in form.presets]
    assert names == ["plain", "persona", "role", "topic", "interview", "script"]
    assert staff.post(address, raw | {"preset": "none such"}).context["form"].typed() == {
        name: raw.get(name, "") for name in form.fields
    }


def test_only_an_administrator_changes_servers(staff: Client, allowed: ModelServer) -> None:
    key = ServerKey.objects.get()
    page = staff.get("/servers/")
    assert page.status_code == 200
    assert b"lab-key" in page.content
    assert b"<form class" not in page.content.replace(b'<form class="logout"', b"")
    for address in (
        "/servers/",
        f"/servers/{allowed.pk}/remove/",
        f"/servers/{allowed.pk}/key/",
        f"/servers/keys/{key.pk}/remove/",
    ):
        assert staff.post(address, {"server": "x.org", "name": "a", "key": "b"}).status_code == 403
    assert (ModelServer.objects.count(), ServerKey.objects.count()) == (1, 1)


def test_a_key_is_never_seen_again(
    admin: Client,
    staff: Client,
    fake: Fake,
    allowed: ModelServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    campaign = draft()
    staff.post(f"/campaigns/{campaign.pk}/systems/add/chat_server/", typed(fake))
    rehearse(campaign.systems.get())
    assert fake.headers[0]["Authorization"] == f"Bearer {KEY}"
    dump = io.StringIO()
    call_command("dumpdata", "webapp", stdout=dump)
    archive = zipfile.ZipFile(exports.write_to(campaign=campaign, path=tmp_path / "export.zip"))
    pages = [admin.get("/servers/"), staff.get(f"/campaigns/{campaign.pk}/")]
    again = admin.post(f"/servers/{allowed.pk}/key/", {"name": "BAD", "key": KEY})
    assert again.status_code == 422
    for text in (
        dump.getvalue(),
        caplog.text,
        *(page.content.decode() for page in (*pages, again)),
        *(archive.read(name).decode("utf-8", "replace") for name in archive.namelist()),
    ):
        assert KEY not in text
    assert {"server": allowed.server, "key": "lab-key"} in [
        entry.detail for entry in AuditEntry.objects.all()
    ]


def test_a_server_and_its_key_can_be_removed_while_all_runs(
    admin: Client, fake: Fake, allowed: ModelServer
) -> None:
    model_keys.enter()
    assert egress.key("lab-key", f"127.0.0.1:{fake.port}") == KEY
    with pytest.raises(egress.NotAllowed, match="is not sent to api"):
        egress.key("lab-key", "api.example.org:443")
    campaign = make_campaign(systems={"own": "chat_server"})
    options = {"url": fake.url, "model": "good", "key_variable": "lab-key", "tries": 1}
    campaign.systems.update(options=options)
    assert admin.post(f"/servers/{allowed.pk}/remove/").status_code == 302
    assert not ServerKey.objects.exists()
    rehearsal.start(system=campaign.systems.get(), by="ann", now=NOW)
    serving.serve(bot="chat_server", owner="test", respond=inference.respond_here)
    assert fake.asked == []
    assert "not among the servers" in ReplyCall.objects.get().error


def test_a_key_sealed_under_another_secret_has_to_be_entered_anew(
    admin: Client, allowed: ModelServer, settings: LazySettings
) -> None:
    settings.KEYS_SECRET = "a secret of its own"
    model_keys.enter()
    assert egress.key("lab-key", allowed.server) == KEY  # by the site's secret, as before
    settings.SECRET_KEY = "another"
    admin.force_login(get_user_model().objects.get(username="root"))
    assert b"enter it anew" in admin.get("/servers/").content
    model_keys.enter()
    with pytest.raises(egress.NotAllowed, match="entered anew"):
        egress.key("lab-key", allowed.server)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("", "is no server"),
        ("a b.org", "is no server"),
        ("https://me:word@x.org", "is no server"),
        ("x.org:99999", "is no server"),
        ("x.org?y", "is no server"),
    ],
)
def test_what_is_no_server_is_refused_and_kept(admin: Client, server: str, said: str) -> None:
    page = admin.post("/servers/", {"server": server})
    assert page.status_code == 422
    assert said in page.content.decode()
    assert not ModelServer.objects.exists()


@pytest.mark.parametrize(
    "server",
    ["http://gpu.lab:8000/v1", "127.0.0.1:8000", "https://10.0.0.7", "localhost:11434", "[::1]:80"],
)
def test_a_private_server_has_to_be_named_as_ours(admin: Client, server: str) -> None:
    page = admin.post("/servers/", {"server": server})
    assert page.status_code == 422
    assert "if it is a server of yours, say so below" in page.content.decode()
    assert not ModelServer.objects.exists()
    assert admin.post("/servers/", {"server": server, "private": "true"}).status_code == 302
    assert ModelServer.objects.get().is_private


def test_a_host_gets_the_usual_port_and_is_listed_once(admin: Client) -> None:
    for typed_server in ("API.example.org", "https://api.example.org/v1", "gpu.lab:8000"):
        admin.post("/servers/", {"server": typed_server})
    found = sorted(ModelServer.objects.values_list("server", flat=True))
    assert found == ["api.example.org:443", "gpu.lab:8000"]


def test_the_doors_list_what_is_ready_first_and_say_what_is_missing(
    staff: Client, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WEIGHTS_DIR = tmp_path
    for name in ("BOT_HOSTS", "BOT_PRIVATE_HOSTS", "BOT_CALLABLES"):
        monkeypatch.delenv(name, raising=False)
    campaign = draft()
    address = f"/campaigns/{campaign.pk}/systems/add/"
    found = staff.get(address).context
    assert [one.name for one in found["server"]] == ["chat_server"]
    assert "an administrator has to add one" in found["server"][0].missing
    assert [one.name for one in found["files"]] == ["callable", "checkpoint"]
    assert all(one.missing for one in found["files"])
    assert [one.name for one in found["people"]] == ["people"]
    missing = {one.name: one.missing for one in found["baselines"]}
    assert missing["tfidf"].endswith("python -m bots train tfidf")
    assert (missing["parrot"], missing["toy_f1"]) == ("", "")
    order = [bool(one.missing) for one in found["baselines"]]
    assert order == sorted(order)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.json").write_text(json.dumps({"bot": "tfidf"}))
    (tmp_path / "mine" / "config.json").write_text("{}")
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", "gpu.lab:8000")
    monkeypatch.setenv("BOT_CALLABLES", "lab.*")
    found = staff.get(address, {"search": "TF idf"}).context
    assert "tfidf" in [one.name for one in found["baselines"]]
    assert len(found["baselines"]) < 5
    assert not any(one.missing for door in ("server", "files") for one in found[door])
    assert next(one.missing for one in found["baselines"] if one.name == "tfidf") == ""
    assert b"None matches." in staff.get(address, {"search": "no such bot"}).content
    for installed, lack in ((True, ""), (False, "the extra instruct is not installed")):
        monkeypatch.setattr(registry, "find_spec", lambda _, there=installed: there or None)
        (small,) = staff.get(address, {"search": "small model"}).context["baselines"]
        assert (small.name, small.missing) == ("small_model", lack)


def test_the_doors_are_a_drafts_and_follow_its_protocol(staff: Client) -> None:
    late = staff.get(f"/campaigns/{make_campaign(state='CLOSED').pk}/systems/add/")
    assert late.status_code == 409
    assert "It is in the state complete," in late.content.decode()
    page = staff.get(f"/campaigns/{draft('personachat_human').pk}/systems/add/")
    assert page.context["server"] == page.context["baselines"] == []
    assert b"door-people" in page.content
    assert b"door-baselines" not in page.content
