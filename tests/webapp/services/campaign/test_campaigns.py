"""Drafts: bad input has its complaint, departures are kept, a launched campaign is frozen."""

import pytest

from evaluation import Source
from evaluation.registry import get_protocol, protocol_names
from tests.factories import NOW, make_campaign, make_staff
from webapp.forms.campaign_form import CampaignForm, SettingField
from webapp.forms.typed_fields import TypedBoundField
from webapp.models import AuditEntry, Campaign
from webapp.models.campaign import new_slug
from webapp.services.campaign import campaigns
from webapp.services.rules import access
from webapp.services.staff_forms import source_settings
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db


def form(protocol: str = "personachat_bot", **changes: str) -> dict[str, str]:
    """What the empty form sends once the fields without a first value are filled in."""
    raw = CampaignForm(get_protocol(protocol)).typed()
    return raw | {"name": "Pilot", "pay": "2.00", "contact": "lab@example.org"} | changes


def create(protocol: str = "personachat_bot", **changes: str) -> Campaign:
    values = CampaignForm(get_protocol(protocol), form(protocol, **changes)).values()
    return campaigns.create(owner=make_staff(), protocol=protocol, values=values, now=NOW)


@pytest.mark.parametrize("protocol", protocol_names())
def test_a_form_as_it_is_prefilled_departs_in_nothing(protocol: str) -> None:
    campaign = create(protocol)
    assert campaign.changes == {}
    assert campaign.state == Campaign.State.DRAFT
    assert AuditEntry.objects.get().action == "campaign created"


def test_a_changed_setting_departs_from_the_source() -> None:
    campaign = create(**{"setting.chat.minimum": "6, 8", "setting.chat.maximum": "20"})
    assert campaign.changes == {"chat.minimum": [6, 8], "chat.maximum": 20}
    protocol, departures = campaigns.protocol_and_changes(campaign)
    assert protocol.chat is not None
    assert protocol.chat.minimum.options == (6, 8)
    assert [(row["setting"], row["source_words"], row["value_words"]) for row in departures] == [
        ("chat.minimum", "12, 14, 16", "6, 8"),
        ("chat.maximum", "", "20"),
    ]


def test_every_setting_is_shown_with_its_provenance() -> None:
    words = CampaignForm(get_protocol("personachat_bot"))["setting.chat.max_words.limit"]
    assert isinstance(words, TypedBoundField)
    assert isinstance(words.field, SettingField)
    assert words.raw == "15"
    assert words.field.setting.source == Source("S", "section 3.3: at most 15 words per message")
    assert not words.departs


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", "", "empty"),
        ("name", "x" * 121, "121 characters"),
        ("name", "a\0b", "cannot be stored"),
        ("minutes", "0", "“0” is not a whole number from 1 to 240"),
        ("minutes", "٣", "not a whole number"),
        ("pay", "-1", "“-1” is not an amount"),
        ("pay", "NaN", "not an amount"),
        ("pay", "1e9", "not an amount"),
        ("pay", "1.005", "two decimals"),
        ("pay", "9" * 5000, "not an amount"),
        ("waiting_pay", "3.00", "more than the full pay"),
        ("quit_rule", "GENEROUS", "“GENEROUS” is not a choice; choose one of: pro rata"),
        ("quit_rule", "", "is not a choice"),
        ("least_work", "0", "from 1 to 1000"),
        ("least_work", "1001", "from 1 to 1000"),
        ("currency", "US$", "not a currency"),
        ("currency", "ZZZ", "“ZZZ” is not a currency; write its code of three letters"),
        ("currency", "XAU", "not a currency"),
        ("pay", "2,50", "“2,50”: write 2.50"),
        ("pay", "1,000", "not an amount"),
        ("contact", " ", "empty"),
        ("consent", "Yes?", "empty"),
        ("return_url", "javascript:alert(1)", "not a web address"),
        ("return_url", "https://example.org/" + "x" * 200, "not a web address"),
        ("return_url", "http://example.org/?cc={code}", "it begins with https://"),
        ("return_url", "https://e.org/done", "such as in https://e.org/done?cc={code}"),
        ("return_url", "https://e.org/?cc=C1", "such as in https://e.org/?cc=C1&own={code}"),
        ("setting.chat.pool", "foo", "“foo” is no split; write one of: test, train, valid"),
        ("wait_seconds", "5", "from 15 to 3600"),
        ("reply_seconds", "1000", "from 10 to 600"),
        ("seed", "2147483648", "from 0 to 2147483647"),
        ("setting.chat.minimum", "12, two", "“two” is not a whole number"),
        ("setting.chat.minimum", "1", "“1” is not a whole number from 2 to 1000"),
        ("setting.chat.minimum", "100000", "“100000” is not a whole number from 2 to 1000"),
        ("setting.chat.minimum", "", "write 1 to 50 whole numbers from 2 to 1000"),
        ("setting.chat.minimum", "4," * 51, "has 51 numbers; write 1 to 50"),
        ("setting.chat.maximum", "4", "“4” is below the minimum; write 16 or more"),
        ("setting.chat.maximum", "1001", "from 2 to 1000, or empty for no limit"),
        ("setting.chat.maximum", "9" * 5000, "not a whole number"),
        ("setting.chat.pace", "nan", "not a number from 0 to 10"),
        ("setting.chat.pace", "10.1", "“10.1” is not a number from 0 to 10"),
        ("setting.chat.pace", "x", "“x” is not a number from 0 to 10"),
        ("setting.chat.pool", "a pool of a long name", "at most 10"),
        ("setting.chat.pool", "a\0b", "cannot be stored"),
        ("setting.chat.pool", "", "is empty; write a text of at most 10 characters"),
        ("setting.chat.max_words.limit", "0", "from 1 to 1000"),
    ],
)
def test_bad_input_is_refused_by_its_field(field: str, typed: str, said: str) -> None:
    with pytest.raises(Invalid) as refusal:
        create(**{field: typed})
    assert list(refusal.value.problems) == [field]
    assert said in refusal.value.problems[field]
    assert not Campaign.objects.exists()


