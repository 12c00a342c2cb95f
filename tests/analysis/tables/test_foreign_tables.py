"""Tables as other programs and people make them: each is read, told of, or refused in words.

A caution stands among those of the report; a refusal ends the command with status 2. None of them
is silent, and none ends in a traceback. `python -m tests.foreign_tables` prints them all.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.__main__ import main
from tests.foreign_tables import TABLES
from tests.foreign_tables.made import HEAD, TOLD, rows
from tests.foreign_tables.oddities import LABELED
from tests.foreign_tables.outcomes import outcome


@pytest.mark.parametrize(
    ("name", "content", "ends", "sentence"),
    [pytest.param(*each, id=about) for about, *each in TABLES],
)
def test_each_is_told_or_refused_in_words(
    tmp_path: Path, name: str, content: bytes, ends: str, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    found, said = outcome(tmp_path / name)
    assert (found, sentence) == (ends, sentence if sentence in said else said)


def test_there_are_ninety_and_a_good_table_gets_none_of_their_cautions(tmp_path: Path) -> None:
    assert len({about for about, *_ in TABLES}) == len(TABLES) >= 90
    rated = [
        (
            f"r{k}",
            system,
            "q",
            1 + (k * 7 + ord(system)) % 5,
            "ordinal",
            f"i{k % 10}",
            1,
            5,
            "high",
            0,
            k,
        )
        for k in range(20)
        for system in "abc"
    ]
    header = HEAD + ",level,item,scale_low,scale_high,better,place,given_at"
    path = tmp_path / "r.csv"
    path.write_text(rows(*zip(*rated, strict=True), header=header))
    found, said = outcome(path)
    assert found == TOLD
    told = [sentence for *_, ends, sentence in TABLES if ends == TOLD and sentence in said]
    assert told == []
    assert "by chi-square" not in said


@pytest.mark.parametrize(
    ("how", "specific", "sentence"),
    [
        ("zero", 0.5, "1 label called a reply specific that the same rater called not sensible; "
         "they were set to not specific (--labels zero)"),
        ("as-given", 1.0, "they count as they were given (--labels as-given)"),
    ],
)  # fmt: skip
def test_labels_that_contradict_each_other_are_read_as_chosen(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    how: str,
    specific: float,
    sentence: str,
) -> None:
    (tmp_path / "r.csv").write_text(LABELED)
    assert main([str(tmp_path / "r.csv"), "--labels", how, "--json"]) == 0
    out, err = capsys.readouterr()
    assert sentence in err
    found = {
        row["system"]: row["estimate"] for row in json.loads(out) if row["metric"] == "specificity"
    }
    assert sum(found[name] for name in "ab") / 2 == specific


@pytest.mark.parametrize("about", ["semicolons", "a list in a cell", "percents"])
def test_the_command_tells_or_refuses_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], about: str
) -> None:
    _, name, content, ends, sentence = next(each for each in TABLES if each[0] == about)
    (tmp_path / name).write_bytes(content)
    status = main([str(tmp_path / name), "--simulate", "0"])
    printed = " ".join("".join(capsys.readouterr()).split())
    assert status == (0 if ends == TOLD else 2)
    assert sentence in printed
