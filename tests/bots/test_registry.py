"""Bots by name: without torch, with options that are checked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bots import (
    InvalidOption,
    InvalidWeights,
    UnknownName,
    bot_names,
    bot_options,
    get_bot,
    get_dataset,
    make_bot,
    version,
)
from bots.options import defaults
from bots.weights import note_corpus
from tests.bots.examples import trained, weights

ROOT = Path(__file__).parents[2]


def test_listing_and_checking_bots_does_not_load_torch() -> None:
    program = (
        "import sys, bots\n"
        "assert 'profile_memory' in bots.bot_names()\n"
        "options = {name: bots.bot_options(name) for name in bots.bot_names()}\n"
        "assert len(options['profile_memory']) > 20\n"
        "from bots.commands import catalog\n"
        "assert list(catalog.lines())\n"
        "assert bots.get_bot('generic')\n"
        "assert bots.dataset_names()\n"
        "assert 'torch' not in sys.modules and 'django' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=60)


def test_a_bot_is_built_once_for_the_same_options() -> None:
    assert get_bot("parrot", opening="Hey!") is get_bot("parrot", opening="Hey!")
    assert get_bot("parrot", opening="Hey!") is not get_bot("parrot")
    assert make_bot("parrot") is not make_bot("parrot")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"openin": "Hi!"}, "no option 'openin'; it has opening"),
        ({"opening": 3}, "opening is 3, but must be text"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        get_bot("parrot", **options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"epochs": 2.5}, "epochs is 2.5, but must be a whole number, at least 0"),
        ({"epochs": True}, "epochs is True"),
        ({"held_out": 0.9}, "held_out is 0.9, but must be a number, at least 0, at most 0.5"),
        ({"loss": "hinge"}, "loss is 'hinge', but must be one of softmax, margin"),
        ({"query_is_memory": 1}, "query_is_memory is 1, but must be true or false"),
        ({"rate": "fast"}, "rate is 'fast', but must be a number"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        make_bot("profile_memory", **options)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"no bot 'eliza'; there are .*generic, "):
        get_bot("eliza")
    with pytest.raises(UnknownName, match=r"no dataset 'reddit'; there are .*chitchat, "):
        get_dataset("reddit")
    assert bot_names() == sorted(bot_names())


def test_what_weights_were_trained_with_need_not_be_told_again_and_cannot_differ() -> None:
    bot = make_bot("profile_memory", dimension=16, epochs=0)
    assert getattr(bot, "dimension", None) == 16
    with pytest.raises(InvalidOption, match="dimension is 16, but these weights were trained with"):
        trained("profile_memory", dimension=16)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidWeights, match="holds no weights"):
        make_bot("profile_memory", weights=str(tmp_path))
    with pytest.raises(InvalidWeights, match="holds weights of tfidf"):
        make_bot("kv_profile_memory", weights=weights("tfidf"))
    (tmp_path / "bot.json").write_bytes((Path(weights("tfidf")) / "bot.json").read_bytes())
    (tmp_path / "weights.safetensors").write_bytes(b"\x80\x04cos\nsystem\n")
    with pytest.raises(InvalidWeights, match="cannot be read"):
        make_bot("tfidf", weights=str(tmp_path))


def test_the_version_changes_with_options_and_weights() -> None:
    assert version(make_bot("generic"))["model"] == "generic"
    hashes = {
        version(bot)["parameters"]
        for bot in (
            make_bot("parrot"),
            make_bot("parrot", opening="Hey!"),
            make_bot("tfidf"),
            trained("tfidf"),
            trained("tfidf", mode="released"),
        )
    }
    assert len(hashes) == 5


def test_a_version_names_the_corpus_of_its_weights_also_of_a_bot_inside(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    shutil.copytree(weights("seq2seq"), noted)
    assert not {"corpus", "license"} & version(make_bot("seq2seq", weights=str(noted))).keys()
    note_corpus(noted, "small talk", "MIT")
    inside = {"weights": str(noted)}
    for bot in (make_bot("seq2seq", **inside), make_bot("beam", bot="seq2seq", options=inside)):
        assert (version(bot)["corpus"], version(bot)["license"]) == ("small talk", "MIT")


def test_options_are_told_for_forms() -> None:
    modes = next(each for each in bot_options("tfidf") if each.name == "mode")
    assert (modes.kind, modes.choices, modes.default) == ("str", ("cosine", "released"), "cosine")


def test_options_stand_where_a_bot_puts_them_among_those_it_inherits() -> None:
    names = [each.name for each in bot_options("meena")]
    assert names[:5] == ["weights", "device", "precision", "max_words", "method"]
    heads = names.index("heads")
    assert names[heads : heads + 4] == ["heads", "branch_heads", "encoders", "layers"]
    assert names[-2:] == ["held_out", "examples"]


def test_a_default_for_an_option_that_is_not_inherited_is_refused() -> None:
    with pytest.raises(InvalidOption, match="Plain inherits no option 'width'"):

        @defaults(width=3)
        class Plain:
            """A class without options."""
