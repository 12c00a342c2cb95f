"""Ruuh: the front end, cleaning, and the learned ranker."""

from __future__ import annotations

import numpy as np
import pytest

from bots import Dialogue, Utterance
from bots.text.tokens import key
from bots.zoo.ruuh import BOT, Ruuh
from bots.zoo.ruuh.lambdamart import Growth, Trees, fit, lambdas
from bots.zoo.ruuh.pair_cleaning import unfit
from bots.zoo.ruuh.understanding import EDITORIAL, understand
from tests.bots.examples import PERSONA, hits_on_demo, trained


def answering() -> Ruuh:
    bot = trained("ruuh")
    assert isinstance(bot, Ruuh)
    return bot


def test_offence_gets_an_editorial_answer_every_time() -> None:
    bot = answering()
    history: tuple[Utterance, ...] = ()
    said = []
    for text in (
        "You are a stupid idiot.",
        "I hate you!",
        "Shut up, moron.",
        "idiot",
        "Go to hell!",
    ):
        history += (Utterance("partner", text),)
        reply = bot.respond(PERSONA, history)
        assert reply.details["editorial"] == "offence"
        said.append(reply.text)
        history += (Utterance("self", reply.text),)
    assert set(said) == set(EDITORIAL["offence"])


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("You are so useless.", True),
        ("what a clueless, brainless machine you are", True),
        ("You're a total waste of time", True),
        ("Nobody likes you.", True),
        ("Zip it!", True),
        ("Go away.", True),
        ("Are you a clown?", False),
        ("Do you like clowns?", False),
        ("I am useless at chess.", False),
        ("I am sorry that you are miserable", False),
        ("My boss is an arrogant fool.", False),
        ("You have nothing to lose", False),
        ("I can't stand you to be sad", False),
        ("What a waste of food that was.", False),
        ("I had to get out of my car", False),
    ],
)
def test_offenses_are_what_is_said_to_the_partner_and_no_talk_of_others(
    text: str, is_one: bool
) -> None:
    assert (understand(text) == "offence") is is_one


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Hello there!", "greeting"),
        ("I'm so happy today", "happy"),
        ("i am really sad", "sad"),
        ("I feel angry about it.", "angry"),
        ("Will you marry me?", "love"),
        ("Thanks!", "thanks"),
        ("Do you have any pets?", None),
        ("I am not a nurse", None),
    ],
)
def test_moods_and_intents(text: str, intent: str | None) -> None:
    assert understand(text) == intent


def test_what_editors_said_once_is_fetched_the_next_time() -> None:
    bot = answering()
    hello = Utterance("partner", "Hello!")
    history = [hello, *(Utterance("self", text) for text in EDITORIAL["greeting"]), hello]
    reply = bot.respond(PERSONA, history)
    assert "editorial" not in reply.details
    assert key(reply.text) not in {key(text) for text in EDITORIAL["greeting"]}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("My name is Zorblax.", "a name"),
        ("Yes, Jennifer's dog too.", "a name"),
        ("write to me at a.b@example.org", "contact data"),
        ("call 555-123-4567 today", "contact data"),
        ("see https://example.org", "contact data"),
        ("so happy #blessed", "a hashtag"),
        ("I will meet you at the station.", "a promise"),
        ("I vote for the other side in every election.", "politics"),
        ("We go to church on Sundays.", "ethnicity or religion"),
        ("He bought a gun.", "violence"),
        ("I have two cats.", None),
    ],
)
def test_cleaning(reply: str, reason: str | None) -> None:
    assert unfit(reply) == reason


def test_the_index_holds_clean_replies_and_several_to_a_message() -> None:
    index = answering()._ready()[0]
    assert len(index.pairs) > 500
    assert all(unfit(pair.reply) is None for pair in index.pairs)


def test_several_replies_to_one_message_are_kept() -> None:
    dialogues = [
        Dialogue(str(place), (Utterance("partner", "Any pets?"), Utterance("self", reply)))
        for place, reply in enumerate(("Two cats.", "Not at all.", "My name is Zorblax."))
    ]
    bot = BOT(trees=1)
    bot.train(dialogues, seed=0)
    pairs = bot._ready()[0].pairs
    assert sorted((pair.message, pair.reply) for pair in pairs) == [
        ("Any pets?", "Not at all."),
        ("Any pets?", "Two cats."),
    ]


def test_it_ranks_much_better_than_chance() -> None:
    bot = answering()
    assert hits_on_demo(bot, "self") > 0.4


def test_lambdas_by_hand() -> None:
    """Scores 0 and 0: the right one is first; a swap costs 1 - 1/log2(3), and is as likely."""
    gradients, curvatures = lambdas(np.zeros((1, 2)))
    cost = 1 - 1 / np.log2(3)
    assert gradients.tolist() == [[pytest.approx(cost / 2), pytest.approx(-cost / 2)]]
    assert curvatures.tolist() == [[pytest.approx(cost / 4)] * 2]


def test_trees_learn_an_order_and_are_saved() -> None:
    chance = np.random.default_rng(0)
    groups = chance.random((200, 5, 3))
    groups[:, 0, 1] = 0.7 + 0.3 * chance.random(200)  # right ones are high in one feature ...
    groups[:, 0, 2] = 0.4 + 0.2 * chance.random(200)  # ... and in the middle of another
    trees = Trees.of(fit(groups[:150], Growth(30, 3, 0.3), seed=0).arrays())
    scores = trees.score(groups[150:].reshape(-1, 3).astype(np.float32)).reshape(50, 5)
    assert (scores.argmax(axis=1) == 0).mean() > 0.7


def test_untrained_it_says_so() -> None:
    with pytest.raises(ValueError, match="trained, or be given"):
        BOT().rank((), (), ["a"])
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
