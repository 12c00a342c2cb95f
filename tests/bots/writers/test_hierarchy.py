"""The hierarchical reader."""

from __future__ import annotations

import torch

from bots.text.vocabulary import WordCodec
from bots.writers.embedding import embedding
from bots.writers.hierarchy import Hierarchy
from bots.writers.input_tokens import EncodedInput, Reading
from bots.writers.recurrent import RecurrentSizes

READING = Reading(WordCodec(tuple("abcdef")))
ASKED = [
    EncodedInput((), ((4, 5), (6,), (7, 8, 9))),
    EncodedInput(((5, 6),), ((4,),)),
    EncodedInput((), ((9, 9, 9, 9),)),
]


def test_rows_and_utterances_do_not_know_each_other() -> None:
    torch.manual_seed(1)
    table = embedding(READING, 4)
    for ways in (1, 2):
        hierarchy = Hierarchy("gru", RecurrentSizes(4, 5), ways)
        found = hierarchy(ASKED, table)
        assert found.spoken.tolist() == [[True] * 3, [True, True, False], [True, False, False]]
        assert found.is_word.sum(2).tolist() == [[2, 1, 3], [2, 1, 0], [4, 0, 0]]
        for row, each in enumerate(ASKED):
            alone = hierarchy([each], table)
            torch.testing.assert_close(found.context[row], alone.context[0])
            spoken = alone.spoken.sum()
            torch.testing.assert_close(found.utterances[row, :spoken], alone.utterances[0])
            torch.testing.assert_close(found.contexts[row, :spoken], alone.contexts[0])


def test_an_utterance_of_two_ways_is_its_last_and_its_first_output() -> None:
    torch.manual_seed(2)
    found = Hierarchy("gru", RecurrentSizes(4, 5), 2)(ASKED, embedding(READING, 4))
    torch.testing.assert_close(found.utterances[0, 2, :5], found.words[0, 2, 2, :5])
    torch.testing.assert_close(found.utterances[0, 2, 5:], found.words[0, 2, 0, 5:])


def test_the_context_depends_on_the_order_of_utterances() -> None:
    torch.manual_seed(3)
    table, hierarchy = embedding(READING, 4), Hierarchy("gru", RecurrentSizes(4, 5))
    turned = EncodedInput((), ASKED[0].history[::-1])
    one, other = (hierarchy([each], table) for each in (ASKED[0], turned))
    torch.testing.assert_close(one.utterances.flip(1), other.utterances)
    assert not torch.allclose(one.context, other.context, atol=1e-3)
