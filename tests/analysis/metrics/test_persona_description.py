"""P-F1 and P-Cover of a table: the mean over own messages whose persona is described."""

import pytest

from analysis import get_metric
from analysis.conversations.descriptions import persona_cover, persona_f1
from analysis.tables.personas import described
from tests.analysis.talks import talks

persona_description = get_metric("persona_description")
SENTENCES = ["I have two cats.", "I bake bread."]
TABLE = talks([[("s", "My cats sleep"), ("human", "cats?")], [("s", "I bake"), ("s", "Hello")]])


def _means(table: object) -> dict[str, float]:
    found = persona_description(table)
    return dict(zip(found["metric"], found["estimate"], strict=True))


def test_is_the_mean_over_own_messages() -> None:
    found = _means(TABLE.assign(persona="\n".join(SENTENCES)))
    texts = ("My cats sleep", "I bake", "Hello")
    assert found["persona_f1"] == pytest.approx(sum(persona_f1(t, SENTENCES) for t in texts) / 3)
    expected = sum(persona_cover(t, SENTENCES) for t in texts) / 3
    assert found["persona_cover"] == pytest.approx(expected)


def test_a_name_describes_nothing_until_its_sentences_are_known() -> None:
    named = TABLE.assign(persona="p7")
    assert persona_description(named).empty
    known = described(named, {("", "p7", "original"): SENTENCES})
    assert _means(known) == _means(TABLE.assign(persona="\n".join(SENTENCES)))