def test_a_split_that_imported_personas_name_can_be_drawn_from() -> None:
    campaign = make_campaign(state=Campaign.State.DRAFT)
    campaign.personas.update(split="mine")
    shown = access.campaign(make_staff(), campaign.pk)
    raw = form(**{"setting.chat.pool": "mine"})
    assert CampaignForm(campaigns.source(shown), raw, shown).values()["changes"] == {
        "chat.pool": "mine"
    }


@pytest.mark.parametrize("code", ["usd", "JPY", "ZWG", "AED"])
def test_every_currency_that_people_are_paid_in_is_accepted(code: str) -> None:
    assert create(currency=code).currency == code.upper()


def test_all_complaints_come_at_once_and_what_was_typed_is_kept() -> None:
    raw = form(name="", pay="much", **{"setting.chat.pace": "slow", "setting.chat.maximum": "4"})
    typed = CampaignForm(get_protocol("personachat_bot"), raw)
    assert set(typed.errors) == {"name", "pay", "setting.chat.pace", "setting.chat.maximum"}
    assert {field.name for field in typed.wrong()} == set(typed.errors)
    pace = typed["setting.chat.pace"]
    assert isinstance(pace, TypedBoundField)
    assert (pace.raw, pace.departs) == ("slow", True)
    assert pace.error


def test_limits_that_hold_only_together_are_checked_together() -> None:
    campaign = create(
        "meena_interactive", **{"setting.chat.minimum": "30", "setting.chat.maximum": ""}
    )
    assert campaign.changes == {"chat.minimum": [30], "chat.maximum": None}


def test_fields_without_meaning_are_not_asked() -> None:
    names = set(CampaignForm(get_protocol("meena_static")).fields)
    assert names.isdisjoint({"wait_seconds", "waiting_pay", "bot_when_alone", "reply_seconds"})


@pytest.mark.parametrize("protocol", protocol_names())
def test_every_field_is_in_one_section(protocol: str) -> None:
    form = CampaignForm(get_protocol(protocol))
    sections = form.sections()
    names = [field.name for section in sections for field in section.fields]
    assert sorted(names) == sorted(form.fields)
    by_title = {str(section.title): section for section in sections}
    last = [str(section.title) for section in sections if section.is_folded]
    assert last == ["Limits and reproduction"] == [str(sections[-1].title)]
    assert {"name", "minutes", "pay"} <= {field.name for field in by_title["Basics"].fields}
    assert "seed" in {field.name for field in sections[-1].fields}
    assert ("Conversation" in by_title) == (get_protocol(protocol).chat is not None)


def test_a_folded_section_opens_where_something_is_wrong() -> None:
    for typed, is_open in (("-1", True), ("7", False)):
        bound = CampaignForm(get_protocol("personachat_bot"), form(seed=typed))
        bound.is_valid()
        assert bound.sections()[-1].is_open == is_open


def test_a_changed_seed_shuffles_the_personas_anew() -> None:
    campaign = make_campaign(state=Campaign.State.DRAFT, seed=7)
    raw = form(name="Renamed", seed="8")
    shown = access.campaign(make_staff(), campaign.pk)
    assert CampaignForm(campaigns.source(shown), None, shown).typed()["seed"] == "7"
    values = CampaignForm(campaigns.source(shown), raw, shown).values()
    campaigns.change(campaign=campaign, by=make_staff(), values=values, now=NOW)
    persona = campaign.personas.get(key="p3")
    assert persona.order == campaigns.persona_order(8, "p3")
    campaign.refresh_from_db()
    assert (campaign.name, campaign.seed) == ("Renamed", 8)


@pytest.mark.parametrize("state", [s for s in Campaign.State if s != Campaign.State.DRAFT])
def test_a_launched_campaign_is_not_changed(state: str) -> None:
    campaign = make_campaign(state=state)
    with pytest.raises(campaigns.NotDraft):
        campaigns.change(campaign=campaign, by=make_staff(), values={}, now=NOW)


def test_settings_are_written_as_they_are_typed() -> None:
    assert source_settings.written([12, 14]) == "12, 14"
    assert source_settings.written(True) == "true"
    assert source_settings.written(None) == ""


def test_no_address_part_begins_like_an_option_of_a_command() -> None:
    """One in 64 would by chance."""
    assert not any(new_slug().startswith("-") for _ in range(2_000))
