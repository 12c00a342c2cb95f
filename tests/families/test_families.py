"""Design families: the command, what breaks a row, and the simulators' own truths."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from analysis.scores.crossed import CrossedFit
from tests.families import __main__ as command
from tests.families import agreeing, printed, ratings, votes
from tests.families.agreeing import Agreement
from tests.families.catalog import CHAT, FAMILIES, REPLY, TWOS, YES_NO, Family
from tests.families.printed import Counts
from tests.families.tallies import row
from tests.families.votes import Votes

FEW = 12
LONE = next(one for one in FAMILIES if one.name == "one rater per system")


def counted(family: Family) -> list[Counts]:
    return printed.campaigns((family, 0, 0, FEW, 0))


def test_errors_cut_in_half_fail_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert row(CHAT, counted(CHAT)).faults == ()
    whole = CrossedFit.se
    monkeypatch.setattr(CrossedFit, "se", lambda fit, contrast: whole(fit, contrast) / 2)
    broken = row(CHAT, counted(CHAT))
    wanted = ("score too narrow", "difference too narrow", "called different too often")
    assert set(wanted) <= set(broken.faults)
    assert broken.verdict.startswith("fails: score too narrow, difference too narrow")


def test_the_command_prints_a_row_per_family_and_goes_on_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "new" / "kept.jsonl"
    words = ["--families", "one rater per system", "votes of 3", "--campaigns", "26"]
    words += ["--into", str(kept)]
    assert command.main(words) == 0
    table = capsys.readouterr().out
    for name in ("one rater per system", "0 to 100, one rater per system", "votes of 3 raters"):
        assert f"| {name} | 26 | " in table
    assert table.count("| 1 | abstains |") == 3
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6  # 25 campaigns and 1, of each
    with kept.open("a", encoding="utf-8") as file:
        file.write(lines[0][:50])  # of a run that was killed
    assert command.main(words) == 0
    assert capsys.readouterr().out == table
    assert kept.read_text(encoding="utf-8").splitlines() == lines


def test_a_row_that_fails_is_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    options = ["--families", "one rater per system", "--campaigns", "25", "--into", str(kept)]
    of = [one for one in FAMILIES if "one rater per system" in one.name]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- families -->\nold\nold\n<!-- /families -->\nafter\n")
    said = {"score": (100, 100, 100), "difference": (150, 150, 150)}
    keys = [command._key((one, 0, 0, 25, 0)) for one in of]
    kept.write_text("".join(json.dumps([key, [said] * 25]) + "\n" for key in keys))
    assert command.main([*options, "--page", str(page)]) == 1
    assert capsys.readouterr().out.count("fails: should abstain") == 2
    written = page.read_text()
    assert written.startswith("before\n<!-- families -->\n| family | campaigns | score |")
    assert written.endswith("| .000 | fails: should abstain |\n<!-- /families -->\nafter\n")
    assert command.main([*options, "--page", str(page)]) == 1
    assert page.read_text() == written  # rows are put in the place of those of their family
    for other in (kept, tmp_path / "none.md"):
        assert command.main([*options, "--page", str(other)]) == 2
    assert command.main(["--families", "no such thing"]) == 2


@pytest.mark.parametrize(
    ("kind", "share", "verdict"),
    [
        ("score", 0.929, "near: score too narrow"),
        ("score", 0.930, "holds"),
        ("score", 0.970, "holds"),
        ("score", 0.971, "near: score too wide"),
        ("score", 0.900, "fails: score too narrow"),
        ("score", 0.990, "fails: score too wide"),
        ("different", 0.060, "holds"),
        ("different", 0.061, "near: called different too often"),
        ("different", 0.090, "fails: called different too often"),
    ],
)
def test_what_a_row_says_of_a_share(kind: str, share: float, verdict: str) -> None:
    held = round(1000 * share)
    counts = [{kind: (int(number < held), 1, 1)} for number in range(1000)]
    other = {"score": (1, 1, 1)} if kind == "different" else {}
    usual = [{**each, **({"alpha": (int(n % 20 > 0), 1, 1)} if other else {})}
             for n, each in enumerate(counts)]  # fmt: skip
    assert row(CHAT, usual).verdict == verdict


def test_what_is_known_to_be_biased_fails_no_row_and_is_named() -> None:
    lost = replace(CHAT, biased=("score",))
    counts = [{"score": (0, 4, 4), "difference": (19, 20, 20)}] * 100
    assert row(lost, counts).verdict == "holds; score biased"
    assert row(CHAT, counts).faults == ("score too narrow",)


def test_every_family_has_its_night() -> None:
    nights = -(-len(FAMILIES) // command.NIGHTLY)
    first = next(day for day in map(date.fromordinal, range(739_900, 740_000))
                 if day.toordinal() % nights == 0)  # fmt: skip
    for cycle in (0, 1):
        days = [first + timedelta(days=nights * cycle + k) for k in range(nights)]
        chosen = [command._tonight(day) for day in days]
        assert sorted(np.concatenate(chosen)) == list(range(len(FAMILIES)))
        assert max(map(len, chosen)) <= command.NIGHTLY
    assert set(command._tonight(first)) != set(command._tonight(first + timedelta(days=nights)))


def test_there_are_over_thirty_families_of_every_scale_and_size() -> None:
    assert len({one.name for one in FAMILIES}) == len(FAMILIES) > 60
    scales = {(one.low, one.high) for one in FAMILIES if not isinstance(one, Votes)}
    assert scales == {(1, 5), (1, 7), (1, 10), (0, 100), (0, 1)}


def test_the_simulators_use_numpy_alone() -> None:
    for module in (ratings, votes, agreeing):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        names = {
            node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        tops = {str(name).partition(".")[0] for name in names}
        assert tops <= {"__future__", "collections", "dataclasses", "functools", "itertools",
                        "numpy", "zlib"}  # fmt: skip


def test_a_truth_is_the_mean_of_the_rounded_clipped_normal() -> None:
    of = replace(REPLY, gap=0.4, systems=2, base=4.2)
    sd = math.sqrt(0.7**2 + 0.5**2 + 0.8**2)
    for mean, found in zip((4.0, 4.4), ratings.truth(of), strict=True):
        above = [
            0.5 * math.erfc((edge - mean) / sd / math.sqrt(2)) for edge in (1.5, 2.5, 3.5, 4.5)
        ]
        assert found == pytest.approx(1 + sum(above), abs=0.006)
    assert ratings.truth(YES_NO) == pytest.approx([0.5] * 4, abs=0.003)


def test_the_truth_of_votes_is_a_share_and_the_ability_that_gives_it() -> None:
    even, _ = votes.truth(replace(TWOS, context=1.0, first=0.7))
    assert even == pytest.approx([0.5] * 4, abs=1e-9)
    of = replace(TWOS, systems=2, gap=0.8, taste=0.0, ties=0.2)
    rates, abilities = votes.truth(of)
    share = 0.1 + 0.8 / (1 + math.exp(-0.8))
    assert rates == pytest.approx([1 - share, share], abs=1e-6)
    assert abilities[1] - abilities[0] == pytest.approx(math.log(share / (1 - share)), abs=1e-6)


def test_the_truth_of_agreement_is_one_without_noise_and_none_without_items() -> None:
    of = Agreement(name="alike", rater=0.0, noise=0.0)
    assert agreeing.truth(of) == pytest.approx((1.0, 1.0))
    alone = Agreement(name="unlike", rater=0.0, item=0.0)
    assert agreeing.truth(alone)[0] == pytest.approx(0.0, abs=0.01)


def test_nobody_rates_an_item_of_a_system_twice() -> None:
    of_who = {one.who: one for one in FAMILIES if isinstance(one, ratings.Ratings)}
    assert len(of_who) == 13
    for of in of_who.values():
        codes = of.who(of, np.random.default_rng(0))
        acts = set(zip(codes["system"], codes["rater"], codes["item"], strict=True))
        assert len(acts) == len(codes["item"]), of.name
        assert set(codes["system"]) == set(range(of.systems)), of.name
