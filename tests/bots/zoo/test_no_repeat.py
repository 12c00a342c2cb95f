"""The cross-turn repetition rule around a bot that writes."""

from __future__ import annotations

from bots import ReplyCandidate, Utterance, make_bot
from bots.text.repetition import RepetitionRule
from bots.zoo.no_repeat import NoRepeat
from tests.bots.examples import HELLO, PERSONA


def worn(**options: object) -> NoRepeat:
    made = make_bot("no_repeat", **options)
    assert isinstance(made, NoRepeat)
    return made


def chat(bot: NoRepeat, turns: int) -> list[str]:
    history: list[Utterance] = []
    for _ in range(turns):
        history.append(Utterance("partner", "Do you have any pets?"))
        history.append(Utterance("self", bot.respond(PERSONA, history).text))
    return [each.text for each in history if each.speaker == "self"]


def test_it_repeats_itself_less_than_without_the_rule() -> None:
    few = {"number": 8, "temperature": 0.5}
    strict = worn(options=few)
    lax = worn(options=few, run=1000, share=1.0, least=1000)
    repeated = [sum(RepetitionRule().flagged(chat(bot, 10))) for bot in (strict, lax)]
    assert repeated[0] < repeated[1]


def test_what_repeats_is_removed_and_logged() -> None:
    found = worn().inner.propose([(PERSONA, HELLO)])[0]
    said = next(each for each in found if len(each.tokens) > 4)
    history = (Utterance("self", said.text), *HELLO)
    kept = worn()._kept(found, [said.text])
    assert said not in kept
    assert 0 < len(kept) < len(found)
    assert "repetitive" not in worn().respond(PERSONA, HELLO).details
    removed = worn(run=1).respond(PERSONA, history).details["repetitive"]
    assert isinstance(removed, list)
    assert removed


def test_if_all_repeat_the_least_similar_is_kept() -> None:
    said = ["my dog likes to run in the park every day"]
    found = [
        ReplyCandidate(text, tuple(text.split()), (-1.0,))
        for text in (said[0], "my dog likes to run in the rain", "a dog likes to run in the woods")
    ]
    assert worn()._kept(found, said) == [found[2]]
    assert worn()._kept(found, []) == found
    assert worn()._kept([], said) == []
