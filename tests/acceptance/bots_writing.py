"""Rows of bots that write their replies with recurrent networks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from scipy.stats import t

from bots import ReplyCandidate, Turn, Utterance, examples
from bots.datasets import jsonl
from bots.generation.likelihood import measure
from bots.generation.perplexity import dictionary, words
from bots.generation.perplexity import perplexity as word_perplexity
from bots.generation.teacher_forcing import forced
from bots.writers.network import Stepped
from bots.writers.topics import TopicWriter
from bots.zoo.generative_profile_memory import GenerativeProfileMemory
from bots.zoo.hred import HredNetwork
from bots.zoo.hredgan import HredGan
from bots.zoo.seq2seq import Seq2Seq
from bots.zoo.ta_seq2seq import TopicNetwork
from bots.zoo.thred import Thred, ThredNetwork
from tests.acceptance import personachat_dev, planted
from tests.acceptance.bots_ranking import ranked
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.examples import HELLO, demo
from tests.bots.writer_examples import likes, perplexity, taught

REPLY = "I have two cats."
LogProbs = Sequence[float | None]


def losses(where: str) -> list[float]:
    """Return the held-out loss of each epoch that weights were trained for."""
    about = json.loads((Path(where) / "bot.json").read_text(encoding="utf-8"))
    return [each["held_out"] for each in about["history"] if "held_out" in each]


def fell(where: str) -> tuple[bool, str]:
    """Tell whether the held-out loss fell, and from what to what."""
    found = losses(where)
    return found[-1] < found[0], f"held-out loss {found[0]:.2f} to {found[-1]:.2f}"


def likelihood(shell: Shell, name: str) -> float:
    """Return ConvAI2's perplexity of 40 replies of demo:test, of words seen five times."""
    told = shell.bots(
        *("answer", name, "--weights", shell.weights(name), "--data", "demo:test", "--limit", "40"),
        *(
            "--dictionary",
            "demo:train",
            "--least",
            "5",
            "--out",
            shell.path(f"likely-{name}.jsonl"),
        ),
    )
    return float(told.partition("perplexity ")[2].split()[0])


def real_writer(shell: Shell) -> str:
    """Return the weights of a Seq2Seq that learned 850 real dialogues, trained once for a folder.

    Three minutes of a core; its perplexity per word is 54.9 (decision 0011).
    """
    where = shell.path("seq2seq-real")
    train = ("--preset", "small", "--set", "batch=8", "--set", "epochs=4", "--seed", "1")
    if not Path(where).is_dir():
        learned = personachat_dev.parts(shell.folder)[0]
        shell.bots("train", "seq2seq", *train, "--data", learned, "--out", where)
    return where


def real_turns(shell: Shell, most: int) -> list[Turn]:
    """Return held-out real turns, each of another dialogue."""
    tested = jsonl.read(personachat_dev.parts(shell.folder)[1][6:])
    found = {each.dialogue: each for each in examples(tested, "self")}
    return [(each.persona, each.history) for each in list(found.values())[:most]]


def is_degenerate(text: str) -> bool:
    """Tell whether a text says nothing, or a word or three words twice."""
    listed = [word for word in text.lower().split() if word.strip(".,!?'")]
    runs = list(zip(listed, listed[1:], listed[2:], strict=False))
    return len(listed) < 2 or len({*runs}) < len(runs) or any(a == b for a, b in pairwise(listed))


def said_once(shell: Shell, name: str, *more: str, text: str = "Hello! Any pets?") -> str:
    """Return what a bot answers in a chat."""
    where = shell.weights(name)
    return shell.bots("chat", name, "--weights", where, *more, said=text).strip()


@slow
def b_s2s(shell: Shell) -> Shown:
    out = shell.path("seq2seq-plain")
    train = ("train", "seq2seq", "--data", "demo:train", "--seed", "1", "--set", "attention=none")
    shell.bots(*train, "--out", out)
    both = [fell(shell.weights("seq2seq")), fell(out)]
    learned = planted.taught("seq2seq", **planted.WORDS)
    assert isinstance(learned, Seq2Seq)
    writes, ranks = planted.written(learned), planted.ranked(learned)
    result = f"with attention {both[0][1]}, without {both[1][1]}; held-out questions with one "
    result += f"right answer: writes it {writes}, ranks it first {ranks}; on the demo, too small "
    result += f"for it, hits@1/20 {ranked(shell, 'seq2seq', 'self'):.3f} (chance .05)"
    return shell.shown(both[0][0] and both[1][0] and writes.holds and ranks.holds, result)


