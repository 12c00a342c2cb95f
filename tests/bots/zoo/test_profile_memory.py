"""The profile memory network."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch

from bots import Reply, Utterance, safe
from bots.text.tokens import key, word_count
from bots.zoo.profile_memory import BOT, ProfileMemory
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained, weights

SMALL = {"dimension": 32, "epochs": 2, "hashed": 64}


def answering() -> ProfileMemory:
    bot = trained("profile_memory")
    assert isinstance(bot, ProfileMemory)
    return bot


def test_a_persona_helps_and_without_one_it_still_beats_chance() -> None:
    bot = answering()
    told, untold = hits_on_demo(bot, "self"), hits_on_demo(bot, "none")
    assert told > 2 * untold
    assert untold > 0.07
    assert told > 0.25


def test_without_a_persona_it_is_starspace() -> None:
    """Zhang et al. 2018: q+ is q, the embedded query, and candidates are ranked by its cosine."""
    bot = answering()
    served = bot._ready()
    candidates = ["Two cats, yes.", "No, I am allergic.", "What pets?"]
    with torch.inference_mode():
        vectors = served.network.embed([HELLO[0].text, *candidates])
    expected = (vectors[1:] @ vectors[0]).tolist()
    assert bot.rank((), HELLO, candidates) == pytest.approx(expected, abs=1e-5)
    assert bot.rank((" ", ""), HELLO, candidates) == pytest.approx(expected, abs=1e-5)
    assert bot.rank(PERSONA, HELLO, candidates) != pytest.approx(expected, abs=1e-3)


def test_attention_over_the_persona_by_hand() -> None:
    network = answering()._ready().network
    query = torch.tensor([[1.0, 0.0]])
    memories = torch.tensor([[[2.0, 0.0], [0.0, 3.0], [9.0, 9.0]]])
    present = torch.tensor([[True, True, False]])
    first, second = torch.softmax(torch.tensor([1.0, 0.0]), 0).tolist()
    expected = torch.tensor([[1 + 2 * first, 3 * second]])
    torch.testing.assert_close(network.attend(query, memories, present), expected)


def test_a_conversation_has_no_reply_twice_and_short_safe_ones() -> None:
    bot = answering()
    history: tuple[Utterance, ...] = ()
    said = []
    for _ in range(30):
        reply = bot.respond(PERSONA, (*history, *HELLO))
        history += (*HELLO, Utterance("self", reply.text))
        said.append(reply.text)
    assert len({key(text) for text in said}) == 30
    assert all(safe(text) and word_count(text) <= 15 for text in said)


def test_it_takes_another_reply_where_the_best_was_said() -> None:
    bot = answering()
    best = bot.respond(PERSONA, HELLO)
    again = bot.respond(PERSONA, (Utterance("self", best.text.upper()), *HELLO))
    assert key(again.text) != key(best.text)
    alone = bot.respond(PERSONA, (Utterance("self", "Hm."), *HELLO))
    assert isinstance(alone, Reply)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "margin", "optimizer": "sgd", "rate": 0.1, "rare_first": False},
        {"query_is_memory": True, "pooling": "sum"},
        {"max_norm": 1.0, "hashed": 0, "held_out": 0.0, "history": 1},
    ],
)
def test_every_recipe_learns(options: dict[str, object]) -> None:
    bot = BOT(**{**SMALL, "epochs": 3, **options})  # type: ignore[arg-type]
    bot.train(demo("train"), seed=0)
    assert bot._about is not None
    losses = [epoch["loss"] for epoch in bot._about.history]
    assert losses[-1] < losses[0]


def test_released_query_is_the_weighted_sum_of_query_and_persona() -> None:
    bot = BOT(**SMALL, query_is_memory=True)  # type: ignore[arg-type]
    bot.train(demo("valid"), seed=0)
    served = bot._ready()
    alone = bot.rank((), HELLO, PERSONA)
    with torch.inference_mode():
        vectors = served.network.embed([HELLO[0].text, *PERSONA])
    assert alone == pytest.approx((vectors[1:] @ vectors[0]).tolist(), abs=1e-5)


def test_another_seed_other_weights_and_the_record_says_what_was_done(tmp_path: Path) -> None:
    for seed in (1, 2):
        bot = BOT(**SMALL)  # type: ignore[arg-type]
        bot.train(demo("valid"), seed=seed)
        bot.save(tmp_path / str(seed))
    one, two = ((tmp_path / s / "weights.safetensors").read_bytes() for s in ("1", "2"))
    assert one != two
    about = json.loads((tmp_path / "1" / "bot.json").read_text())
    assert (about["bot"], about["seed"]) == ("profile_memory", 1)
    assert about["options"]["dimension"] == 32
    assert set(about["versions"]) == {"python", "torch", "numpy", "safetensors"}
    assert len(about["data"]) == 64
    assert about["vocabulary"] == sorted(about["vocabulary"])
    assert 1 <= len(about["history"]) <= 2


def test_weights_load_and_answer_quickly() -> None:
    """Generous bounds on a busy machine: the requirement is 2 s and 50 ms."""
    start = time.perf_counter()
    bot = ProfileMemory(weights=weights("profile_memory"))
    loaded = time.perf_counter()
    bot.respond(PERSONA, HELLO)
    first = time.perf_counter()
    assert loaded - start < 10
    assert first - loaded < 5


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="nothing to save"):
        BOT().save(Path("nowhere"))
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
