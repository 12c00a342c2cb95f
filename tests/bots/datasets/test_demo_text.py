"""Is the bundled small talk good enough: varied, clean, and as the rules of its source ask.

The rules are PERSONA-CHAT's (Zhang et al. 2018, section 3): five sentences of at most 15 words, a
revision that shares no word with meaning, splits by persona, messages that do not copy the persona.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pytest
from wordfreq import zipf_frequency

from bots.datasets import contexts, demo
from bots.dialogue import Dialogue
from bots.guards.filters import unsafe
from bots.line_files import read_records
from bots.text.tokens import key, nonstop, words

SPLITS = ("train", "valid", "test")
LIMIT = 15
PERSONAS = demo.personas()
DIALOGUES = {split: demo.read(split) for split in SPLITS}
ALL = list(chain.from_iterable(DIALOGUES.values()))


def texts(dialogues: Sequence[Dialogue]) -> list[str]:
    return [turn.text for dialogue in dialogues for turn in dialogue.turns]


def ngrams(text: str, size: int) -> Iterator[tuple[str, ...]]:
    found = words(text)
    return zip(*(found[start:] for start in range(size)), strict=False)


def test_there_is_enough_of_it() -> None:
    assert len(PERSONAS) >= 200
    assert len(ALL) >= 200
    assert len({persona.id for persona in PERSONAS}) == len(PERSONAS)
    for split in SPLITS:
        assert len(demo.personas(split)) >= 20
        assert len(DIALOGUES[split]) >= 20


def test_personas_are_five_short_sentences_each_with_a_revision() -> None:
    for persona in PERSONAS:
        assert len(persona.original) == len(persona.revised) == 5
    sentences = [text for each in PERSONAS for text in (*each.original, *each.revised)]
    assert not [text for text in sentences if not 3 <= len(text.split()) <= LIMIT]
    assert not repeated(map(key, sentences))


def repeated(found: Iterable[str]) -> dict[str, int]:
    counted = Counter(found)
    return {value: count for value, count in counted.items() if count > 1}


def test_revisions_share_no_word_with_meaning() -> None:
    shared = [
        (persona.id, place, both)
        for persona in PERSONAS
        for place, pair in enumerate(zip(persona.original, persona.revised, strict=True))
        if (both := set(nonstop(pair[0])) & set(nonstop(pair[1])))
    ]
    assert not shared


def test_splits_share_no_persona() -> None:
    sentences = {
        split: {
            sentence
            for each in DIALOGUES[split]
            for sentence in (*each.persona, *each.partner_persona)
        }
        for split in SPLITS
    }
    assert not sentences["train"] & (sentences["valid"] | sentences["test"])
    assert not sentences["valid"] & sentences["test"]
    talking = {each.persona for each in ALL} | {each.partner_persona for each in ALL}
    assert talking == {persona.original for persona in PERSONAS}
    assert all(each.persona != each.partner_persona for each in ALL)


def test_dialogues_are_eight_to_fourteen_short_messages() -> None:
    assert not [each.id for each in ALL if not 8 <= len(each.turns) <= 14]
    assert not [text for text in texts(ALL) if not 2 <= len(text.split()) <= LIMIT]
    assert len({len(each.turns) for each in ALL}) >= 5


def test_messages_do_not_copy_the_persona() -> None:
    copied = [
        (dialogue.id, turn.text)
        for each in ALL
        for dialogue in (each, each.swapped())
        for turn in dialogue.turns
        if turn.speaker == "self"
        and set(ngrams(turn.text, 5)) & {n for line in dialogue.persona for n in ngrams(line, 5)}
    ]
    assert not copied


def test_messages_show_who_is_speaking() -> None:
    """Each side lets words of at least two of its five sentences come up."""
    hidden = []
    for each in ALL:
        for side in (each, each.swapped()):
            own = [turn.text for turn in side.turns if turn.speaker == "self"]
            said = {word.rstrip("s") for text in own for word in nonstop(text)}
            told = sum(
                any(word.rstrip("s") in said for word in nonstop(line)) for line in side.persona
            )
            if told < 2:
                hidden.append((side.id, side.persona[0], told))
    assert not hidden


def test_no_message_is_said_twice_and_no_phrase_often() -> None:
    assert not repeated(key(text) for text in texts(ALL) if len(text.split()) >= 4)
    counted = Counter(chain.from_iterable(ngrams(text, 5) for text in texts(ALL)))
    assert not {gram: count for gram, count in counted.items() if count > 3}
    openings = Counter(tuple(words(each.turns[0].text)[:3]) for each in ALL)
    assert openings.most_common(1)[0][1] <= len(ALL) * 0.05


@pytest.mark.parametrize("path", sorted(demo.TEXT.glob("dialogues_*.jsonl")), ids=lambda p: p.stem)
def test_language_is_varied(path: Path) -> None:
    """Distinct-2 as in THRED: different word pairs per word. A template's is far lower."""
    said = list(chain.from_iterable(read_records(path, lambda record: record["turns"])))
    pairs = set(chain.from_iterable(ngrams(text, 2) for text in said))
    assert len(pairs) / sum(len(words(text)) for text in said) > 0.45


def test_every_word_is_spelled_as_a_known_word_or_name() -> None:
    written = [text for each in PERSONAS for text in (*each.original, *each.revised)]
    written += texts(ALL) + texts(contexts.read(""))
    unknown = {
        word
        for text in written
        for word in words(text)
        if zipf_frequency(word.removesuffix("'s"), "en") == 0
    }
    assert not unknown


def test_all_of_it_passes_the_safety_filter() -> None:
    written = [text for each in PERSONAS for text in (*each.original, *each.revised)]
    written += texts(ALL) + texts(contexts.read(""))
    assert not [(reason, text) for text in written if (reason := unsafe(text))]
