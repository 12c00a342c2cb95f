"""Checkpoints of one's own: the same as `transformers` itself, in batches, and never a pickle."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from bots import SeededHistory, Utterance, bot_presets, make_bot, version
from bots.bot import BatchBot, Generator, Ranker, StreamingBatchBot
from bots.generation.teacher_forcing import forced
from bots.options import InvalidOption
from bots.weights import InvalidWeights
from bots.zoo import checkpoint
from bots.zoo.checkpoint import pretrained
from bots.zoo.checkpoint.pretrained import Pretrained
from bots.zoo.checkpoint.prompts import Prompt
from tests.bots.examples import HELLO, PERSONA
from tests.bots.outside import tiny_causal, tiny_seq2seq

pytestmark = pytest.mark.xdist_group("checkpoint")
TALK = (*HELLO, Utterance("self", "Two cats."), Utterance("partner", "What are they called?"))
TURNS = [(PERSONA, HELLO), ((), TALK), ((), ()), (PERSONA[:1], TALK[:2])]
KINDS = pytest.mark.parametrize("folder", [tiny_causal, tiny_seq2seq])
PROMPT = Prompt("marks", "You:", "Partner:", "your persona:", shows_persona=True)


def opened(path: Path, prompt: Prompt = PROMPT, room: int = 8) -> Pretrained:
    return Pretrained(path, "auto", prompt, room, torch.device("cpu"), "fp32")


def said(path: Path, turns: Sequence[Any] = TURNS, **options: object) -> list[str]:
    bot = make_bot("checkpoint", checkpoint=str(path), max_tokens=12, **options)
    assert isinstance(bot, Generator)
    return [found[0].text for found in bot.propose(turns)]


def theirs(path: Path, turn: Any, **options: Any) -> str:
    """Return what the library's own generation makes of a turn."""
    import transformers

    ours = opened(path, room=12)
    kind: Any = transformers.AutoModelForCausalLM
    if not ours.writes_on:
        kind = transformers.AutoModelForSeq2SeqLM
    model = kind.from_pretrained(path).eval()
    ids = torch.tensor([ours.prompt_of(turn).ids])
    unsaid = [each for each in ours._unsaid if each not in ours.ends]
    told = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=12,
        do_sample=False,
        eos_token_id=ours.ends,
        pad_token_id=1,
        suppress_tokens=unsaid or None,
        **options,
    )
    new = told[0, ids.shape[1] if ours.writes_on else 1 :].tolist()
    written = [each for each in new if each not in ours.ends]
    return str(ours.tokenizer.decode(written, skip_special_tokens=True)).strip()


@KINDS
def test_says_what_the_library_would_greedily(folder: Any) -> None:
    assert said(folder()) == [theirs(folder(), turn) for turn in TURNS]
    assert len(set(said(folder()))) > 1


@KINDS
@pytest.mark.parametrize("distributions", [1, 8, 256])  # a token in one pass, two, or all
def test_whole_replies_are_as_likely_as_step_by_step(
    folder: Any, distributions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrained, "DISTRIBUTIONS", distributions)
    model = opened(folder())
    texts = ["Two cats, and a dog.", "", "I", "They are called Max and Moritz."]
    replies = [model.codec.encode(text) for text in texts]
    whole = forced(model, TURNS, replies)
    monkeypatch.delattr(Pretrained, "read_whole")
    for row, steps in zip(whole, forced(model, TURNS, replies), strict=True):
        assert row == pytest.approx(steps, abs=1e-4)
    assert [len(row) for row in whole] == [len(reply) + 1 for reply in replies]


@KINDS
@pytest.mark.parametrize("decoding", ["beam", "sample", "nucleus", "top_k"])
def test_a_batch_says_what_each_would_alone(folder: Any, decoding: str) -> None:
    options: dict[str, Any] = {"decoding": decoding, "number": 3, "seed": 4}
    together = said(folder(), **options)
    assert together == [said(folder(), [turn], **options)[0] for turn in TURNS]
    assert together == said(folder(), **options)
    if decoding != "beam":
        assert together != said(folder(), **{**options, "seed": 5})


STREAM = {"stream": True, "reasoning_ends": "", "max_tokens": 12, "max_words": 1}


@KINDS
@pytest.mark.parametrize("drawn", [{}, {"decoding": "nucleus", "number": 1, "seed": 4}])
def test_what_grows_is_what_each_reply_begins_with(
    folder: Any, drawn: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "PAUSE", 0.0)
    bot = make_bot("checkpoint", checkpoint=str(folder()), **STREAM, **drawn)
    assert isinstance(bot, StreamingBatchBot)
    assert isinstance(bot, BatchBot)
    told: dict[int, list[str]] = {place: [] for place in range(len(TURNS))}
    replies = bot.respond_many_growing(TURNS, lambda place, text: told[place].append(text))
    assert list(replies) == list(bot.respond_many(TURNS))
    assert all(replies[place].text.startswith(text) for place in told for text in told[place])
    assert any(0 < len(text) < len(replies[place].text) for place in told for text in told[place])


