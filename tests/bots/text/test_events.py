"""Events of sentences, and the table of pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.line_files import InvalidData
from bots.text.events import PredicateEvent, events, mined, pairs, read_pairs, write_pairs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I broke my leg.", ["break leg"]),
        ("They are running a marathon and she has won!", ["run marathon", "win"]),
        ("I'm studying hard.", ["study hard"]),
        ("Hello there.", []),
        ("We didn't sleep, but I will buy the phone.", ["sleep", "buy phone"]),
    ],
)
def test_a_verb_after_a_subject_with_its_argument(text: str, found: list[str]) -> None:
    assert [str(each) for each in events(text)] == found


def test_the_pairs_that_come_along_are_events_in_base_form() -> None:
    found = pairs("")
    assert found[str(PredicateEvent("break", "leg")), "go hospital"] == 9
    assert all(lift > 1 for lift in found.values())


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("broke leg\twent hospital\t4\nonly this\nrain\tstay home\t0.5\n")
    with pytest.raises(InvalidData) as refused:
        read_pairs(path)
    assert [str(each).rpartition("line ")[2].split(":")[0] for each in refused.value.problems] == [
        "2",
        "3",
    ]
    path.write_text("broke leg\twent hospital\t4\n")
    assert read_pairs(path) == {("break leg", "go hospital"): 4.0}


def test_pairs_are_mined_with_their_lift(tmp_path: Path) -> None:
    """Of four replies two follow the same event, and it comes before no other."""
    talks = [
        ["I broke my leg.", "You went to the hospital."],
        ["I broke my leg.", "You went to the hospital."],
        ["I like tea.", "We drink coffee."],
        ["I like tea.", "I bake bread."],
    ]
    found = mined(talks)
    assert found == {("break leg", "go hospital"): 2 * 4 / (2 * 2)}
    assert len(mined(talks, least=1)) == 3
    write_pairs(found, tmp_path / "pairs.tsv")
    assert read_pairs(tmp_path / "pairs.tsv") == found
