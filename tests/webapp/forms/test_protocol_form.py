"""The builder's form: everything shipped comes through it unchanged; what is typed is kept."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from evaluation import Protocol, Rate
from evaluation.registry import get_kind, get_protocol, kind_names, protocol_names
from evaluation.serialized import digest
from evaluation.soundness import complaints
from webapp.forms.protocol_form import ProtocolForm, acted, typed
from webapp.services.campaign import own_protocols

PROTOCOLS = [get_protocol(name) for name in protocol_names()]
every = pytest.mark.parametrize("protocol", PROTOCOLS, ids=protocol_names())


def saved(base: Protocol, raw: dict[str, str]) -> Protocol:
    form = ProtocolForm(base, raw, check=True)
    assert form.is_valid(), form.errors
    return form.protocol()


def refused(base: Protocol, raw: dict[str, str]) -> dict[str, str]:
    form = ProtocolForm(base, raw, check=True)
    assert not form.is_valid()
    assert form.typed() == {name: raw.get(name, "") for name in form.fields}
    return {name: str(found[0]) for name, found in form.errors.items()}


@every
def test_a_shipped_protocol_comes_through_the_form_with_its_hash(protocol: Protocol) -> None:
    assert digest(saved(protocol, typed(protocol))) == digest(protocol)


@every
def test_a_shipped_protocol_is_sound(protocol: Protocol) -> None:
    assert [*complaints(protocol)] == []
