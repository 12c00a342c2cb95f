"""The constant reply that word F1 likes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from bots import BatchBot, InvalidWeights, Utterance, examples, make_bot
from bots.text.tokens import normalize_answer
from bots.zoo.toy_f1 import ToyF1, choose_words
from tests.bots.examples import HELLO, PERSONA, demo, trained

PAPERS = "i am you to do and your is like"


def f1(said: str, wanted: str) -> float:
    """Return word F1 as ConvAI2's released evaluation has it."""
    ours, theirs = (Counter(normalize_answer(text).split()) for text in (said, wanted))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def mean_f1(bot: object) -> float:
    """Return mean F1 over the replies of the demo's test dialogues."""
    assert isinstance(bot, BatchBot)
    asked = list(examples(demo("test")))
    said = bot.respond_many([(each.persona, each.history) for each in asked])
    pairs = zip(said, asked, strict=True)
    return sum(f1(reply.text, each.reply) for reply, each in pairs) / len(asked)


def test_untrained_it_says_the_papers_words() -> None:
    bot = make_bot("toy_f1")
    assert isinstance(bot, ToyF1)
    for history in ((), HELLO, (*HELLO, Utterance("self", PAPERS), *HELLO)):
        assert normalize_answer(bot.respond(PERSONA, history).text) == PAPERS


def test_its_own_words_are_better_than_the_papers_on_its_own_data() -> None:
    bot = trained("toy_f1")
    assert isinstance(bot, ToyF1)
    assert bot.text != PAPERS
    assert bot._gains is not None
    assert (bot._gains > 0).all()
    assert mean_f1(bot) > mean_f1(make_bot("toy_f1")) > 0


@pytest.mark.parametrize("name", ["seq2seq", "hred"])
def test_f1_is_above_that_of_trained_toy_models(name: str) -> None:
    assert mean_f1(trained("toy_f1")) > mean_f1(trained(name))


def test_words_are_chosen_greedily() -> None:
    replies = [["i", "like", "you"], ["you", "like", "tea"], ["i", "am", "i"]]
    words = ["like", "i", "you", "tea", "am"]
    chosen, gains = choose_words(words, replies, 5)

    def mean(text: list[str]) -> float:
        return sum(f1(" ".join(text), " ".join(reply)) for reply in replies) / len(replies)

    assert gains.tolist() == pytest.approx(
        [mean(chosen[: i + 1]) - mean(chosen[:i]) for i in range(len(chosen))]
    )
    for place in range(len(chosen)):
        best = max(mean([*chosen[:place], word]) for word in words)
        assert mean(chosen[: place + 1]) == pytest.approx(best)
    rest = [word for word in words if word not in chosen]
    assert all(mean([*chosen, word]) <= mean(chosen) for word in rest)
    assert mean(chosen) <= max(mean(list(c)) for n in range(1, 6) for c in combinations(words, n))
    assert len(choose_words(words, replies, 2)[0]) == 2


def test_too_little_data_and_foreign_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 dialogues are too few"):
        ToyF1().train(demo("train")[:1], seed=1)
    with pytest.raises(ValueError, match="nothing to save"):
        ToyF1().save(tmp_path)
    bot = trained("toy_f1")
    assert isinstance(bot, ToyF1)
    bot.save(tmp_path)
    about = (tmp_path / "bot.json").read_text().replace('"toy_f1"', '"tfidf"')
    (tmp_path / "bot.json").write_text(about)
    with pytest.raises(InvalidWeights, match="of tfidf, not of toy_f1"):
        ToyF1().load(tmp_path)
