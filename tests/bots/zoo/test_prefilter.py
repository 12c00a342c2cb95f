"""The tf-idf filter before a ranker."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Ranker, Utterance, make_bot
from bots.guards.whitelists import WhitelistEntry, write
from bots.line_files import InvalidData
from bots.options import InvalidOption
from bots.text.tokens import key
from bots.zoo.prefilter import BOT
from tests.bots.examples import HELLO, PERSONA, weights

MANY = [f"about number{place} and {place % 7} trams" for place in range(1500)]


def test_the_ranker_gets_only_the_most_similar() -> None:
    """Of many candidates 100 have the score that the ranker inside gives; the rest are below."""
    history = (Utterance("partner", "Do you like trams or number5 and number700?"),)
    inner = make_bot("sim")
    assert isinstance(inner, Ranker)
    scores = BOT(bot="sim").rank((), history, MANY)
    order = sorted(range(len(MANY)), key=lambda place: -scores[place])
    kept = order[:100]
    assert [scores[p] for p in kept] == pytest.approx(
        list(inner.rank((), history, [MANY[p] for p in kept]))
    )
    assert scores[order[100]] < scores[kept[-1]] - 0.5
    assert {5, 700} <= set(kept)


def test_few_candidates_are_all_ranked_by_the_ranker_inside() -> None:
    candidates = ["I have two cats.", "No.", "My sister is in Peru now."]
    inside = {"weights": weights("starspace")}
    inner = make_bot("starspace", **inside)
    assert isinstance(inner, Ranker)
    wrapped = BOT(bot="starspace", options=inside).rank(PERSONA, HELLO, candidates)
    assert wrapped == pytest.approx(list(inner.rank(PERSONA, HELLO, candidates)))


def test_it_answers_from_a_pool_that_may_change(tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    write(
        [WhitelistEntry("I have two cats.", 3), WhitelistEntry("Trams are late.", 1, "drop")], pool
    )
    bot = BOT(pool=str(pool))
    assert bot.respond(PERSONA, HELLO).text == "I have two cats."
    write(
        [WhitelistEntry("I have two cats.", 3, "edit", "Two cats and some pets live here.")], pool
    )
    assert bot.respond(PERSONA, HELLO).text == "Two cats and some pets live here."
    pool.write_text("text,count\n")
    with pytest.raises(InvalidData, match="no records"):
        bot.respond(PERSONA, HELLO)


def test_without_a_pool_it_says_what_the_demo_holds() -> None:
    reply = BOT().respond(PERSONA, HELLO)
    again = BOT().respond(PERSONA, (Utterance("self", reply.text), *HELLO))
    assert key(again.text) != key(reply.text)


def test_a_bot_that_does_not_rank_is_refused() -> None:
    with pytest.raises(InvalidOption, match="bot is 'generic', but must be one that ranks"):
        BOT(bot="generic").rank((), HELLO, ["a", "b"])
    with pytest.raises(InvalidOption, match="sim has no option 'depth'"):
        BOT(options={"depth": 3})
