"""Systems of a draft: which are allowed, their options, and what a change does to a rehearsal."""

import json
from pathlib import Path

import pytest
from django.conf import LazySettings

from tests.factories import NOW, make_campaign, make_staff
from webapp.forms import system_form
from webapp.forms.system_form import FOLDERS, OptionField, SystemForm
from webapp.forms.typed_fields import TypedField
from webapp.models import PEOPLE, AuditEntry, Campaign, Conversation, QuotaCell, System
from webapp.services.campaign import systems
from webapp.services.replies import rehearsal
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
RAW = {"name": "one", "target": "5", "sees_persona": "true", "option.opening": "Hi!"}


@pytest.fixture(autouse=True)
def _hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_HOSTS", "api.example.org")
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", "10.0.0.5:8000")


def draft(protocol: str = "personachat_bot") -> Campaign:
    campaign = make_campaign(protocol, state=Campaign.State.DRAFT)
    System.objects.filter(campaign=campaign).select_related("cell").get().cell.delete()
    campaign.systems.all().delete()
    return campaign


def add(campaign: Campaign, bot: str = "parrot", **changes: str) -> System:
    values = SystemForm(protocol_of(campaign), bot, RAW | changes).values()
    return systems.add_system(campaign=campaign, bot=bot, values=values, by=make_staff(), now=NOW)


@pytest.mark.parametrize(
    ("protocol", "bots", "people"),
    [
        ("personachat_bot", True, True),
        ("personachat_human", False, True),
        ("meena_interactive", True, False),
        ("meena_static", True, False),
    ],
)
def test_the_protocol_says_who_may_be_a_partner(protocol: str, bots: bool, people: bool) -> None:
    names = {kind.name for kind in systems.kinds(draft(protocol))}
    assert ("parrot" in names, PEOPLE in names) == (bots, people)


def test_a_system_gets_its_cell_and_only_options_that_differ() -> None:
    system = add(draft())
    assert system.options == {}
    assert QuotaCell.objects.get(system=system).target == 5
    assert add(system.campaign, name="two", **{"option.opening": "Hello."}).options == {
        "opening": "Hello."
    }


@pytest.mark.parametrize(
    ("bot", "field", "typed", "said"),
    [
        ("parrot", "name", "Not a slug", "such as not-a-slug"),
        ("parrot", "name", "", "empty"),
        ("parrot", "target", "0", "from 1 to 100000"),
        ("parrot", "option.opening", "x" * 501, "must be text"),
        ("tfidf", "option.max_words", "0", "at least 1"),
        ("tfidf", "option.max_words", "many", "a whole number"),
        ("tfidf", "option.max_words", "(" * 400, "a whole number"),
        ("tfidf", "option.mode", "best", "one of cosine, released"),
        ("tfidf", "option.weights", "../../etc", "not a folder of weights"),
        ("checkpoint", "option.checkpoint", "../../etc", "not a folder of weights"),
        ("kv_profile_memory", "option.second", "1e999", "a number"),
        ("tfidf", "option.weights", "", "there are no weights on this server"),
        ("chat_server", "option.url", "foo", "must be like https://api.example.org/v1"),
        ("chat_server", "option.url", "file:///etc/passwd", "must be like https://"),
        ("chat_server", "option.url", "https://me:word@example.org", "must be like https://"),
        ("chat_server", "option.url", "", "is empty; it must be like https://"),
        ("chat_server", "option.model", " ", "is empty; it must be text"),
        ("chat_server", "option.key_variable", "SECRET_KEY", "like lab-key or BOT_KEY_LAB"),
        (
            "chat_server",
            "option.told",
            "You are {{personae}}",
            "{{personae}} is no slot; there are {{persona}}, {{brief}}",
        ),
        ("chat_server", "option.extra", '{"top_k": 4', "is no JSON: Expecting"),
        ("chat_server", "option.extra", "[1]", "is not valid; it must be like {"),
        ("chat_server", "option.extra", '{"messages": []}', "“messages”, which Parley sets itself"),
        ("chat_server", "option.temperature", "2.1", "at most 2; empty: not sent"),
        (
            "chat_server",
            "option.url",
            "https://other.example.org/v1",
            "has to add it under Model servers",
        ),
        ("chat_server", "option.url", "http://api.example.org:443", "must begin with https://"),
        ("callable", "option.function", "os.system", "must be one that BOT_CALLABLES names"),
        ("no_repeat", "option.options", '{"max_words": "x"}', "max_words"),
        ("callable", "option.function", "", "must be like package.module.function"),
        ("callable", "option.function", "system", "must be like package.module.function"),
    ],
)
def test_bad_options_are_refused_by_their_field(
    bot: str, field: str, typed: str, said: str
) -> None:
    campaign = draft()
    empty = SystemForm(protocol_of(campaign), bot)
    empty_too = {name for name, one in empty.fields.items() if is_required(one)}
    with pytest.raises(Invalid) as refusal:
        SystemForm(protocol_of(campaign), bot, empty.typed() | {field: typed}).values()
    assert set(refusal.value.problems) - empty_too <= {field}
    assert said in refusal.value.problems[field]


def is_required(field: object) -> bool:
    """Tell whether a field must not stay empty, as it is at first."""
    if not isinstance(field, OptionField):
        return False
    return field.option.required or (field.option.name in FOLDERS and field.option.needed)


