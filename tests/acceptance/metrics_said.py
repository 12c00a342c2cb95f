"""Rows of metrics of what was said: logs of chats, and personas."""

from __future__ import annotations

import numpy as np

from analysis.conversations.descriptions import alpha, persona_cover, persona_f1
from analysis.conversations.language_model import voices
from analysis.conversations.nearest_line import lines
from analysis.conversations.salience import salience
from analysis.conversations.speakers import Speakers, speakers
from analysis.metrics.message_length import message_length
from analysis.metrics.questions_asked import questions_asked
from analysis.metrics.rare_words import rare_words
from analysis.metrics.repeats import repeats
from analysis.metrics.unique_responses import unique_responses
from analysis.text.frequencies import WordFrequencies
from tests.acceptance.metrics_predicted import near
from tests.acceptance.shell import Shell, Shown
from tests.analysis.cast import HABITS, line
from tests.analysis.metrics.test_rare_words import COUNTS
from tests.analysis.talks import talks

RNG = np.random.default_rng(0)
CAST = {name: [line(name, RNG) for _ in range(60)] for name in HABITS}
FRESH = {name: [line(name, RNG) for _ in range(20)] for name in HABITS}


def m_len(shell: Shell) -> Shown:
    found = message_length(talks([[("s", "Hi, there!"), ("human", "no")]]))
    own, other = (
        found[found["question"] == side].set_index("metric")["estimate"]
        for side in ("own messages", "partner's messages")
    )
    words, letters = own["words_per_message"], own["characters_per_message"]
    result = f"'Hi, there!': {words:g} words with marks, {letters:g} characters with the space; "
    result += f"partner's 'no': {other['words_per_message']:g} word"
    holds = near((words, 4), (letters, 10), (other["words_per_message"], 1))
    return shell.shown(holds, result, message_length)


def m_rare(shell: Shell) -> Shown:
    table = talks([[("s", "a b c d e f g A")]])
    found = rare_words(table, corpus=WordFrequencies("test", COUNTS)).set_index("metric")[
        "estimate"
    ]
    wanted = {
        "freq1h": 2 / 8,
        "freq1k": 5 / 8,
        "freq1h_exclusive": 3 / 8,
        "freq1k_exclusive": 3 / 8,
    }
    told = ", ".join(f"{name} {float(found[name]):.3f}" for name in wanted)
    holds = near(*((float(found[name]), value) for name, value in wanted.items()))
    return shell.shown(holds, told, rare_words)


def m_rep(shell: Shell) -> Shown:
    fresh, again = (
        repeats(talks([[("s", text) for text in texts]])).set_index("metric")["estimate"]
        for texts in (("Cats chase mice.", "Dogs bark!"), ("Cats chase mice", "Cats chase mice"))
    )
    names = ("unigram_repeats", "bigram_repeats", "trigram_repeats")
    told = ", ".join(f"{name} {float(again[name]):g}" for name in names)
    result = f"a sentence twice: {told}; fresh text {float(fresh.max()):g}"
    return shell.shown(min(again[list(names)]) > 0 and fresh.max() == 0, result, repeats)


def m_uniq(shell: Shell) -> Shown:
    constant, different = (
        float(unique_responses(talks([[("s", text) for text in texts]]))["estimate"].iloc[0])
        for texts in (("ok", "ok", "ok"), ("ok", "fine", "well"))
    )
    result = f"constant bot {100 * constant:g} %, all different {100 * different:g} %"
    return shell.shown(constant == 0 and different == 1, result, unique_responses)


def m_quest(shell: Shell) -> Shown:
    said = ([("s", "What's up?"), ("s", "who knows")], [("s", "Whatever."), ("s", "Tea?")],
            [("s", "so what")], [("s", "fine")])  # fmt: skip
    found = questions_asked(talks(said)).set_index("metric")["estimate"]
    first, mark = float(found["begins_with_question_word"]), float(found["has_question_mark"])
    result = f"4 conversations: {first:g} begin with a question word, {mark:g} have a mark, per 100"
    return shell.shown(near((first, 50), (mark, 50)), result, questions_asked)


