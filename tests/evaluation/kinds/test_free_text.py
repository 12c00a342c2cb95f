"""Free text: limits of words and characters, and what is stored of what was written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation import FreeText, InvalidAnswer, Rate, Shown
from evaluation.kinds.free_text import LONGEST, SENTENCES
from webapp.services.rating import submission

NOBODY = Shown(())
LIMITED = FreeText(name="why", text="Why?", least_words=3, most_words=5, most_characters=20)
LETTERS = FreeText(name="why", text="Why?", least_characters=4, most_characters=6)
OPTIONAL = FreeText(name="more", text="Anything else?", required=False, least_words=2)


class Rater:
    """Picks one sentence always."""

    def __init__(self, number: int) -> None:
        self.number = number

    def point(self, points: Sequence[int]) -> int:
        return points[0]

    def position(self, low: float, high: float) -> float:
        return low

    def agrees(self) -> bool:
        return True

    def picks(self, options: Sequence[str]) -> str:
        return options[self.number]

    def knows(self, options: Sequence[str]) -> bool:
        return False

    def prefers(self, options: Sequence[str]) -> str:
        return options[0]

    def rank(self) -> int:
        return 1


@pytest.mark.parametrize("text", ["a b c", "a b c d e", "aaa bbbb ccccc ddddd"])
def test_texts_at_the_limits_are_taken(text: str) -> None:
    assert LIMITED.parse(text, NOBODY) == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Write an answer: at least 3 words, at most 5 words, at most 20 characters."),
        ("a", "Write at least 3 words; this has 1."),
        ("a b", "Write at least 3 words; this has 2."),
        ("a b c d e f", "Write at most 5 words; this has 6."),
        ("aaaa bbbb ccccc ddddd", "Write at most 20 characters; this has 21."),
    ],
)
def test_a_text_beyond_a_limit_is_refused_with_both_numbers(text: str, complaint: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        LIMITED.parse(text, NOBODY)
    assert str(refused.value) == complaint


def test_characters_are_limited_where_words_are_not_parted() -> None:
    assert [LETTERS.parse(text, NOBODY) for text in ("面白かっ", "面白かった。")]
    with pytest.raises(InvalidAnswer, match="at least 4 characters; this has 3"):
        LETTERS.parse("面白い", NOBODY)
    with pytest.raises(InvalidAnswer, match="at most 6 characters; this has 7"):
        LETTERS.parse("面白かったよ。", NOBODY)


def test_only_an_optional_text_may_be_blank_and_a_short_one_is_refused_all_the_same() -> None:
    assert (OPTIONAL.parse(" \n", NOBODY), OPTIONAL.words("")) == ("", "(left blank)")
    with pytest.raises(InvalidAnswer, match="at least 2 words; this has 1"):
        OPTIONAL.parse("fine", NOBODY)
    with pytest.raises(InvalidAnswer, match="Write an answer: at most 1000 characters"):
        FreeText(name="q", text="?").parse("\t", NOBODY)


def test_what_is_stored_is_composed_and_has_one_kind_of_line_end_and_no_control_signs() -> None:
    written = "  cafe\u0301 one\r\ntwo\rthree\0\x1b[31m four\ud800 "
    stored = FreeText(name="q", text="?").parse(written, NOBODY)
    assert stored == "caf\u00e9 one\ntwo\nthree[31m four"


def test_the_page_has_the_limits_as_a_sentence() -> None:
    assert LIMITED.limits == "Length: at least 3 words, at most 5 words, at most 20 characters."
    assert OPTIONAL.limits.endswith("You may leave it blank.")
    assert LETTERS.offer() == "a text of at least 4 characters, at most 6 characters"


@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_simulated_people_write_sentences_within_the_limits(number: int) -> None:
    for question in (
        FreeText(name="q", text="?"),
        FreeText(name="q", text="?", least_words=40),
        FreeText(name="q", text="?", most_words=4),
        FreeText(name="q", text="?", least_characters=200, most_characters=210),
    ):
        text = FreeText.simulated(question.form_field(NOBODY), Rater(number))
        assert question.parse(text, NOBODY)
        assert text.split()[0] == SENTENCES[number].split()[0]


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"least_words": 0}, "least_words is 0; write a number from 1 to 500"),
        ({"least_words": 4, "most_words": 3}, "write a number from 1 to 3"),
        ({"least_words": 6, "most_characters": 10}, "write a number from 1 to 5"),
        ({"least_characters": 0}, "write a range within 1 to 2000"),
        ({"least_characters": 3, "most_characters": 2}, "characters from 3 to 2"),
        ({"most_characters": LONGEST + 1}, "characters from 1 to 2001"),
    ],
)
def test_limits_that_no_text_keeps_are_refused(limits: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        FreeText(name="q", text="?", **limits)  # type: ignore[arg-type]


def test_a_draft_keeps_the_longest_text() -> None:
    longest = FreeText(name="q", text="?", most_characters=LONGEST)
    assert longest.parse("a" * LONGEST, NOBODY)
    assert submission.DRAFT_CHARACTERS >= LONGEST


def test_it_is_no_label_of_a_message_while_chatting() -> None:
    with pytest.raises(ValueError, match="why: a free_text can only be asked after the chat"):
        Rate(each=(LIMITED,), over="messages", when="live")
    assert Rate(each=(LIMITED,), over="contexts").each == (LIMITED,)
