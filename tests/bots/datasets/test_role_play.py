"""The role-play corpus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from wordfreq import zipf_frequency

from bots.datasets import role_play
from bots.guards.filters import unsafe
from bots.line_files import InvalidData
from bots.text.tokens import key, words

CHARACTER: dict[str, object] = {
    "kind": "character",
    "id": "a",
    "series": "s",
    "description": ["I bake."],
}
OTHER = {**CHARACTER, "id": "b"}
TALK: dict[str, object] = {
    "kind": "conversation",
    "id": "1",
    "topic": "t",
    "characters": ["a", "b"],
    "turns": ["Hi."],
}


def written(tmp_path: Path, *lines: Mapping[str, object]) -> str:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_reads_characters_lines_and_conversations(tmp_path: Path) -> None:
    line = {"kind": "line", "character": "b", "text": "Bread again."}
    source = written(tmp_path, CHARACTER, OTHER, line, TALK)
    (dialogue,) = role_play.read(source)
    assert dialogue.persona == dialogue.partner_persona == ("I bake.",)
    assert dialogue.turns[0].speaker == "self"
    corpus = role_play.read_corpus(source)
    assert corpus.monologues() == {"a": [], "b": ["Bread again."]}
    assert corpus.conversations[0].topic == "t"


def test_what_does_not_fit_together_is_named(tmp_path: Path) -> None:
    line = {"kind": "line", "character": "z", "text": "Who am I?"}
    source = written(tmp_path, CHARACTER, line, TALK)
    with pytest.raises(InvalidData) as refused:
        role_play.read(source)
    told = [problem.partition(": ")[2] for problem in refused.value.problems]
    assert told == [
        "a line of z: 'z' is no character of the file",
        "conversation 1: 'b' is no character of the file",
    ]
    with pytest.raises(InvalidData, match="of two series"):
        role_play.read(written(tmp_path, CHARACTER, {**OTHER, "series": "x"}, TALK))
    bad = {**TALK, "characters": ["a", "a"]}
    with pytest.raises(InvalidData) as refused:
        role_play.read(written(tmp_path, {"kind": "song"}, bad, {**CHARACTER, "description": []}))
    assert len(refused.value.problems) == 3


def test_our_own_series_are_two_of_five_with_equal_monologues() -> None:
    corpus = role_play.read_corpus("")
    assert Counter(Counter(each.series for each in corpus.characters).values()) == {5: 2}
    assert set(map(len, corpus.monologues().values())) == {12}
    assert len(corpus.conversations) == 10
    talking = Counter(side for each in corpus.conversations for side in each.characters)
    assert set(talking) == {each.id for each in corpus.characters}
    assert len({key(line.text) for line in corpus.lines}) == len(corpus.lines)


def test_our_own_series_are_clean_and_spelled() -> None:
    corpus = role_play.read_corpus("")
    texts = [line.text for line in corpus.lines]
    texts += [text for each in corpus.conversations for text in each.turns]
    texts += [text for each in corpus.characters for text in each.description]
    assert not [text for text in texts if unsafe(text)]
    spoken = {word.removesuffix("'s") for text in texts for word in words(text)}
    assert not {word for word in spoken if zipf_frequency(word, "en") == 0}