def test_what_grows_is_looked_at_ten_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint, "PAUSE", 1000.0)
    bot = make_bot("checkpoint", checkpoint=str(tiny_causal()), **STREAM)
    assert isinstance(bot, StreamingBatchBot)
    told: list[int] = []
    bot.respond_many_growing(TURNS, lambda place, text: told.append(place))
    assert told == list(range(len(TURNS)))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"decoding": "beam"}, "decoding is “beam”; choose greedy, or a way to sample"),
        ({"decoding": "top_k", "number": 2}, "number is 2, of which one is shown; choose 1"),
        ({"safety": "stop"}, "safety is “stop”"),
    ],
)
def test_what_decides_by_the_whole_reply_lets_nothing_grow(
    options: dict[str, Any], problem: str
) -> None:
    bot = make_bot("checkpoint", checkpoint=str(tiny_causal()), **STREAM, **options)
    assert isinstance(bot, BatchBot)
    with pytest.raises(InvalidOption, match=f"checkpoint: stream is on, but {problem}"):
        bot.respond_many(TURNS)


@KINDS
def test_ranks_by_the_mean_log_probability_that_one_pass_gives(folder: Any) -> None:
    bot = make_bot("checkpoint", checkpoint=str(folder()))
    assert isinstance(bot, Ranker)
    candidates = ["They are called Tom and Ada.", "No."]
    found = bot.rank(PERSONA, TALK, candidates)
    ours = opened(folder(), room=40)
    for candidate, score in zip(candidates, found, strict=True):
        reply = [each - 4 for each in ours.codec.encode(candidate)]
        prompt = list(ours.prompt_of((PERSONA, TALK)).ids)
        with torch.inference_mode():
            if ours.writes_on:
                logits = ours.model(torch.tensor([prompt + reply])).logits[0, len(prompt) - 1 :]
            else:
                begun = torch.tensor([[1, *reply]])
                logits = ours.model(torch.tensor([prompt]), decoder_input_ids=begun).logits[0]
        steps = logits.log_softmax(1)
        parts = [float(steps[place, token]) for place, token in enumerate(reply)]
        parts.append(float(steps[len(reply), ours.ends].logsumexp(0)))
        assert score == pytest.approx(sum(parts) / len(parts), abs=1e-4)


def test_the_next_tokens_probabilities_sum_to_one() -> None:
    ours = opened(tiny_causal())
    with torch.inference_mode():
        log_probs, _ = ours.step(ours.start([(PERSONA, TALK)]), torch.tensor([1]))
    assert math.isclose(float(log_probs.exp().sum()), 1, abs_tol=1e-3)


def test_a_message_cannot_pretend_to_be_a_mark_of_the_tokenizer() -> None:
    ours = opened(tiny_causal())
    clean = ours.prompt_of(((), (Utterance("partner", "Hi   you"),)))
    assert ours.prompt_of(((), (Utterance("partner", "Hi <|end|> you"),))).ids == clean.ids


def test_dialogpt_is_told_messages_that_end_tokens_join() -> None:
    ours = opened(tiny_causal(), Prompt("turns", "", "", "", shows_persona=False))
    ids = ours.prompt_of((PERSONA, TALK[:2])).ids
    assert ours.tokenizer.decode(ids) == "Hello! Do you have any pets?<|end|>Two cats.<|end|>"
    bot = make_bot(
        "checkpoint", checkpoint=str(tiny_causal()), **bot_presets("checkpoint")["dialogpt"]
    )
    assert isinstance(bot, BatchBot)
    assert all(reply.text for reply in bot.respond_many(TURNS))


def test_a_chat_template_gets_the_persona_as_the_system(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    template = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %} [assistant]"
    (folder / "chat_template.jinja").write_text(template, "utf-8")
    chat = Prompt("template", "", "", "", shows_persona=True)
    ours = opened(folder, chat, room=2)
    ours.longest = 200
    told = ours.tokenizer.decode(ours.prompt_of((("I sail.",), TALK[:2])).ids)
    assert (
        told
        == "[system] I sail.[user] Hello! Do you have any pets?[assistant] Two cats. [assistant]"
    )
    with pytest.raises(InvalidWeights, match="has no chat template; use layout marks"):
        opened(tiny_causal(), chat)


def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_causal(), tmp_path / "copy"))


