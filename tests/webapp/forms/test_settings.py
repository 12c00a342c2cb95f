"""Settings of a new part: its fields alone bring the form, the bounds and the complaints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from evaluation import Draw, Protocol, Source
from evaluation.registry import get_protocol, protocol_names
from evaluation.sentences import Sentence
from evaluation.setting_types import Number, OnOff, Text, WholeNumber, WholeNumbers
from evaluation.settings import setting
from tests.factories import make_campaign, make_staff
from webapp.forms.campaign_form import CampaignForm, SettingField
from webapp.services.rules import access
from webapp.services.staff_forms.fields import Invalid


@dataclass(frozen=True)
class Slow:
    """A message check that nobody has seen before, with a setting of each type."""

    name: ClassVar[str] = "slow"
    pause: float = setting("Pause (seconds)", Number(0.5, 2), default=1.0, help="Between messages.")
    tries: int | None = setting("Tries", WholeNumber(3, 7, optional=True), default=5)
    word: str = setting("Word", Text(most=3), default="um")
    strict: bool = setting("Strict", OnOff(), default=False)
    lengths: Draw = setting(  # noqa: RUF009 (a field)
        "Lengths", WholeNumbers(3, 7), default=Draw((3, 4))
    )

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        return None


def protocol() -> Protocol:
    source = get_protocol("meena_human")
    assert source.chat is not None
    chat = replace(source.chat, checks=(Slow(),))
    where = {"chat.slow.pause": Source("S", "section 1")}
    return replace(source, steps=(chat,), sources={**source.sources, **where})


def form(**changes: str) -> dict[str, str]:
    raw = CampaignForm(protocol()).typed()
    raw |= {"name": "One", "pay": "1.00", "contact": "lab@example.org"}
    return raw | {f"setting.chat.slow.{name}": text for name, text in changes.items()}


@pytest.mark.django_db
def test_every_field_of_the_part_is_a_field_of_the_form() -> None:
    row = make_campaign("meena_human", changes={"chat.slow.tries": None})
    campaign = access.campaign(make_staff(), row.pk)
    shown = [each for each in CampaignForm(protocol(), None, campaign) if ".slow." in each.name]
    fields = [each.field for each in shown if isinstance(each.field, SettingField)]
    rows = [
        (field.setting.name.removeprefix("chat.slow."), each.label, field.kind, each.value())
        for each, field in zip(shown, fields, strict=True)
    ]
    assert rows == [
        ("pause", "Pause (seconds)", "number", "1.0"),
        ("tries", "Tries", "number", ""),
        ("word", "Word", "text", "um"),
        ("strict", "Strict", "checkbox", "false"),
        ("lengths", "Lengths", "text", "3, 4"),
    ]
    pause, tries, *_ = fields
    assert (pause.help_text, pause.setting.source) == (
        "Between messages.",
        Source("S", "section 1"),
    )
    assert tries.setting.source.tag == "D"
    assert [
        field.departs(str(each.value())) for each, field in zip(shown, fields, strict=True)
    ] == [*(False, True, False, False, False)]


def test_what_departs_is_read_as_json_holds_it_and_changes_the_part() -> None:
    assert CampaignForm(protocol(), form()).values()["changes"] == {}
    raw = form(pause="2", tries="", word="er", strict="on", lengths="7, 3")
    changes = CampaignForm(protocol(), raw).values()["changes"]
    assert changes == {
        "chat.slow.pause": 2.0,
        "chat.slow.tries": None,
        "chat.slow.word": "er",
        "chat.slow.strict": True,
        "chat.slow.lengths": [7, 3],
    }
    changed = protocol().change(changes).chat
    assert changed is not None
    assert changed.checks == (Slow(2.0, None, "er", True, Draw((7, 3))),)


@pytest.mark.parametrize(
    ("name", "typed", "complaint"),
    [
        ("pause", "0.49", "“0.49” is not a number from 0.5 to 2"),
        ("pause", "2.01", "“2.01” is not a number from 0.5 to 2"),
        ("tries", "2", "“2” is not a whole number from 3 to 7, or empty for no limit"),
        ("tries", "8", "“8” is not a whole number from 3 to 7, or empty for no limit"),
        ("word", "erms", "has 4 characters; write at most 3"),
        ("word", "\ud800", "has characters that cannot be stored; please type it again"),
        ("lengths", "3, 8", "“8” is not a whole number from 3 to 7"),
    ],
)
def test_one_beyond_a_bound_is_refused_with_the_bound(
    name: str, typed: str, complaint: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        CampaignForm(protocol(), form(**{name: typed})).values()
    assert refusal.value.problems == {f"setting.chat.slow.{name}": complaint}


@pytest.mark.parametrize("name", protocol_names())
def test_what_a_browser_sends_of_an_untouched_form_departs_in_nothing(name: str) -> None:
    """A browser takes line ends out of a field of one line, and writes them as two signs else."""
    made = CampaignForm(get_protocol(name))
    raw = {"name": "One", "pay": "1.00", "contact": "lab@example.org"}
    for each in made:
        ends = "\r\n" if getattr(each.field, "kind", "") == "textarea" else ""
        raw.setdefault(each.name, ends.join(made.typed()[each.name].splitlines()))
    sent = CampaignForm(get_protocol(name), raw)
    assert sent.is_valid(), sent.errors
    assert sent.cleaned_data["changes"] == {}
    marked = [
        each.name
        for each in sent
        if isinstance(each.field, SettingField) and each.field.departs(raw[each.name])
    ]
    assert marked == []
