"""Key-value profile memory."""

from __future__ import annotations

import pytest
import torch

from bots import Utterance, safe
from bots.text.tokens import display, key
from bots.zoo.kv_profile_memory import BOT, KeyValueProfileMemory
from tests.bots.examples import HELLO, PERSONA, hits_on_demo, trained

CANDIDATES = ["Two cats, yes.", "No, I am allergic.", "What pets?"]


def answering(**options: object) -> KeyValueProfileMemory:
    bot = trained("kv_profile_memory", **options)
    assert isinstance(bot, KeyValueProfileMemory)
    return bot


def test_a_persona_helps() -> None:
    bot = answering()
    assert hits_on_demo(bot, "self") > 2 * hits_on_demo(bot, "none") > 0.1


def test_it_serves_the_weights_of_profile_memory() -> None:
    """Without the second look-up it is profile memory."""
    first = trained("profile_memory")
    assert isinstance(first, object)
    ranks = answering(second=0.0).rank(PERSONA, HELLO, CANDIDATES)
    assert ranks == pytest.approx(first.rank(PERSONA, HELLO, CANDIDATES))  # type: ignore[attr-defined]


def test_released_scores_by_hand() -> None:
    bot = answering(keys=5, joined=2)
    served = bot._ready()
    with torch.inference_mode():
        cosines = served.embed([HELLO[0].text])[0] @ served.index.keys.T
        near = cosines.topk(2).indices.tolist()
        joined = " ".join(served.index.replies[place] for place in near)
        hop = served.queries([(PERSONA, (Utterance("partner", joined),))])[0]
        first = served.queries([(PERSONA, HELLO)])[0]
        vectors = served.embed(CANDIDATES)
    expected = (vectors @ first + 0.1 * (vectors @ hop)).tolist()
    assert bot.rank(PERSONA, HELLO, CANDIDATES) == pytest.approx(expected, abs=1e-5)


def test_exact_scores_by_hand() -> None:
    bot = answering(mode="exact")
    served = bot._ready()
    with torch.inference_mode():
        first = served.queries([(PERSONA, HELLO)])[0]
        weights = torch.softmax(served.index.keys @ first, 0)
        second = first + (weights.unsqueeze(1) * served.index.vectors).sum(0)
        expected = (served.embed(CANDIDATES) @ second / second.norm()).tolist()
    assert bot.rank(PERSONA, HELLO, CANDIDATES) == pytest.approx(expected, abs=1e-5)


def test_it_answers_from_the_replies_of_the_nearest_messages_and_never_twice() -> None:
    bot = answering()
    near = bot._near([(PERSONA, HELLO)])[0].tolist()
    allowed = {display(bot._ready().index.replies[place]) for place in near}
    history: tuple[Utterance, ...] = ()
    said: list[str] = []
    for _ in range(20):
        reply = bot.respond(PERSONA, (*history, *HELLO))
        history += (*HELLO, Utterance("self", reply.text))
        said.append(reply.text)
    assert set(said) <= allowed
    assert len({key(text) for text in said}) == 20
    assert all(map(safe, said))


def test_without_weights_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="needs weights of profile_memory"):
        BOT().respond((), ())
