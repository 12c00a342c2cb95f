"""The command line: what it writes, what it says, and its exit status."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bots.__main__ import main
from bots.registry import preset
from tests.bots.examples import wait_for, weights

ROOT = Path(__file__).parents[3]
EXPECTED = [
    "prediction", "system", "dataset", "example", "context",
    "gold", "response", "candidates", "scores", "log_probs",
]  # fmt: skip


def run(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bots", *arguments]
    return subprocess.run(
        command, cwd=ROOT, input=said, capture_output=True, text=True, timeout=110, check=False
    )


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what the command says when it refuses; as a process it says and returns the same."""
    status: object
    try:
        status = main(arguments)
    except SystemExit as end:  # argparse's own way
        status = end.code
    told = capsys.readouterr()
    assert (status, told.out) == (2, "")
    return told.err


def test_train_predict_and_chat(tmp_path: Path) -> None:
    out, rows = tmp_path / "weights", tmp_path / "new" / "predictions.jsonl"
    done = run("train", "tfidf", "--data", "demo:train", "--data", "demo:valid", "--out", str(out),
               "--set", "candidates=500", "--seed", "3")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "learned from" in done.stdout
    about = json.loads((out / "bot.json").read_text())
    assert (about["options"], about["seed"]) == ({"candidates": 500}, 3)
    done = run("predict", "tfidf", "--weights", str(out), "--data", "demo:test", "--candidates",
               "20", "--seed", "5", "--out", str(rows))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "hits@1/20 0." in done.stdout
    check(rows)
    done = run("chat", "tfidf", "--weights", str(out), "--persona", "I bake.", said="Hi!\nWhy?\n")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