def m_pf1(shell: Shell) -> Shown:
    ours = persona_f1("cats and dogs, chess, tea", ["the cats", "dogs, chess; run, swim, paint"])
    result = f"recall 1 of one sentence, precision .5 of the other: {ours:.4f}"
    return shell.shown(near((ours, 2 * 0.5 / 1.5)), result, persona_f1)


def m_pcover(shell: Shell) -> Shown:
    pairs = [
        (alpha(rank), wanted) for rank, wanted in ((1, 0.0675), (100, 0.10113), (1000, 0.13467))
    ]
    told = ", ".join(f"{ours:.5f}" for ours, _ in pairs)
    cover = persona_cover("cats dogs yaks", ["cats, dogs"], ranks={"cats": 1, "dogs": 100})
    holds = near(*pairs, (cover, (alpha(1) + alpha(100)) / 2), within=5e-6)
    return shell.shown(
        holds, f"alphas {told}; a sentence of two: {cover:.5f}", alpha, persona_cover
    )


def m_psprob(shell: Shell) -> Shown:
    who = speakers(CAST, seed=1)
    sums = who.probabilities(["arr , give me rum", "nothing known"]).sum(axis=1)
    report = who.report()
    told = ", ".join(
        f"{each.persona} P {each.precision:.2f} R {each.recall:.2f} (chance {each.chance:.2f}, "
        f"p {each.recall_p:.1e})"
        for each in report
    )
    holds = near(*((float(total), 1.0) for total in sums), within=1e-9) and len(report) == 3
    return shell.shown(holds, f"sums {sums[0]:.6f}, {sums[1]:.6f}; {told}", Speakers.report)


def m_ptsal(shell: Shell) -> Shown:
    table = salience({"A": ["i am here", "i am ok"], "B": ["you are here"]})
    ours = [table.score("i am here", who) for who in "AB"]
    holds = near((ours[0], 0.51986), (ours[1], 0), within=5e-6)
    return shell.shown(holds, f"{ours[0]:.5f}, {ours[1]:g}", salience)


def m_uppl(shell: Shell) -> Shown:
    heard, told, right = voices(CAST), [], 0
    for own in HABITS:
        found = {who: heard.of_lines(own, FRESH[who]) for who in HABITS}
        others = min(value for who, value in found.items() if who != own)
        right += found[own] < others
        told.append(f"{own} {found[own]:.1f} < {others:.1f}")
    return shell.shown(
        right == len(HABITS), "own lines, best of others': " + ", ".join(told), voices
    )


def m_maxbleu(shell: Shell) -> Shown:
    known = lines(["we sail at dawn", "the sea is wide and cold"])
    same, other = known.closest("The sea is wide and cold"), known.closest("the sea at dawn")
    result = f"an utterance of the corpus {same:g}, one without a common 3-gram {other:g}"
    return shell.shown(near((same, 100), (other, 0)), result, lines)


def m_pacc(shell: Shell) -> Shown:
    who = speakers(CAST, seed=1)
    sets = [(name, FRESH[name][k : k + 5]) for name in HABITS for k in range(0, 20, 5)]
    whole = who.accuracy(sets)
    judged = [(text, True) for text in FRESH["pirate"]] + [(t, False) for t in FRESH["baker"]]
    expressed = who.persona_accuracy("pirate", judged)
    result = f"sets of 5: {whole.estimate:.3f} of {whole.n} told right; persona expressed: "
    result += f"{expressed.estimate:.3f} of {expressed.n}"
    return shell.shown(whole.estimate > 0.9 and expressed.estimate > 0.9, result,
                       Speakers.accuracy, Speakers.persona_accuracy)  # fmt: skip
