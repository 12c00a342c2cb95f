"""A form that is opened and sent as it stands is accepted, and changes nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.forms import model_to_dict
from django.test import Client
from django.urls import reverse

from bots import bot_options, bot_presets
from evaluation import InvalidSetting, InvalidValue, Protocol
from evaluation.registry import get_protocol, protocol_names
from evaluation.setting_types import OneOf, OnOff, TextLines, WholeNumber, WholeNumbers, WordList
from evaluation.words import words_of
from tests.factories import make_campaign
from tests.webapp.views.staff.as_it_stands import opened
from webapp.forms.campaign_fields import CampaignFields
from webapp.models import Campaign, System
from webapp.services.campaign import systems
from webapp.services.rules import access
from webapp.services.staff_forms import stop_rules
from webapp.services.staff_forms.source_settings import plain

pytestmark = pytest.mark.django_db
# Every field that campaigns of all protocols have, as no new one has it.
FILLED: dict[str, Any] = {
    "name": "“Two” & <more>",
    "minutes": 7,
    "pay": Decimal("3.50"),
    "currency": "JPY",
    "waiting_pay": Decimal("0.25"),
    "screening_pay": Decimal("0.05"),
    "quit_rule": "FULL",
    "least_work": 3,
    "budget": Decimal("70.10"),
    "hold_unusual": True,
    "hold_payments": True,
    "contact": "Ada <ada@example.org>",
    "languages": ["de", "en", "ar"],
    "consent": "# You chat\n\n* with somebody,\n* and rate.  Thank you very much.",
    "panel": Campaign.Panel.values[-1],
    "platform": "invited",
    "return_url": "https://app.example.org/complete?cc={code}",
    "screened_url": "https://app.example.org/complete?cc=OUT&x=1",
    "keep_days": 30,
    "crisis_text": "Call somebody.\nNow.",
    "crisis_phrases": "end it all\nno hope*",
    "wait_seconds": 31,
    "reply_seconds": 33,
    "troubled_percent": 20,
    "tokens": 100_000,
    "conversation_tokens": 1_000,
    "token_cost": Decimal("12.50"),
    "conversation_cost": Decimal("1.25"),
    "bot_when_alone": True,
    "partner_left_counts": True,
    "stop_difference": 0.5,
    "stop_question": "",
    "stop_alpha": 0.01,
    "stop_margin": 0.25,
    "stop_items": 40,
    "stop_recruiting": True,
    "seed": 4711,
}


def stored(row: Campaign | System) -> dict[str, Any]:
    row.refresh_from_db()
    return model_to_dict(row)


def other_values(protocol: Protocol) -> dict[str, Any]:
    """Return a change of each setting that takes one, whatever the others are."""
    changes: dict[str, Any] = {}
    for setting in protocol.settings():
        for value in _others(setting.type, setting.value):
            if value == plain(setting.value):
                continue
            try:
                setting.type.accept(value)
                protocol.change(changes | {setting.name: value})
            except (InvalidSetting, InvalidValue):
                continue
            changes[setting.name] = value
            break
    return changes


def _others(of: Any, value: Any) -> list[Any]:
    if isinstance(of, OnOff):
        return [not value]
    if isinstance(of, OneOf):
        return [each for each in of.options if each != value]
    if isinstance(of, WholeNumbers):
        return [[each + 2 for each in value.options], [12, 14, 16], [14]]
    if isinstance(of, WholeNumber):
        return [None, *((value or of.least) + by for by in (2, 1, -1))]
    if isinstance(of, TextLines):
        return [["Of cats & dogs", "“Rain”"], []]
    if isinstance(of, WordList):
        return [["one", "two"], []]
    return [value / 2, 0.25] if isinstance(value, float) else []


@pytest.mark.parametrize("name", protocol_names())
def test_settings_of_a_draft(ann: Client, name: str) -> None:
    assert FILLED.keys() == CampaignFields.base_fields.keys()
    protocol = get_protocol(name)
    changes = other_values(protocol)
    assert changes or not protocol.settings()
    scored = stop_rules.questions(protocol.change(changes))
    found = FILLED | {"changes": changes, "stop_question": next(iter(scored), "")}
    draft = make_campaign(name, state="DRAFT", opened_at=None, **found)
    before = stored(draft)
    address = reverse("settings", args=[draft.pk])
    answer = ann.post(address, opened(ann, address))
    complaints = answer.context["form"].errors if answer.status_code == 422 else None
    assert (answer.status_code, complaints) == (302, None)
    after = stored(draft)
    assert {key: (before[key], after[key]) for key in before if before[key] != after[key]} == {}


def test_a_system_of_every_bot_and_preset(ann: Client) -> None:
    """Nothing but what is empty, and the server lacks here, has a complaint."""
    draft = make_campaign("meena_interactive", state="DRAFT", opened_at=None)
    campaign, system = access.campaign(draft.owner, draft.pk), draft.systems.get()
    bots = [kind.name for kind in systems.kinds(campaign) if systems.is_bot(kind.name)]
    saved = 0
    for bot in bots:
        usual = {each.name: each.default for each in bot_options(bot) if not each.trained}
        for preset in ({}, *bot_presets(bot).values()):
            rest = usual.keys() & preset.keys()
            options = {name: preset[name] for name in rest if preset[name] != usual[name]}
            System.objects.filter(pk=system.pk).update(
                bot=bot, options=options, rehearsal="PASSED", is_control=True
            )
            before = stored(system)
            address = reverse("system", args=[draft.pk, system.pk])
            answer = ann.post(address, opened(ann, address) | {"act": "save"})
            if answer.status_code == 422:
                form = answer.context["form"]
                wrong = {name.removeprefix("option.") for name in form.errors}
                assert all("is empty" in str(found) for found in form.errors.values())
                assert wrong <= usual.keys()
                kept = form.cleaned_data["options"]
                assert kept == {name: options[name] for name in options if name not in wrong}
            else:
                saved += 1
            assert stored(system) == before, bot
    assert saved > 10
    assert len(bots) > 40


def test_words_in_another_language(ann: Client) -> None:
    words = {field: f"„Wörter“ & <{field}>" for field, _ in words_of(get_protocol("meena_static"))}
    texts = words | {"consent": "# Sie lesen\n\n* und urteilen.", "nothing": ""}
    draft = make_campaign(
        "meena_static",
        state="DRAFT",
        opened_at=None,
        languages=["en", "de"],
        translations={"de": {name: text for name, text in texts.items() if text}},
    )
    before = stored(draft)
    address = f"{reverse('campaign-words', args=[draft.pk])}?language=de"
    assert ann.post(address, opened(ann, address)).status_code == 302
    assert stored(draft) == before