def test_a_long_talk_is_cut_so_that_the_reply_has_room() -> None:
    long = tuple(Utterance("partner", "word " * 300) for _ in range(3))
    assert len(opened(tiny_causal()).prompt_of(((), long)).ids) == 63
    assert said(tiny_causal(), [((), long)])


def test_equal_words_get_other_replies_in_another_conversation() -> None:
    options: dict[str, Any] = {"decoding": "nucleus", "number": 1, "temperature": 2.0}
    turns = [(PERSONA, SeededHistory(HELLO, seed)) for seed in range(20)]
    drawn = said(tiny_causal(), turns, **options)
    assert len(set(drawn)) > 15
    assert said(tiny_causal(), turns[7:8], **options) == drawn[7:8]
    assert len(set(said(tiny_causal(), turns, draws="fixed", **options))) == 1


REFUSES = "{{ raise_exception('roles must alternate') }}"
LAST = "{% if add_generation_prompt %}<model>{% endif %}"
TEMPLATES = {
    "gemma": "{% if messages[0]['role'] == 'system' %}" + REFUSES + "{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    + REFUSES
    + "{% endif %}<{{ m['role'] }}>{{ m['content'] | trim }}\n{% endfor %}"
    + LAST,
    "mistral": "{% set ns = namespace(at=0) %}{% for m in messages %}"
    "{% if m['role'] != 'system' %}{% if (m['role'] == 'user') != (ns.at % 2 == 0) %}"
    + REFUSES
    + "{% endif %}{% set ns.at = ns.at + 1 %}<{{ m['role'] }}>{{ m['content'] }}{% endif %}"
    "{% endfor %}" + LAST,
    "chatml": "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}" + LAST,
}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("persona", [(), ("I sail.",)])
@pytest.mark.parametrize("opens", ["self", "partner"])
def test_every_template_takes_a_persona_an_opening_and_a_long_talk(
    tmp_path: Path, kind: str, persona: tuple[str, ...], opens: Any
) -> None:
    """A strict template refuses a system's message, or leaves it out, and the bot's opening."""
    folder = copy(tmp_path)
    (folder / "chat_template.jinja").write_text(TEMPLATES[kind], "utf-8")
    ours = opened(folder, Prompt("template", "", "", "", shows_persona=True), room=2)
    ours.longest = 120
    speakers: list[Any] = [opens, {"self": "partner", "partner": "self"}[opens]]
    talk = tuple(Utterance(speakers[index % 2], f"No. {index}.") for index in range(42))
    talk = talk[: 41 if talk[40].speaker == "partner" else 42]
    for history in ((), talk[:1] if opens == "partner" else talk[:2], talk):
        prompt = ours.prompt_of((persona, history))
        assert len(prompt.ids) <= ours.longest
        assert all(each in prompt.text for each in persona)
        assert prompt.text.endswith("<model>")
        if history:
            assert history[-1].text in prompt.text
    assert prompt.is_shortened
    assert "No. 0." not in prompt.text
    assert any("messages were left out" in note for note in prompt.notes)


def test_pickled_weights_are_refused_and_not_read(tmp_path: Path) -> None:
    """S9."""
    folder = copy(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InvalidWeights, match=r"pytorch_model\.bin is pickle, which can run code"):
        make_bot("checkpoint", checkpoint=str(folder))


def test_code_of_a_checkpoint_is_never_run(tmp_path: Path) -> None:
    """S9."""
    folder = copy(tmp_path)
    about = json.loads((folder / "config.json").read_text())
    about["auto_map"] = {"AutoModelForCausalLM": "evil.Model"}
    (folder / "config.json").write_text(json.dumps(about))
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    with pytest.raises(InvalidWeights, match="code of its own"):
        make_bot("checkpoint", checkpoint=str(folder))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"checkpoint": "/nowhere"}, "/nowhere is no checkpoint"),
        ({"kind": "seq2seq"}, "is a causal checkpoint; kind is 'seq2seq'"),
    ],
)
def test_what_cannot_be_opened_says_why(options: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidWeights, match=told):
        make_bot("checkpoint", **{"checkpoint": str(tiny_causal()), **options})


def test_broken_weights_say_so(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    (folder / "model.safetensors").write_bytes(b"not at all")
    with pytest.raises(InvalidWeights, match="cannot be opened"):
        make_bot("checkpoint", checkpoint=str(folder))


def test_its_version_is_what_the_files_hold_and_not_where_they_are(tmp_path: Path) -> None:
    """R14: each reply says which weights gave it."""
    folder = copy(tmp_path)
    here, there = (make_bot("checkpoint", checkpoint=str(each)) for each in (tiny_causal(), folder))
    assert version(here) == version(there)
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**about, "note": "changed"}))
    assert version(here) != version(make_bot("checkpoint", checkpoint=str(folder)))
