"""Simulated campaigns over pages and sockets: what is planted comes back, or it is said why not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.registry import UnknownProtocol, get_protocol, protocol_names
from evaluation.serialized import to_json
from tests.simulate import __main__ as command
from tests.simulate import files, own_systems
from tests.simulate.campaign import shortened
from tests.simulate.planted import source_of

ROOT = Path(__file__).parents[1]


def test_the_shortest_chats_follow_from_the_settings() -> None:
    assert shortened(get_protocol("convai2_crowd")) == {"chat.minimum": "2", "chat.pace": "0"}
    assert shortened(get_protocol("personachat_human")) == {"chat.minimum": "2"}
    assert shortened(get_protocol("meena_static")) == {}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("meena_third_party", "meena_human"),
        ("meena_second_panel", "meena_interactive"),
        ("convai2_blind", "convai2_crowd"),
    ],
)
def test_whose_conversations_are_judged_follows_from_the_protocol(name: str, source: str) -> None:
    found = source_of(get_protocol(name))
    assert found is not None
    assert found.name == source
    assert source_of(found) is None


REFUSED = {
    "an unknown name": (["meena_statik"], "no protocol meena_statik; there are acute_eval"),
    "no name": ([], "name protocols, or give --all; there are acute_eval"),
    "both": (["--all", "meena_static"], "name protocols, or give --all"),
    "too few raters": (["meena_static", "--people", "4"], "--people 4: meena_static needs 5"),
    "too few to chat": (["meena_human", "--people", "11"], "--people 11: meena_human needs 12"),
    "a seed below": (["meena_human", "--seed", "-1"], "--seed -1: write a whole number from 0"),
    "a seed above": (["meena_human", "--seed", "2147483648"], "number from 0 to 2147483647"),
    "no times": (["meena_static", "--times", "0"], "--times 0: write a whole number from 1 to 21"),
    "too often": (["meena_static", "--times", "22"], "--times 22: write a whole number from 1 to"),
    "no phase": (["convai2_blind", "--times", "2"], "convai2_blind judges what another campaign"),
    "no folder": (["meena_third_party", "--transcripts", "nowhere"], "nowhere: no such folder"),
    "transcripts for others": (
        ["meena_static", "--transcripts", "."],
        "--transcripts: meena_static labels no messages of others",
    ),
    "no such file": (["nowhere.json"], "nowhere.json is no file of a protocol: [Errno 2]"),
    "another file": (["tests/budgets.json"], "budgets.json is no file of a protocol: schema is"),
    "no file of systems": (
        ["meena_static", "--systems", "nowhere.json"],
        "nowhere.json: [Errno 2]",
    ),
    "no systems": (
        ["meena_static", "--systems", "tests/budgets.json"],
        '--systems tests/budgets.json: write {"systems": [{"name": .., "bot": .., "share": ..}',
    ),
    "an odd one": (["meena_human", "--people", "13"], "is for pairs, write 14"),
}


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_simulated_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(words) == 2
    out = capsys.readouterr()
    assert (out.out, out.err.startswith("simulate: "), said in out.err) == ("", True, True)


@pytest.mark.parametrize(
    ("share", "is_refused"), [(-0.01, True), (0, False), (1, False), (1.01, True)]
)
def test_every_bad_system_of_a_file_is_named(
    share: float, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(own_systems.VARIABLE, "")
    rows: list[object] = [{"name": "n", "bot": "parrot", "share": share}]
    file = tmp_path / "systems.json"
    file.write_text(json.dumps({"systems": rows if not is_refused else [*rows, {"name": "m"}]}))
    if is_refused:
        with pytest.raises(ValueError, match="systems 1, 2: write"):
            own_systems.use(file)
        assert own_systems.own_systems("meena_static") == ()
    else:
        own_systems.use(file)
        assert own_systems.own_systems("meena_static")[0].share == share


def test_a_file_is_a_protocol_of_one_s_own_under_a_name_of_its_own(tmp_path: Path) -> None:
    path, protocol = tmp_path / "mine.json", get_protocol("meena_static")
    value = to_json(protocol)
    path.write_text(json.dumps(value | {"name": "mine", "image_files": {}}))
    found = files.protocol(str(path))
    assert (found.name, files.comes_with_parley(found)) == ("mine", False)
    assert files.comes_with_parley(protocol)
    path.write_text(json.dumps(value))
    with pytest.raises(UnknownProtocol, match="its name is meena_static, which comes with Parley"):
        files.protocol(str(path))


def test_what_was_kept_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meena_static").mkdir()
    assert command.main(["meena_static", "--keep", str(tmp_path)]) == 2
    said = f"simulate: --keep {tmp_path}: has meena_static already; name another folder\n"
    assert capsys.readouterr().err == said


def test_a_campaign_that_breaks_fails_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOT_SECONDS", "soon")
    assert command.main(["meena_static"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[2].split()[::6] == ["meena_static", "FAILED"]
    assert said[3].startswith("  ValueError: ")
    assert said[-1] == "0 of 1 recovered."


def simulate(*words: str) -> Iterator[list[str]]:
    """Run the script and yield the cells of each line about a protocol."""
    done = subprocess.run(
        [ROOT / "script/simulate", "--short", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    said, head, *lines, sums = done.stdout.splitlines()
    assert said.startswith("Short: ")
    assert head.split() == list(command.COLUMNS)
    assert sums == f"{len(lines)} of {len(lines)} recovered."
    yield from (line.split() for line in lines)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("name", "people", "conversations", "answers"),
    [("personachat_human", 12, 6, 24), ("answer_plausibility", 6, 120, 120)],
)
def test_a_protocol_is_recovered_over_pages_and_sockets(
    name: str, people: int, conversations: int, answers: int, tmp_path: Path
) -> None:
    (cells,) = simulate(name, "--people", str(people), "--keep", str(tmp_path))
    assert cells[:4] == [name, str(people), str(conversations), str(answers)]
    notes = (tmp_path / name / "crowd.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum(json.loads(note)["what"] == "end" for note in notes) == people


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_repeated_evaluation_and_a_second_panel_are_recovered_from_the_study(
    tmp_path: Path,
) -> None:
    (cells,) = simulate("meena_static", "--times", "3", "--keep", str(tmp_path))
    assert cells[0] == "meena_static"
    (cells,) = simulate("convai2_blind", "--keep", str(tmp_path))
    assert cells[:3] == ["convai2_blind", "2", "18"]
    assert (tmp_path / "convai2_blind" / "study.zip").exists()


def test_released_conversations_are_labeled_and_their_truth_comes_back(shared_data: Path) -> None:
    folder = shared_data / "meena_conversations"
    (cells,) = simulate("meena_third_party", "--transcripts", str(folder))
    assert cells[:3] == ["meena_third_party", "5", "4"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_protocol_is_recovered() -> None:
    assert [cells[0] for cells in simulate("--all")] == protocol_names()