@pytest.mark.parametrize("url", ["https://api.example.org/v1", "http://10.0.0.5:8000"])
def test_a_chat_server_needs_an_address_and_a_model_only(url: str) -> None:
    campaign = draft()
    raw = SystemForm(protocol_of(campaign), "chat_server").typed()
    system = add(campaign, "chat_server", **raw | {"option.url": url, "option.model": "m"})
    assert system.options == {"url": url, "model": "m"}


def test_an_emptied_field_is_stored_as_not_sent_and_shown_empty_again() -> None:
    campaign = draft()
    raw = SystemForm(protocol_of(campaign), "chat_server").typed()
    raw |= {"option.url": "https://api.example.org/v1", "option.model": "m"}
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "stop": ["ü"]}
    raw |= {"option.temperature": " ", "option.top_p": "", "option.extra": json.dumps(extra)}
    system = add(campaign, "chat_server", **raw)
    assert system.options["temperature"] is None
    assert system.options["top_p"] is None
    assert system.options["extra"] == extra
    stored = systems.stored(campaign, system.pk)
    typed = SystemForm(protocol_of(campaign), "chat_server", system=stored).typed()
    assert (typed["option.temperature"], typed["option.top_p"]) == ("", "")
    assert json.loads(typed["option.extra"]) == extra
    again = SystemForm(protocol_of(campaign), "chat_server", typed, stored).values()
    assert again["options"] == system.options


def test_a_bot_that_answers_without_weights_may_have_none() -> None:
    assert add(draft(), "toy_f1").options == {}


def test_a_name_is_taken_once() -> None:
    campaign = draft()
    add(campaign)
    with pytest.raises(Invalid, match="another system"):
        add(campaign)


def test_a_bot_where_only_people_may_be_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be a partner"):
        add(draft("personachat_human"))


def test_weights_are_chosen_from_the_server_s_folder(
    settings: LazySettings, tmp_path: Path
) -> None:
    settings.WEIGHTS_DIR = tmp_path
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "bot.json").write_text(json.dumps({"bot": "tfidf"}))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "bot.json").write_text("{")
    assert [name for name, _ in system_form.trained_weights()] == ["odd", "small"]
    weights = SystemForm(protocol_of(draft()), "tfidf").fields["option.weights"]
    assert isinstance(weights, TypedField)
    assert ("small", "small (tfidf)") in weights.choices


@pytest.mark.parametrize(("length", "fits"), [(32_000, True), (32_001, False)])
def test_a_prompt_has_several_lines_and_32000_characters(length: int, fits: bool) -> None:
    campaign = draft()
    told = "Be kind.\r\n" + "x" * (length - 10)
    form = SystemForm(protocol_of(campaign), "chat_server")
    assert getattr(form.fields["option.told"], "kind", "") == "textarea"
    raw = form.typed() | {"option.url": "https://api.example.org/v1", "option.model": "m"}
    raw["option.told"] = told
    filled = SystemForm(protocol_of(campaign), "chat_server", raw)
    if fits:
        assert filled.values()["options"]["told"] == told.replace("\r\n", "\n")
    else:
        with pytest.raises(Invalid, match=r"option\.told"):
            filled.values()


def test_other_options_have_to_be_rehearsed_again() -> None:
    system = add(draft())
    System.objects.filter(pk=system.pk).update(rehearsal=System.Rehearsal.PASSED)
    assert changed(system, target="9").rehearsal == System.Rehearsal.PASSED
    assert QuotaCell.objects.get(system=system).target == 9
    assert changed(system, **{"option.opening": "Good day."}).rehearsal == "UNTESTED"


def changed(system: System, **changes: str) -> System:
    campaign, stored = system.campaign, systems.stored(system.campaign, system.pk)
    values = SystemForm(protocol_of(campaign), system.bot, RAW | changes, stored).values()
    return systems.change_system(
        campaign=campaign, pk=system.pk, values=values, by=make_staff(), now=NOW
    )


def test_a_stored_system_s_form_sends_what_is_stored() -> None:
    system = add(draft(), **{"option.opening": "Hello.", "sees_persona": ""})
    stored = systems.stored(system.campaign, system.pk)
    form = SystemForm(protocol_of(system.campaign), system.bot, system=stored)
    flags = {"sees_persona": "false", "is_control": "false"}
    assert form.typed() == RAW | {"option.opening": "Hello."} | flags
    again = SystemForm(protocol_of(system.campaign), system.bot, form.typed(), stored).values()
    assert again == {
        "name": "one",
        "target": 5,
        "sees_persona": False,
        "is_control": False,
        "options": {"opening": "Hello."},
    }


def test_a_tested_system_is_removed_with_its_tests_but_not_while_it_is_tested() -> None:
    system = add(draft())
    rehearsal.start(system=system, by="ann", now=NOW)
    with pytest.raises(systems.SystemRefused, match="being tested"):
        systems.remove_system(campaign=system.campaign, pk=system.pk, by=make_staff(), now=NOW)
    system.conversations.get().jobs.update(state="DONE")
    systems.remove_system(campaign=system.campaign, pk=system.pk, by=make_staff(), now=NOW)
    assert not System.objects.filter(pk=system.pk).exists()
    assert not Conversation.objects.exists()
    assert AuditEntry.objects.latest("number").action == "system removed"