@slow
def b_gpm(shell: Shell) -> Shown:
    bot = shell.bot("generative_profile_memory")
    assert isinstance(bot, GenerativeProfileMemory)
    turns = [((), each.history) for each in list(examples(demo("test")))[:20]]
    replies = [bot.model.codec.encode(REPLY)] * len(turns)
    apart = _most_apart(
        forced(bot.model, turns, replies), forced(_seq2seq(bot).model, turns, replies)
    )
    asked = list(examples(likes(30, 2), "self"))
    made = taught("generative_profile_memory", likes(150, 1), epochs=12, patience=12)
    told, untold = perplexity(made, asked), perplexity(made, asked, persona=False)
    found = list(examples(demo("test")))[:150]
    own = measure(bot.model, found).per_token
    bare = measure(bot.model, [replace(each, persona=()) for each in found]).per_token
    result = f"no persona: log-probabilities differ from Seq2Seq's by at most {apart:.0e}; "
    result += f"ppl with and without persona {told:.2f} < {untold:.2f} where only it tells, "
    result += f"{own:.1f} and {bare:.1f} on demo:test"
    return shell.shown(apart < 1e-5 and told < untold, result, forced, measure)


def _seq2seq(bot: GenerativeProfileMemory) -> Seq2Seq:
    same = Seq2Seq(attention="none", hidden=bot.hidden, dimension=bot.dimension)
    network = same.build(bot.model.codec)  # type: ignore[arg-type]
    learned = bot.model.network.state_dict()
    network.load_state_dict({name: learned[name] for name in network.state_dict()})
    same._network = network.eval()
    return same


