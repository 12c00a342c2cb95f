"""The PERSONA-CHAT text layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Dialogue, Utterance, get_dataset
from bots.datasets import personachat
from bots.datasets.personachat import Condition, both_sides, in_condition, offered
from bots.line_files import InvalidData

WRITTEN = """\
1 your persona: i have a dog .
2 your persona: i am tall .
3 partner's persona: i bake .
4 hi there !\thello . any pets ?\t\tno .|hello . any pets ?
5 yes , a fish .\tsweet !
1 __SILENCE__\thi !
2 hi yourself !\tfine day .
3 it is .
"""


def test_reads_personas_exchanges_candidates_and_silence(tmp_path: Path) -> None:
    path = tmp_path / "valid.txt"
    path.write_text(WRITTEN)
    one, two = personachat.read(str(path))
    assert one == Dialogue(
        "1",
        (
            Utterance("partner", "hi there !"),
            Utterance("self", "hello . any pets ?", ("no .", "hello . any pets ?")),
            Utterance("partner", "yes , a fish ."),
            Utterance("self", "sweet !"),
        ),
        ("i have a dog .", "i am tall ."),
        ("i bake .",),
    )
    assert [turn.speaker for turn in two.turns] == ["self", "partner", "self", "partner"]


def test_writes_what_it_read_to_the_letter(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text(WRITTEN)
    personachat.write(personachat.read(str(path)), copy)
    assert copy.read_text() == WRITTEN


def test_every_bad_line_is_named_and_nothing_returned(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(
        "1 your persona: i am .\n"
        "no number\n"
        "3 hi\thello\n"
        "4 yes\tno\tthree\n"
        "5 your persona: too late .\n"
        "6 your persona:\n"
        "9 hi\thello\n"
        "1 your persona: alone .\n"
    )
    with pytest.raises(InvalidData) as refused:
        personachat.read(str(path))
    lines = [problem.removeprefix(f"{path}") for problem in refused.value.problems]
    places = [problem.partition(":")[0] for problem in lines]
    assert places == [", line 2", ", line 4", ", line 5", ", line 6", ", line 7", ""]
    assert "is numbered 9, but must be 7" in lines[-2]
    assert lines[-1] == ": dialogue 2 has no messages"


def test_what_has_no_place_in_the_layout_is_refused(tmp_path: Path) -> None:
    twice = Dialogue("x", (Utterance("self", "a"), Utterance("self", "b")))
    tab = Dialogue("y", (Utterance("partner", "a\tb"), Utterance("self", "c")))
    with pytest.raises(InvalidData) as refused:
        personachat.write([twice, tab], tmp_path / "out.txt")
    assert [problem.partition(":")[0] for problem in refused.value.problems] == [
        "dialogue x",
        "dialogue y",
    ]
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("condition", ["none", "self", "their", "both"])
@pytest.mark.parametrize("form", ["valid", "valid:revised"])
@pytest.mark.parametrize("candidates", [0, 20])
def test_round_trip_of_all_conditions_and_forms_for_both_speakers(
    condition: Condition, form: str, candidates: int, tmp_path: Path
) -> None:
    dialogues = both_sides(get_dataset("demo").read(form))
    if candidates:
        dialogues = offered(dialogues, seed=1, size=candidates)
    views = [in_condition(each, condition) for each in dialogues]
    path = tmp_path / "data.txt"
    personachat.write(views, path)
    again = personachat.read(str(path))
    assert [each.turns for each in again] == [each.turns for each in views]
    assert [(each.persona, each.partner_persona) for each in again] == [
        (each.persona, each.partner_persona) for each in views
    ]
    text = path.read_text()
    assert ("\n1 your persona:" in text or text.startswith("1 your")) is (
        condition in ("self", "both")
    )
    assert ("partner's persona:" in text) is (condition in ("their", "both"))


def test_the_two_sides_see_each_other() -> None:
    one, other = both_sides(get_dataset("demo").read("valid")[:1])
    assert one.persona == other.partner_persona
    assert [turn.speaker for turn in one.turns] != [turn.speaker for turn in other.turns]
    assert [turn.text for turn in one.turns] == [turn.text for turn in other.turns]


def test_candidates_are_of_other_dialogues_and_the_reply_is_last() -> None:
    dialogues = get_dataset("demo").read("valid")
    found = offered(dialogues, seed=1)
    assert found == offered(dialogues, seed=1) != offered(dialogues, seed=2)
    for each in found[:5]:
        own = {turn.text for turn in each.turns}
        for turn in each.turns:
            if turn.speaker == "partner":
                assert turn.candidates == ()
                continue
            assert turn.candidates[-1] == turn.text
            assert len(set(turn.candidates)) == 20
            assert not set(turn.candidates[:-1]) & own
    with pytest.raises(InvalidData, match="20 candidates need as many"):
        offered(dialogues[:1], seed=1)