def check(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    places = set()
    for row in rows:
        assert list(row) == EXPECTED
        assert len(row["candidates"]) == len(row["scores"]) == len(set(row["candidates"])) == 20
        assert row["response"] == row["candidates"][row["scores"].index(max(row["scores"]))]
        places.add(row["candidates"].index(row["gold"]))
    assert len({row["prediction"] for row in rows}) == len(rows) > 100
    assert places == set(range(20))


def test_the_same_seed_draws_the_same_distractors(tmp_path: Path) -> None:
    """The first two are processes of their own, because each has another order of sets."""
    asked = ["predict", "tfidf", "--weights", weights("tfidf"), "--data", "demo:test", "--seed"]
    for name in ("a", "b"):
        assert run(*asked, "1", "--out", str(tmp_path / name)).returncode == 0
    assert main([*asked, "2", "--out", str(tmp_path / "c")]) == 0
    found = [(tmp_path / name).read_bytes() for name in "abc"]
    assert found[0] == found[1] != found[2]


def test_training_a_torch_bot_takes_options(tmp_path: Path) -> None:
    settings = ["--epochs", "1", "--set", "dimension=16", "--set", "rare_first=false"]
    asked = ["train", "profile_memory", "--data", "demo:valid", "--out", str(tmp_path)]
    assert main([*asked, *settings]) == 0
    options = json.loads((tmp_path / "bot.json").read_text())["options"]
    assert (options["epochs"], options["dimension"], options["rare_first"]) == (1, 16, False)


def test_a_training_killed_at_once_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """kill -9 as soon as an epoch is kept, then the same command again."""
    settings = ["--data", "demo:valid", "--set", "dimension=16", "--set", "patience=40"]
    command = ["train", "profile_memory", *settings, "--epochs", "15", "--out"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(*command, str(whole)).returncode == 0
    begun = subprocess.Popen(
        [sys.executable, "-m", "bots", *command, str(killed)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: list((killed / "unfinished").glob("*.safetensors")) or begun.poll())
    begun.kill()
    assert begun.wait() == -9
    done = run(*command, str(killed))
    assert "goes on from" in done.stderr
    assert sorted(path.name for path in killed.iterdir()) == ["bot.json", "weights.safetensors"]
    for name in ("bot.json", "weights.safetensors"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()


def test_a_preset_sets_options_and_an_unknown_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["train", "profile_memory", "--preset", "huge", "--data", "demo:train", "--out"]
    told = refusal(capsys, *asked, str(tmp_path))
    assert "profile_memory has no preset 'huge'; it has released, small, toy" in told
    assert preset("profile_memory", "released")["dimension"] == 500


def test_bad_data_names_every_line_and_nothing_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, out = tmp_path / "bad.txt", tmp_path / "weights"
    bad.write_text("1 hi\thello\n2 your persona: late .\nnothing\n")
    asked = ["train", "tfidf", "--data", f"personachat:{bad}", "--data", "demo:train", "--data"]
    told = refusal(capsys, *asked, "reddit:x", "--data", "demo", "--out", str(out)).splitlines()
    assert told[0].startswith(f"{bad}, line 2: ")
    assert told[1].startswith(f"{bad}, line 3: ")
    assert told[2].startswith("--data reddit:x: no dataset 'reddit'; there are ")
    assert told[3].startswith("--data demo: must be KIND:PATH")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chat", "eliza"], "no bot 'eliza'"),
        (["chat", "profile_memory"], "give --weights DIR"),
        (["chat", "profile_memory", "--weights", "/nowhere"], "/nowhere holds no weights"),
        (["chat", "parrot", "--set", "opening"], "--set opening: must be option=value"),
        (["chat", "parrot", "--set", "closing=x"], "no option 'closing'; it has opening"),
        (["train", "generic", "--data", "demo:test", "--out", "x"], "generic is not trained"),
        (["train", "tfidf", "--data", "contexts:", "--set", "mode=bm25", "--out", "x"], "one of"),
        (
            ["train", "tfidf", "--data", "demo:test", "--out", "x", "--corpus", "chat"],
            "--corpus and --license belong together",
        ),
        (["predict", "parrot", "--data", "demo:test", "--out", "x"], "parrot does not rank"),
        (["predict", "parrot", "--data", "demo:test", "--out", "x", "--candidates", "1"], "2 or"),
        (["predict", "parrot", "--data", "demo:test", "--out", "x", "--seed", "-1"], "0 or"),
        (["answer", "parrot", "--data", "demo:test", "--out", "/proc/x"], "/proc/x: No such"),
        (["train", "tfidf", "--data", "demo:test", "--out", "/proc/x"], "/proc/x: No such"),
        (["enter", "/nowhere"], "/nowhere: No such file"),
        (["enter", __file__], "is no JSON"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refusal(capsys, *arguments)


def test_an_entry_that_asks_for_too_little_is_told_for_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "entry.json"
    file.write_text('{"bot": "parrot", "out": "x", "data": []}')
    told = refusal(capsys, "enter", str(file))
    assert told.strip().endswith("lacks candidates, dictionary, metrics, options, seed, team")


def test_a_refusal_is_a_sentence_and_the_status_of_the_process() -> None:
    done = run("chat", "eliza")
    assert done.returncode == 2
    assert done.stderr.startswith("no bot 'eliza'")
    assert "Traceback" not in done.stderr


def test_too_few_replies_for_distractors_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "few.txt"
    data.write_text("1 hi\thello\n1 yes\tno\n")
    asked = ["predict", "tfidf", "--weights", weights("tfidf"), "--data", f"personachat:{data}"]
    told = refusal(capsys, *asked, "--out", str(tmp_path / "out"))
    assert "only 1 different replies to draw 19 distractors from" in told


def test_a_bot_without_weights_chats() -> None:
    done = run("chat", "parrot", said="i like tea .\n")
    assert (done.returncode, done.stdout) == (0, "I like tea.\n")


def test_bots_that_can_do_without_weights_need_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("chat", "toy_f1", said="Hi!\n")
    assert (done.returncode, done.stdout) == (0, "I am you to do and your is like\n")
    ranked = ["predict", "sim", "--data", "demo:test", "--out", str(tmp_path / "rows")]
    assert main(ranked) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hi!\n"))
    told = refusal(capsys, "chat", "sim")
    assert told == "sim has no replies to choose from: train, or give weights, first\n"
