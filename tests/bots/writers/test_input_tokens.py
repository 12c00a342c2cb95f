"""What of a turn a writing bot reads."""

from __future__ import annotations

from bots import Dialogue, Utterance
from bots.text.vocabulary import UNKNOWN, WordCodec
from bots.writers.input_tokens import Reading, codec_of, drawn, to_learn

CODEC = WordCodec(("i", "sing", "you", "?"))
PERSONA, SELF, PARTNER = (CODEC.size + mark for mark in range(3))
ME, SING, YOU, ASKS = (CODEC.encode(word)[0] for word in CODEC.words)
HISTORY = (
    Utterance("partner", "you sing?"),
    Utterance("self", "I dance"),
    Utterance("partner", "you?"),
)


def test_everything_is_marked_by_whose_it_is() -> None:
    asked = Reading(CODEC).encoded((("I sing",), HISTORY))
    assert asked.persona == ((PERSONA, ME, SING),)
    assert asked.history == (
        (PARTNER, YOU, SING, ASKS),
        (SELF, ME, UNKNOWN),
        (PARTNER, YOU, ASKS),
    )
    assert asked.flat == tuple(token for part in (*asked.persona, *asked.history) for token in part)
    assert Reading(CODEC).size == CODEC.size + 3


def test_the_newest_messages_are_kept_as_long_as_there_is_room() -> None:
    assert len(Reading(CODEC, messages=2).encoded(((), HISTORY)).history) == 2
    tight = Reading(CODEC, tokens=5).encoded((("I sing", "you sing you sing"), HISTORY))
    assert tight.history == ((SELF, ME), (PARTNER, YOU, ASKS))
    assert tight.persona == ((PERSONA, ME, SING), (PERSONA, YOU))


def test_there_is_always_something_to_read() -> None:
    assert Reading(CODEC).encoded(((), ())).flat == (PARTNER,)
    assert Reading(CODEC, persona=False).encoded((("I sing",), ())).flat == (PARTNER,)
    long = Reading(CODEC, tokens=9).encoded(
        (("i " * 5000,), (Utterance("partner", "you " * 5000),))
    )
    assert len(long.flat) == 18


def test_words_come_from_messages_and_both_personas() -> None:
    dialogue = Dialogue("1", HISTORY, ("Cats purr",), ("dogs bark",))
    assert set(codec_of([dialogue], 1, 0).words) == {
        *("you", "sing", "?", "i", "dance", "cats", "purr", "dogs", "bark")
    }
    assert codec_of([dialogue], 2, 1).words == ("?",)
    assert [each.reply for each in to_learn([dialogue], 0, 1)] == ["I dance", "you?"]
    assert [each.reply for each in to_learn([dialogue], 0, 1, "self")] == ["I dance"]
    assert len(to_learn([dialogue], 1, 1)) == 1


def test_lots_are_drawn_without_repeating() -> None:
    found = drawn(range(100), 10, 3)
    assert len(set(found)) == 10
    assert found == drawn(range(100), 10, 3) != drawn(range(100), 10, 4)
    assert drawn(range(3), 0, 1) == drawn(range(3), 5, 1) == [0, 1, 2]
