"""The cosine of frozen vectors."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from bots import Utterance
from bots.encoders.sentences import encoder
from bots.rankers import frozen
from bots.zoo.sim import BOT, Sim
from tests.bots.examples import HELLO, PERSONA, hits_on_demo, trained

OFFERED = ["Two cats, yes.", "No, I am allergic.", "What pets?"]


def test_it_ranks_without_training_and_the_persona_helps() -> None:
    assert hits_on_demo(Sim(), "self") > 2 * hits_on_demo(Sim(), "none") > 0.1


def test_as_in_the_paper_it_is_the_cosine_with_the_last_message() -> None:
    encode = encoder("hashed")
    expected = (encode(OFFERED) @ encode([HELLO[0].text])[0]).tolist()
    assert Sim(persona="ignored").rank(PERSONA, HELLO, OFFERED) == pytest.approx(expected)
    assert Sim().rank((), HELLO, OFFERED) == pytest.approx(expected)
    nearest = (encode(OFFERED) @ encode(PERSONA).T).amax(dim=1).tolist()
    both = [one + other for one, other in zip(expected, nearest, strict=True)]
    assert Sim().rank(PERSONA, HELLO, OFFERED) == pytest.approx(both)


def test_it_answers_from_the_replies_it_kept() -> None:
    bot = trained("sim")
    assert isinstance(bot, Sim)
    reply = bot.respond(PERSONA, HELLO)
    again = bot.respond(PERSONA, (Utterance("self", reply.text), *HELLO))
    assert again.text != reply.text
    with pytest.raises(ValueError, match="no replies to choose from"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)


def test_the_texts_of_all_conversations_are_encoded_in_one_pass() -> None:
    passes: list[list[str]] = []

    def encode(texts: Sequence[str]) -> torch.Tensor:
        passes.append(list(texts))
        return encoder("hashed")(texts)

    turns = [(PERSONA, HELLO), ((), HELLO), (PERSONA[:1], ())]
    found = frozen.query_vectors_of_all(encode, turns, "best")
    assert [len(each) for each in found] == [4, 1, 2]
    assert len(passes) == 1
    for vectors, turn in zip(found, turns, strict=True):
        torch.testing.assert_close(vectors, frozen.query_vectors(encode, *turn, "best"))


def test_remembered_texts_are_encoded_once_until_there_are_too_many() -> None:
    passes: list[list[str]] = []

    def encode(texts: Sequence[str]) -> torch.Tensor:
        passes.append(list(texts))
        return encoder("hashed")(texts)

    look_up = frozen.remembered(encode, most=3)
    for texts in (["a", "b"], ["b", "c"], ["c"], ["b", "d"], ["b"]):
        torch.testing.assert_close(look_up(texts), encoder("hashed")(texts))
    assert passes == [["a", "b"], ["c"], ["b", "d"]]


def test_vectors_are_on_the_device_that_was_asked_for() -> None:
    assert encoder("hashed", "meta")(OFFERED).device.type == "meta"
