"""The stack of personas: popped, pushed back, never twice in one conversation."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.factories import make_campaign, make_persona
from webapp.models import Persona
from webapp.services import personas

pytestmark = pytest.mark.django_db


def test_every_persona_is_used_once_before_one_is_used_again() -> None:
    campaign = make_campaign(personas=6)
    taken = [personas.pop(campaign=campaign, split="test", seed=seed).key for seed in range(12)]
    assert len(set(taken[:6])) == 6
    assert set(Counter(taken).values()) == {2}


def test_one_seed_gives_one_draw() -> None:
    drawn = []
    for _ in range(2):
        campaign = make_campaign(personas=8)
        drawn.append(
            [personas.pop(campaign=campaign, split="test", seed=seed).key for seed in range(5)]
        )
    assert drawn[0] == drawn[1]
    assert drawn[0] != sorted(drawn[0])


def test_the_partners_persona_is_never_given() -> None:
    campaign = make_campaign(personas=2)
    first = personas.pop(campaign=campaign, split="test", seed=1)
    for seed in range(5):
        second = personas.pop(campaign=campaign, split="test", seed=seed, beside={first.pk})
        assert second != first


def test_a_persona_pushed_back_comes_again_next() -> None:
    campaign = make_campaign(personas=3)
    first = personas.pop(campaign=campaign, split="test", seed=1)
    for seed in (2, 3):
        personas.pop(campaign=campaign, split="test", seed=seed)
    personas.push_back(first)
    assert personas.pop(campaign=campaign, split="test", seed=9) == first


def test_pushing_back_too_often_never_goes_below_zero() -> None:
    campaign = make_campaign(personas=1)
    personas.push_back(Persona.objects.get())
    assert Persona.objects.get(campaign=campaign).taken == 0


def test_an_empty_split_says_so() -> None:
    with pytest.raises(personas.NoneLeft, match="valid"):
        personas.pop(campaign=make_campaign(), split="valid", seed=1)


def test_distractors_belong_to_neither_side_and_to_the_split() -> None:
    campaign = make_campaign(personas=4)
    make_persona(campaign, 9, split="train")
    sides = set(Persona.objects.filter(key__in=("p0", "p1")).values_list("pk", flat=True))
    drawn = personas.distractors(campaign=campaign, split="test", seed=3, beside=sides, count=5)
    assert {persona.key for persona in drawn} == {"p2", "p3"}