def _most_apart(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    pairs = [pair for a, b in zip(one, other, strict=True) for pair in zip(a, b, strict=True)]
    return max(abs(a - b) for a, b in pairs)


@slow
def b_lm(shell: Shell) -> Shown:
    """The unigram model counts the same training text, over the same dictionary."""
    asked = "Hello! Any pets?\nWhere do you live?\nI like tea."
    said = said_once(shell, "language_model", text=asked).splitlines()
    ppl = likelihood(shell, "language_model")
    rows = shell.records("likely-language_model.jsonl")
    known = dictionary(demo("train"), 5)
    counts = Counter(
        word for each in demo("train") for turn in each.turns for word in words(turn.text)
    )
    total = sum(counts[word] + 1 for word in known)
    counted = [[log((counts[w] + 1) / total) if w in known else None for w in words(row["gold"])]
               for row in rows]  # fmt: skip
    own = [row["log_probs"] for row in rows]
    gain, low = _gain(own, counted)
    even = [[log(1 / len(known)) if w in known else None for w in words(row["gold"])]
            for row in rows]  # fmt: skip
    told = ", ".join(f"'{text}'" for text in said)
    result = f"says {told}; perplexity {ppl:.1f} per word, of counted unigrams "
    result += f"{word_perplexity(map(tuple, counted)):.1f}, better by {gain:.2f} nats a word (at "
    result += (
        f"least {low:.2f}), n {len(rows)} replies; a uniform model {_gain(even, counted)[1]:.2f}"
    )
    holds = low > 0 > _gain(even, counted)[1] and all(said) and len(set(said)) > 1
    return shell.shown(holds, result)


def _gain(one: Sequence[LogProbs], other: Sequence[LogProbs]) -> tuple[float, float]:
    """Return by how much a reply's mean log probability is higher, with the end of its interval."""
    gaps = [
        [a - b for a, b in zip(mine, theirs, strict=True) if a is not None and b is not None]
        for mine, theirs in zip(one, other, strict=True)
    ]
    means = [sum(each) / len(each) for each in gaps if each]
    centre, error = fmean(means), stdev(means) / len(means) ** 0.5
    return centre, centre - float(t.ppf(0.975, len(means) - 1)) * error


@slow
def b_hred(shell: Shell) -> Shown:
    learned, told_loss = fell(shell.weights("hred"))
    network = taught("hred", likes(20, 1), epochs=1)._network
    assert isinstance(network, HredNetwork)
    model, said = Stepped(network), (Utterance("partner", "I like jazz ?"), *HELLO)
    ids = [model.codec.encode("i like jazz .")] * 2
    turns = [((), HELLO), ((), said)]
    alive = _most_apart(*([row] for row in forced(model, turns, ids)))
    with torch.no_grad():
        for each in network.hierarchy.context.parameters():
            each.zero_()
    dead = _most_apart(*([row] for row in forced(model, turns, ids)))
    result = f"{told_loss}; another history moves log-probabilities by {alive:.3f}, "
    result += f"by {dead:.0e} once the context RNN is zeroed"
    return shell.shown(learned and alive > 1e-4 > 1e-6 > dead, result, HredNetwork)


@slow
def b_tas2s(shell: Shell) -> Shown:
    network = shell.bot("ta_seq2seq").model.network
    assert isinstance(network, TopicNetwork)
    state = _on_topic(network)
    token, words = torch.tensor([[1]]), state["ids"][0]
    with torch.inference_mode():
        given = network.write(state, token)[0][0, 0].exp()
        bare = network.write({**state, "topical": torch.tensor([False])}, token)[0][0, 0].exp()
    more, less = float(given[words].sum()), float(bare[words].sum())
    result = f"the topic's {len(words)} words have {more:.3f} of the probability, {less:.3f} "
    result += "without their extra share"
    return shell.shown(more > less and abs(float(given.sum()) - 1) < 1e-5, result, TopicWriter)


def _on_topic(network: Any) -> Any:
    text = network.reading.codec.decode(network.topics.best[2].tolist())
    return network.read([network.reading.encoded(((), (Utterance("partner", text),)))])


@slow
def b_thred(shell: Shell) -> Shown:
    bot = shell.bot("thred")
    assert isinstance(bot, Thred)
    network = bot.model.network
    assert isinstance(network, ThredNetwork)
    with torch.inference_mode():
        log_probs, _ = network.write(_on_topic(network), torch.tensor([[1, 4, 5]]))
        off = float((log_probs.exp().sum(2) - 1).abs().max())
        state = _on_topic(network)
        hidden = torch.zeros(1, bot.hidden)
        moved = (network.contexts(hidden, state) - network.contexts(hidden + 1, state)).abs().max()
    result = f"p_V + p_K sums to 1 within {off:.0e}; the decoder's state moves what is read by "
    return shell.shown(off < 1e-5 and moved > 1e-5, f"{result}{float(moved):.3f}", ThredNetwork)


@slow
def b_hredgan(shell: Shell) -> Shown:
    """Taught the planted questions; a discriminator that says the same of everything fails."""
    vhred, told = fell(shell.weights("vhred")), []
    holds = vhred[0]
    for noise in ("utterance", "word"):
        bot = planted.taught("hredgan", **planted.WORDS, noise=noise, samples=12, alpha=50.0)
        assert isinstance(bot, HredGan)
        order, spread, different = discriminated(bot)
        for each in bot.adversaries.discriminator.parameters():
            each.data.zero_()
        broken, flat, _ = discriminated(bot)
        holds &= order.holds and spread > 0.1 and different >= 2 / 3
        holds &= not broken.holds and flat < 1e-5
        told.append(
            f"{noise} noise: {different:.0%} of 12 samples differ, best and worst {spread:.2f} "
            f"apart in log D at least, right words above the same turned round {order}; with a "
            f"constant discriminator {broken.right} and {flat:.0f}"
        )
    return shell.shown(holds, f"{'; '.join(told)}; VHRED: {vhred[1]}", HredGan.trust)


def discriminated(bot: HredGan) -> tuple[planted.Told, float, float]:
    """Return whether D knows words in order, the least spread of a list, and how many differ.

    Raises AssertionError where a list is not in the order of the discriminator.
    """
    asked = planted.questions(held_out=True)
    turns = [((), each.turns[:1]) for each in asked]
    said = [each.turns[1].text for each in asked]
    right, turned = (
        bot.trust(turns, [ReplyCandidate(text, tuple(text.split()), ()) for text in texts])
        for texts in (said, [" ".join(reversed(text.split())) for text in said])
    )
    lists = bot.propose(turns[:10])
    trusted = [bot.trust([turn] * 12, each) for turn, each in zip(turns, lists, strict=False)]
    assert all(a > b - 1e-4 for scores in trusted for a, b in pairwise(scores)), trusted
    different = fmean(len({each.text for each in listed}) / 12 for listed in lists)
    above = sum(one > other for one, other in zip(right, turned, strict=True))
    spread = min(scores[0] - scores[-1] for scores in trusted)
    return planted.Told(above, len(asked)), spread, different
