"""Whitelists: how they are chosen, their files, and what a bot makes of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bots.__main__ import main
from bots.guards import whitelists
from bots.guards.whitelists import WhitelistEntry
from bots.line_files import InvalidData
from bots.text.tokens import key
from bots.zoo.dual_encoder import Dual
from tests.bots.examples import HELLO, PERSONA, trained, weights

SAID = ["Hi there!", "hi there", "Hi there!", "Bye.", "bye", "Ok then.", "You stupid idiot.", "..."]


def test_replies_that_differ_in_case_marks_or_space_are_one() -> None:
    assert whitelists.count(SAID) == [
        WhitelistEntry("Hi there!", 3),
        WhitelistEntry("Bye.", 2),
        WhitelistEntry("Ok then.", 1),
        WhitelistEntry("You stupid idiot.", 1, "drop"),
    ]


def test_frequency_takes_the_first_and_chance_takes_any() -> None:
    entries = whitelists.count(SAID)
    assert [entry.count for entry in whitelists.frequency(entries, 2)] == [3, 2]
    drawn = {tuple(e.text for e in whitelists.at_random(entries, 2, seed)) for seed in range(30)}
    assert len(drawn) > 3
    assert whitelists.at_random(entries, 2, 5) == whitelists.at_random(entries, 2, 5)
    assert len(whitelists.at_random(entries, 99, 0)) == len(entries)


def test_clustering_takes_the_most_frequent_of_each_cluster() -> None:
    entries = [
        WhitelistEntry("a1", 9),
        WhitelistEntry("a2", 8),
        WhitelistEntry("b1", 2),
        WhitelistEntry("c1", 1),
        WhitelistEntry("b2", 1),
    ]
    places = {"a": (0.0, 0.0), "b": (9.0, 0.0), "c": (0.0, 9.0)}

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([np.add(places[text[0]], int(text[1]) / 10) for text in texts])

    found = whitelists.clustering(entries, 3, encode, seed=0)
    assert [entry.text for entry in found] == ["a1", "b1", "c1"]
    assert whitelists.clustering(entries, 9, encode, seed=0) == entries


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_files_are_read_back_as_they_were_written(tmp_path: Path, kind: str) -> None:
    entries = [
        WhitelistEntry('She said "no", twice;\tonce more.', 3),
        WhitelistEntry("Um, ja.", 2, "edit", "Yes, été."),
        WhitelistEntry("No.", 1, "drop"),
    ]
    path = tmp_path / f"list.{kind}"
    whitelists.write(entries, path)
    assert whitelists.read_whitelist(path) == entries
    assert whitelists.replies(entries) == ('She said "no", twice;\tonce more.', "Yes, été.")


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("text,count,decision,edited\nfine,1,,\n,2,,\nhm,x,,\nhm,1,burn,\nhm,1,edit, \n")
    with pytest.raises(InvalidData) as refusal:
        whitelists.read_whitelist(path)
    assert [problem.partition(", ")[2] for problem in refusal.value.problems] == [
        "line 3: text is '', but must be text",
        "line 4: count is 'x', but must be a whole number",
        "line 5: decision is 'burn', but must be one of keep, edit, drop",
        "line 6: decision is edit, but edited is empty",
    ]
    path.write_text("text,count,decision\nfine,1,drop\n")
    with pytest.raises(InvalidData, match="keeps no reply"):
        whitelists.read_whitelist(path)
    with pytest.raises(InvalidData, match="cannot be read"):
        whitelists.stamp(tmp_path / "nowhere.csv")


def test_a_bot_says_only_what_is_listed_and_encodes_anew_after_an_edit(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    whitelists.write([WhitelistEntry("I like soup.", 2), WhitelistEntry("It rains.", 1)], path)
    bot = trained("dual_encoder", whitelist=str(path))
    assert isinstance(bot, Dual)
    first = bot.respond(PERSONA, HELLO)
    assert first.text in {"I like soup.", "It rains."}
    whitelists.write(
        [
            WhitelistEntry("I like soup.", 2, "edit", "Tea for me."),
            WhitelistEntry("Bye.", 1, "drop"),
        ],
        path,
    )
    os.utime(path, ns=(1, 1))  # a clock too coarse to tell the two apart must not matter
    edited = bot.respond(PERSONA, HELLO)
    assert edited.text == "Tea for me."
    assert edited.score == pytest.approx(bot.rank(PERSONA, HELLO, ["Tea for me."])[0], abs=1e-4)


def test_the_command_writes_all_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for method in ("frequency", "clustering", "random"):
        path = tmp_path / f"{method}.csv"
        arguments = [
            "whitelist",
            method,
            "--data",
            "demo:valid",
            "--size",
            "20",
            "--out",
            str(path),
        ]
        assert main([*arguments, "--weights", weights("dual_encoder")]) == 0
        assert capsys.readouterr().out.startswith(f"{method}: 20 of ")
        found[method] = {key(entry.text) for entry in whitelists.read_whitelist(path)}
    assert len({frozenset(keys) for keys in found.values()}) == 3
    assert main(["whitelist", "clustering", "--data", "demo:valid", "--out", str(path)]) == 2
    assert "give --weights DIR" in capsys.readouterr().err
