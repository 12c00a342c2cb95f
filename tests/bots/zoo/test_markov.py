"""The n-gram bot that is not trained."""

from __future__ import annotations

import pytest
import torch

from bots import Decoding, Utterance, make_bot
from bots.zoo.markov import Markov
from tests.bots.examples import HELLO, PERSONA, demo


def bot(**options: object) -> Markov:
    made = make_bot("markov", **options)
    assert isinstance(made, Markov)
    return made


def test_probabilities_sum_to_one_and_follow_what_was_read() -> None:
    made = bot()
    chances = made.next_word(PERSONA, HELLO, ["i", "have"])
    assert sum(chances.values()) == pytest.approx(1, abs=0.05)  # the end mark has the rest
    assert chances["a"] > 20 * chances["is"]
    state = made.model.start([(PERSONA, HELLO), ((), ())])
    log_probs, _ = made.model.step(state, torch.tensor([1, 1]))
    assert torch.allclose(log_probs.exp().sum(dim=1), torch.ones(2), atol=1e-5)


def test_words_of_the_persona_are_likelier() -> None:
    made = bot()
    told, untold = (made.next_word(each, HELLO, ["my"])["sister"] for each in (PERSONA, ()))
    assert told > untold


def test_longer_contexts_fit_its_own_text_better() -> None:
    turns = demo("train")[0].turns
    history, reply = turns[:1], turns[1].text
    two, three = (bot(order=order).rank((), history, [reply])[0] for order in (2, 3))
    assert three > two


def test_it_writes_words_it_knows() -> None:
    found = bot().propose([(PERSONA, HELLO)], Decoding("sample", 5, max_tokens=8))[0]
    known = set(bot().model.ids)
    assert len(found) == 5
    assert all(set(each.tokens) <= known and len(each.tokens) <= 8 for each in found)
    assert bot(seed=1).propose([(PERSONA, HELLO)]) != bot().propose([(PERSONA, HELLO)])


def test_the_first_word_follows_the_message_before_it() -> None:
    asked, told = (
        bot(share=0.0).next_word((), (Utterance("partner", text),), [])
        for text in ("Do you like it?", "I like it.")
    )
    assert asked["yes"] > told["yes"]
