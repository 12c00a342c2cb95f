"""PC-P2: the paper's examples come out as it says, and every pair that it prints is accepted."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswer, InvalidAnswers, Write
from evaluation.registry import get_protocol

FORD, BASKETBALL = "My father worked for Ford.", "I like basketball"
PRINTED = (  # table 1
    ("I love the beach.", "To me, there is nothing like a day at the seashore."),
    ("My dad has a car dealership", "My father sales vehicles for a living."),
    ("I just got my nails done", "I love to pamper myself on a regular basis."),
    ("I am on a diet now", "I need to lose weight."),
    ("Horses are my favorite animal.", "I am into equestrian sports."),
    ("I play a lot of fantasy videogames.", "RPGs are my favorite genre."),
    ("I have a computer science degree.", "I also went to school to work with technology."),
    ("My mother is a medical doctor", "The woman who gave birth to me is a physician."),
    ("I am very shy.", "I am not a social person."),
    ("I like to build model spaceships.", "I enjoy working with my hands."),
)


def step() -> Write:
    write = get_protocol("personachat_revisions").write
    assert write is not None
    return write


@pytest.mark.parametrize(
    ("original", "text"),
    [
        (FORD, "My dad worked in the car industry"),
        (BASKETBALL, "I am a big fan of Michael Jordan"),
        *PRINTED,
    ],
)
def test_the_good_examples_are_accepted(original: str, text: str) -> None:
    assert step().text(text, 0, (original,)) == text


@pytest.mark.parametrize(
    ("original", "text", "copied"),
    [
        (FORD, "My dad was employed by Ford.", "“ford”"),
        (BASKETBALL, "I am good at basketball", "“basketball”"),
        (FORD, "A FORD, my FATHER’s car", "“ford”"),
    ],
)
def test_the_bad_examples_are_refused_and_the_copied_word_is_named(
    original: str, text: str, copied: str
) -> None:
    with pytest.raises(InvalidAnswer, match=copied):
        step().text(text, 0, (original,))


def test_every_copied_word_is_named_once() -> None:
    with pytest.raises(InvalidAnswer, match="has too: “ford”, “father”"):
        step().text("Ford is where my father, my father, is", 0, (FORD,))


def test_each_sentence_is_compared_with_its_own_original() -> None:
    write, given = step(), (FORD, BASKETBALL)
    good = {"w1.1": "Basketball is his hobby", "w1.2": "Ford is my car brand"}
    assert write.parse(good, "w1", given) == tuple(good.values())
    with pytest.raises(InvalidAnswers) as refusal:
        write.parse(dict(zip(good, reversed(good.values()), strict=True)), "w1", given)
    assert set(refusal.value.problems) == {"w1.1", "w1.2"}


def test_both_lists_of_words_can_be_changed() -> None:
    strict = get_protocol("personachat_revisions").change({"write.no_nonstop_overlap.allowed": []})
    assert strict.write is not None
    with pytest.raises(InvalidAnswer, match="“worked”"):
        strict.write.text("My dad worked in the car industry", 0, (FORD,))
    lax = {"write.no_nonstop_overlap.stop_words": ["My", "ford", "was", "by"]}
    changed = get_protocol("personachat_revisions").change(lax).write
    assert changed is not None
    assert changed.text("My dad was employed by Ford.", 0, (FORD,))
