"""Words for the rule of stopping: at consent, in the form, in plan and codebook (R21, QUIT)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluation.registry import get_protocol, protocol_names
from tests.factories import make_campaign
from webapp.forms.campaign_form import CampaignForm
from webapp.forms.typed_fields import TypedField
from webapp.models import Campaign
from webapp.services.campaign import launch
from webapp.services.data import codebook
from webapp.services.participation import study_info

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("protocol", protocol_names())
@pytest.mark.parametrize("rule", Campaign.QuitRule.values)
def test_every_protocol_states_every_rule_with_its_numbers(protocol: str, rule: str) -> None:
    campaign = make_campaign(protocol, personas=0, quit_rule=rule, pay="1.20", least_work=3)
    campaign.refresh_from_db()
    words = study_info.of(campaign).stopping
    step, batch = get_protocol(protocol).chat, get_protocol(protocol).batch
    least = min(3, *(step.minimum.options if step is not None else (batch,)))
    nothing = f"below {least}" if least > 1 else "Nothing is paid before you have"
    assert "%(" not in words
    assert ("1.20 USD" in words) == (rule != "MINIMUM" or step is not None)
    assert (nothing in words) == (rule != "MINIMUM")
    if step is not None and rule != "FULL":
        lengths = step.minimum.options
        shown = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else str(lengths[0])
        assert f"{shown} messages" in words


def test_the_least_that_is_stated_is_the_least_that_holds() -> None:
    campaign = make_campaign(changes={"chat.minimum": [2]})
    campaign.refresh_from_db()
    assert "below 2 messages" in study_info.of(campaign).stopping
    campaign.least_work = 1
    assert "before you have written a message" in study_info.of(campaign).stopping
    campaign.pay = Decimal(0)
    assert study_info.of(campaign).stopping == ""


def test_the_plan_and_the_codebook_carry_the_rule() -> None:
    campaign = make_campaign(quit_rule="MINIMUM", least_work=6)
    campaign.refresh_from_db()
    told = {
        "rule": "MINIMUM",
        "means": "nothing before the minimum, in full from there on",
        "least_work": 6,
        "rounding": "a part of a cent is rounded up",
    }
    assert launch.plan_of(campaign)["pay"]["stopping"] == told
    book = codebook.codebook(campaign)
    assert book["stopping"] == told
    text = codebook.as_markdown(book)
    assert "nothing before the minimum, in full from there on (MINIMUM)" in text
    assert {"quit_rule", "least_work"} <= set(book["files"]["participants.csv"])


def test_a_new_campaign_pays_pro_rata_from_four_messages_on() -> None:
    form = CampaignForm(get_protocol("meena_static"))
    assert (form["quit_rule"].value(), form["least_work"].value()) == ("SHARE", "4")
    rule = form.fields["quit_rule"]
    assert isinstance(rule, TypedField)
    assert [value for value, _ in rule.choices] == Campaign.QuitRule.values
    assert (Campaign().quit_rule, Campaign().least_work) == ("SHARE", 4)
