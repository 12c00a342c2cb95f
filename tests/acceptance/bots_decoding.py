"""Rows of Transformers, of ways to decode, and of what stands before a reply."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import exp, log
from pathlib import Path
from statistics import fmean

from bots import Decoding, ReplyCandidate, Turn, bot_presets, examples, get_bot, make_bot
from bots.generation.likelihood import measure
from bots.learning import training
from bots.text.repetition import RepetitionRule, likeness
from bots.text.tokens import words
from bots.writers.causal import CausalNetwork
from bots.zoo.beam import Beam
from bots.zoo.faq import DEFERRED
from bots.zoo.lost_in_conversation import LostInConversation
from bots.zoo.markov import Markov
from bots.zoo.meena import Meena
from bots.zoo.no_repeat import NoRepeat
from bots.zoo.safety import Safety
from bots.zoo.sample_and_rank import SampleAndRank
from bots.zoo.two_head import TwoHead
from tests.acceptance import planted
from tests.acceptance.bots_ranking import ranked
from tests.acceptance.bots_writing import is_degenerate, real_turns, real_writer
from tests.acceptance.bots_writing import losses as held_out_losses
from tests.acceptance.shell import Shell, Shown, slow
from tests.acceptance.table import NotShown
from tests.bots.examples import HELLO, PERSONA
from tests.bots.text.test_repetition import CHATS, EXAMPLES, counted, printed_flags
from tests.bots.zoo.test_no_repeat import chat
from tests.bots.zoo.test_safety import HARMLESS, TOXIC, saying
from tests.bots.zoo.test_two_head import FEW, TINY, losses, network_of, turn_over

TURN = (PERSONA, HELLO)


@slow
def b_twohead(shell: Shell) -> Shown:
    options = {**TINY, "examples": 0, "epochs": 40, "patience": 40, "rate": 0.02}
    small = make_bot("two_head", **options, mc_coef=4.0, held_out=0.0, dropout=0.0)
    assert isinstance(small, TwoHead)
    small.train(FEW, seed=1)
    learned = network_of(small)
    with training.seeded(0):
        untrained = small.build(learned.reading.codec)
    before, after = losses(small, untrained), losses(small, learned)
    chance = ranked(shell, "two_head", "self")
    bot, replies = shell.bot("two_head"), ["I have two cats.", "No.", "the the the"]
    assert isinstance(bot, TwoHead)
    scores = bot.rank(*TURN, replies)
    turn_over(network_of(bot))
    by_head = all(abs(a + b) < 1e-5 for a, b in zip(scores, bot.rank(*TURN, replies), strict=True))
    turn_over(network_of(bot))
    fell = after[0] < before[0] and after[1] < before[1]
    result = f"LM loss {before[0]:.2f} to {after[0]:.2f}, choice loss {before[1]:.2f} to "
    result += (
        f"{after[1]:.2f}; hits@1/20 {chance:.3f} (chance .05), turned over with the choice head"
    )
    return shell.shown(fell and by_head and chance > 0.05, result, TwoHead.train)


@slow
def b_lic(shell: Shell) -> Shown:
    learned = planted.taught("lost_in_conversation", **planted.SUBWORDS)
    assert isinstance(learned, LostInConversation)
    right = planted.written(learned)
    bot = shell.bot("lost_in_conversation")
    assert isinstance(bot, LostInConversation)
    decoding = bot.decoding()
    paper = bot_presets("lost_in_conversation")["paper"]
    other = shell.bot("two_head")
    assert isinstance(other, TwoHead)
    networks = (bot.model.network, network_of(other))
    same = all(isinstance(each, CausalNetwork) for each in networks)
    beam = (decoding.method, decoding.number, decoding.alpha) == ("beam", 3, 0.6)
    result = (
        f"held-out questions with one right answer: {right}; "
        f"beam {decoding.number}, length penalty {decoding.alpha}; the network "
    )
    result += f"is two_head's without the choice; preset paper: batch {paper['batch']}, rate "
    result += f"{paper['rate']:g}, warm-up {paper['warmup']:,}"
    return shell.shown(same and beam and right.holds and paper["batch"] == 256, result, bot_presets)


@slow
def b_meena(shell: Shell) -> Shown:
    """Taught the planted questions, by either block; the unigram model counts the same answers."""
    told, holds = [], True
    asked = list(examples(planted.questions(held_out=True), "self"))
    counts = Counter(word for each in asked for word in each.reply.split())
    total = counts.total() + len(asked)  # with the end of each
    nats = sum(n * log(total / n) for n in (*counts.values(), len(asked)))
    unigram = exp(nats / total)
    for block in ("evolved", "vanilla"):
        bot = planted.taught("meena", **planted.SUBWORDS, block=block)
        assert isinstance(bot, Meena)
        where = shell.folder / f"meena-{block}"
        bot.save(where)
        epochs, ppl, right = (
            held_out_losses(str(where)),
            measure(bot.model, asked),
            planted.written(bot),
        )
        holds &= bot.block == block and epochs[-1] < epochs[0] and right.holds
        holds &= ppl.per_word < unigram
        told.append(
            f"{block}: loss {epochs[0]:.3f} to {epochs[-1]:.3f} in {len(epochs)} epochs, ppl per "
            f"word of held-out answers {ppl.per_word:.2f}, right ones {right}"
        )
    own = json.loads((Path(shell.weights("meena")) / "bot.json").read_text("utf-8"))["history"][-1]
    result = f"{'; '.join(told)}; of counted words {unigram:.1f}; on the demo, too small for it, "
    return shell.shown(holds, f"{result}{own['ppl_per_word']:.0f} per word", measure)


def b_samplerank(shell: Shell) -> Shown:
    inner = get_bot("markov")
    assert isinstance(inner, Markov)
    plain = inner.propose([TURN], Decoding("sample", 1, 0.88, seed=3))
    greedy = inner.propose([TURN], Decoding("greedy"))[0][0]
    one = _drawn(number=1, seed=3).propose([TURN])
    cold = _drawn(temperature=0.0, number=3).propose([TURN])[0][0]
    few, many = (_drawn(number=n).propose([TURN])[0][0].score("mean_logp") for n in (1, 20))
    holds = one == plain and cold.text == greedy.text and many > few
    result = f"N=1 says '{one[0][0].text}' as plain sampling; T=0 '{cold.text}' as greedy; "
    result += f"log P per token of the best: {few:.2f} of 1, {many:.2f} of 20"
    return shell.shown(holds, result, SampleAndRank.propose)


def _drawn(**options: object) -> SampleAndRank:
    made = make_bot("sample_and_rank", **options)
    assert isinstance(made, SampleAndRank)
    return made


@slow
def b_beam(shell: Shell) -> Shown:
    """On real prompts; samples compared with other samples are more alike at half of them."""
    turns = real_turns(shell, 24)
    beam, drawn, again = (
        _listed(shell, turns, method=method, seed=seed)
        for method, seed in (("beam", 0), ("nucleus", 1), ("nucleus", 2))
    )
    more = planted.Told(sum(a > b for a, b in _alike(beam, drawn)), len(turns))
    lot = planted.Told(sum(a > b for a, b in _alike(again, drawn)), len(turns))
    poor = sum(is_degenerate(each[0].text) for each in beam)
    first = [fmean(pair[place] for pair in _alike(beam, drawn)) for place in (0, 1)]
    result = "10 replies to a prompt, a trained writer: pairs share, in order, "
    result += f"{first[0]:.2f} of their words in a beam, {first[1]:.2f} among samples; the beam's "
    result += f"are more alike at {more}, other samples at {lot}; {poor} of {len(turns)} first "
    result += f"replies degenerate, such as '{beam[0][0].text}'"
    return shell.shown(more.holds and not lot.holds and poor <= 2, result, Beam.propose)


def _listed(
    shell: Shell, turns: Sequence[Turn], *, method: str, seed: int
) -> list[list[ReplyCandidate]]:
    inside = {"bot": "seq2seq", "options": {"weights": real_writer(shell)}}
    bot = make_bot("beam", **inside, method=method, top_p=1.0, seed=seed)
    assert isinstance(bot, Beam)
    return bot.propose(turns)


def _alike(
    one: Sequence[Sequence[ReplyCandidate]], other: Sequence[Sequence[ReplyCandidate]]
) -> list[tuple[float, float]]:
    """Return for each prompt how much the replies of either list share, pair by pair."""
    return [(_shared(a), _shared(b)) for a, b in zip(one, other, strict=True)]


def _shared(listed: Sequence[ReplyCandidate]) -> float:
    pairs = combinations([words(each.text) for each in listed], 2)
    return fmean(likeness(one, other) for one, other in pairs)


@slow
def b_norepeat(shell: Shell) -> Shown:
    if not EXAMPLES.is_file():
        raise NotShown("the folder shared/data/meena_repetition is not beside the repository")
    few = {"number": 8, "temperature": 0.5}
    strict, lax = (
        make_bot("no_repeat", options=few, **limits)
        for limits in ({}, {"run": 1000, "share": 1.0, "least": 1000})
    )
    assert isinstance(strict, NoRepeat)
    assert isinstance(lax, NoRepeat)
    repeated = [sum(RepetitionRule().flagged(chat(bot, 10))) for bot in (strict, lax)]
    printed = [(sum(flags), len(flags)) for flags in printed_flags()]
    result = "flagged of the printed examples: "
    result += " and ".join(f"{few} of {all_turns} turns" for few, all_turns in printed)
    result += (
        f"; a bot repeats itself in {repeated[0]} of 10 turns with the rule, {repeated[1]} without"
    )
    if CHATS.is_dir():
        meena, people = counted("meena.txt", "Meena"), counted("human.txt", "Human 1")
        result += f"; of the released chats {meena[0]} of {meena[1]} turns of Meena and "
        result += f"{people[0]} of {people[1]} of people are flagged"
    holds = printed == [(6, 10), (5, 13)] and repeated[0] < repeated[1]
    return Shown(holds, result, "python -m pytest tests/bots/text/test_repetition.py")


def b_safety(shell: Shell) -> Shown:
    removed = [saying(text, "I have two cats.").respond(*TURN) for text in TOXIC]
    passed = [saying(text).respond(*TURN) for text in HARMLESS]
    logged = [reply for reply in removed if reply.details.get("removed")]
    kept = [reply for reply in passed if "removed" not in reply.details]
    only = saying(*TOXIC).respond(*TURN)
    holds = len(logged) == len(TOXIC) and len(kept) == len(HARMLESS) and only.details["fallback"]
    result = f"{len(logged)} of {len(TOXIC)} toxic candidates removed and logged, "
    result += f"{len(kept)} of {len(HARMLESS)} harmless ones kept; with all removed: '{only.text}'"
    return shell.shown(holds, result, Safety.respond)


def b_faq(shell: Shell) -> Shown:
    asked = ("How much does it cost for an hour?", "My sister lives in Peru.")
    said = shell.bots("chat", "faq", said="\n".join(asked)).splitlines()
    sure = [get_bot("faq").classify(text)[1] for text in asked]  # type: ignore[attr-defined]
    holds = sure[0] >= 0.5 > sure[1] and said[0] != DEFERRED and said[1] == DEFERRED
    result = f"confidence {sure[0]:.2f}: '{said[0]}'; {sure[1]:.2f}: '{said[1]}'"
    return shell.shown(holds, result)
