"""How likely the words of a reply are, against counting one by one."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch

from bots.encoders.minilm import FIRST, LAST, States, Tokens
from bots.zoo.minilm_matcher.match_words import PRIOR, SIZE, by_words, frequencies

TEXTS = [(FIRST, 7, 8, 9, 7, LAST), (FIRST, 8, 9, LAST), (FIRST, 5, LAST)]
REPLIES = [(FIRST, 7, 8, 11, LAST), (FIRST, 5, LAST), (FIRST, 8, 9, 7, 7, LAST), (FIRST, LAST)]
SAID = [(0, 1), (2,), ()]  # what each context's group holds


def states(texts: list[Tokens]) -> States:
    longest = max(len(text) for text in texts)
    numbers = torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])
    return States(torch.zeros((*numbers.shape, 1)), numbers)


def words(text: Tokens) -> list[Tokens]:
    return [(number,) for number in text[1:-1]]


def pairs(text: Tokens) -> list[Tokens]:
    return list(pairwise(text))


def slowly(rows: tuple[int, ...], reply: list[Tokens], said: list[list[Tokens]]) -> float:
    """The logarithm of how much likelier a reply is, smoothed by all texts."""
    known = Counter(part for text in said for part in text)
    own = Counter(part for row in rows for part in said[row])
    least = 0.1 if len(reply[0]) == 1 else 0.02
    whole = sum(known.values()) + least * (30522 if len(reply[0]) == 1 else 1 << 16)
    found = 0.0
    for part in reply:
        usual = (known[part] + least) / whole
        smoothed = (own[part] + PRIOR * usual) / (sum(own.values()) + PRIOR)
        found += math.log(smoothed / usual)
    return found


def test_what_was_said_makes_a_reply_likelier_by_as_much_as_counting_says() -> None:
    told, replies = states(TEXTS), states(REPLIES)
    rows = torch.tensor([[0, 1], [2, 3], [3, 3]])  # 3 stands for nothing
    equal = told.numbers[:, None, :, None] == replies.numbers[None, :, None, :]
    found = by_words(told, replies, equal, [rows] * 5, frequencies(TEXTS))
    assert len(found) == SIZE
    for context, group in enumerate(SAID):
        for place, reply in enumerate(REPLIES[:3]):
            for column, parts in ((3, words), (5, pairs)):
                wanted = slowly(group, parts(reply), [parts(text) for text in TEXTS])
                assert found[column][context, place].item() == pytest.approx(wanted, abs=1e-4)
                mean = found[column + 1][context, place].item()
                assert mean == pytest.approx(wanted / len(parts(reply)), abs=1e-4)
    assert all(each.isfinite().all() for each in found)


def test_who_said_nothing_makes_no_reply_likelier() -> None:
    told, replies = states(TEXTS), states(REPLIES)
    equal = told.numbers[:, None, :, None] == replies.numbers[None, :, None, :]
    nothing = torch.full((1, 2), 3)
    found = by_words(told, replies, equal, [nothing] * 5, frequencies(TEXTS))
    assert torch.stack(found[3:]).abs().max() < 1e-5
