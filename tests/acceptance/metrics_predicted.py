"""Rows of metrics of predictions: ranked candidates and generated text."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from analysis import PredictionTable
from analysis.metrics.auc import auc
from analysis.metrics.bleu import bleu
from analysis.metrics.coverage import coverage
from analysis.metrics.distinct import distinct
from analysis.metrics.entropy import entropy
from analysis.metrics.hits import hits
from analysis.metrics.nasl import nasl
from analysis.metrics.nist import nist
from analysis.metrics.one_of_100 import one_of_100
from analysis.metrics.perplexity import perplexity
from analysis.metrics.pmi_coherence import WordPairs
from analysis.metrics.recall import recall
from analysis.metrics.repetition_rate import repetition_rate
from analysis.metrics.rouge import rouge
from analysis.metrics.token_accuracy import token_accuracy
from analysis.metrics.vector_extrema import vector_extrema
from analysis.metrics.word_f1 import word_f1
from analysis.text.response_echo import EchoIndex
from analysis.text.semantic import distance, penalty
from bots.generation.perplexity import PerplexityItem, log_probs
from bots.generation.perplexity import perplexity as official
from tests.acceptance.shell import Shell, Shown
from tests.analysis.metrics.test_coverage import LIST
from tests.analysis.metrics.test_pmi_coherence import PAIRS
from tests.analysis.metrics.test_vector_extrema import OWN
from tests.analysis.prediction_tables import estimate, only, predictions, ranked, said
from tests.bots.generation.test_perplexity import KNOWN, TEA, Table

TOY = "i am you to do and your is like"
TEXT = "I have two cats, and a very old dog."


def near(*pairs: tuple[float, float], within: float = 5e-5) -> bool:
    """Tell whether each number is what it should be."""
    return all(abs(ours - wanted) <= within for ours, wanted in pairs)


def m_ppl(shell: Shell) -> Shown:
    uniform = Table(dict.fromkeys(KNOWN, 1 / len(KNOWN)))
    size = official([log_probs(uniform, PerplexityItem((), (), "I like tea."), KNOWN)])
    skipped = sum(each is None for each in log_probs(uniform, TEA, KNOWN))
    zero = official([log_probs(Table({"like": 1.0}), TEA, KNOWN)])
    rows = [{"gold": "a b", "log_probs": [-math.log(500)] * 3}]
    table = estimate(perplexity(predictions(rows)), "perplexity")
    holds = (
        near((size, len(KNOWN)), (table, 500), within=1e-6) and skipped == 1 and zero == math.inf
    )
    result = f"uniform over {len(KNOWN)}: {size:g}, over 500: {table:g}; {skipped} of 4 words "
    result += f"skipped; probability 0: {zero}"
    return shell.shown(holds, result, official, perplexity)


def m_f1(shell: Shell) -> Shown:
    one = estimate(word_f1(said((TOY, "I like to ski, and you?"))), "word_f1")
    other = estimate(word_f1(said(("the cat", "a cat"))), "word_f1")
    return shell.shown(near((one, 2 / 3), (other, 1)), f"{one:.4f} and {other:.1f}", word_f1)


def m_hits(shell: Shell) -> Shown:
    found = only(hits(_random(20, 1500)), "hits@1")
    result = f"random scores: {found['estimate']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
    exact = estimate(hits(ranked(1, 1, 2, 5, 6, 20)), "hits@5")
    holds = found["low"] < 0.05 < found["high"] and near((exact, 4 / 6))
    return shell.shown(holds, f"{result}; places 1 1 2 5 6 20: hits@5 {exact:.4f}", hits)


def _random(size: int, number: int) -> PredictionTable:
    chance, offered = Random(3), [f"reply {k}" for k in range(size)]
    return predictions(
        {"gold": offered[7], "candidates": offered, "scores": [chance.random() for _ in offered]}
        for _ in range(number)
    )


def m_1of100(shell: Shell) -> Shown:
    found = only(one_of_100(_random(100, 500)), "one_of_100")
    result = f"random scores: {found['estimate']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
    return shell.shown(found["low"] < 0.01 < found["high"], result, one_of_100)


def m_rnk(shell: Shell) -> Shown:
    found = recall(ranked(1, 2, 20, n=100))
    mrr = (1 + 1 / 2 + 1 / 20) / 3
    ours = {name: estimate(found, name) for name in ("recall@1", "recall@10", "mrr", "track_score")}
    wanted = {"recall@1": 1 / 3, "recall@10": 2 / 3, "mrr": mrr, "track_score": (2 / 3 + mrr) / 2}
    several = [{"gold": ["a", "b"], "candidates": ["a", "c", "b", "d"], "scores": [4, 3, 2, 1]}]
    ours["map"] = estimate(recall(predictions(several)), "map")
    wanted["map"] = (1 / 1 + 2 / 3) / 2
    told = ", ".join(f"{name} {value:.4f}" for name, value in ours.items())
    holds = near(*((ours[name], value) for name, value in wanted.items()))
    turned = recall(predictions([{**several[0], "scores": [1, 2, 3, 4]}]))
    worse = estimate(turned, "map")
    result = f"places 1, 2, 20 of 100, MAP of places 1 and 3: {told}; turned over MAP {worse:.4f}"
    return shell.shown(holds and near((worse, (1 / 2 + 2 / 4) / 2)), result, recall)


def m_auc(shell: Shell) -> Shown:
    rows: list[dict[str, object]] = [
        {"gold": "a", "candidates": ["a", "b", "c"], "scores": [0.9, 0.8, 0.3]},
        {"gold": "a", "candidates": ["b", "c", "a"], "scores": [0.2, 0.1, 0.4]},
    ]
    found = auc(predictions(rows), shares=(0.25, 0.5))
    names = ("auc", "auc@0.25", "auc@0.5")
    ours = [estimate(found, name) for name in names]
    flat = auc(predictions([{**row, "scores": [1, 1, 1]} for row in rows]), shares=(0.5,))
    chance = [estimate(flat, name) for name in ("auc", "auc@0.5")]
    told = ", ".join(f"{name} {each:.3f}" for name, each in zip(names, ours, strict=True))
    holds = near(*zip([*ours, *chance], (0.875, 0.5, 0.75, 0.5, 0.25), strict=True))
    result = f"{told}; equal scores {chance[0]:g} and {chance[1]:g} (McClish's would be .5)"
    return shell.shown(holds, result, auc)


def m_cov(shell: Shell) -> Shown:
    rows: list[dict[str, object]] = [
        {"gold": "one moment, please", "scores": [0.1, 0.2, 0.3, 0.9], "gold_score": 0.9},
        {"gold": "Thank you", "scores": [0.9, 0.2, 0.3, 0.1], "gold_score": 0.3},
        {"gold": "Reset it.", "scores": [0.1, 0.2, 0.3, 0.4], "gold_score": 0.8},
        {"gold": "Call us.", "scores": [0.9, 0.8, 0.7, 0.6], "gold_score": 0.5},
    ]
    found = coverage(predictions(rows, candidates=LIST), ks=(1, 3))
    wanted = {"coverage": 0.5, "recall@1": 0.5, "recall@3": 1, "recall@1+": 0.5, "recall@3+": 0.75}
    ours = {name: estimate(found, name) for name in wanted}
    told = ", ".join(f"{name} {value:g}" for name, value in ours.items())
    return shell.shown(near(*((ours[k], v) for k, v in wanted.items())), told, coverage)


def m_bleu(shell: Shell) -> Shown:
    same = estimate(bleu(said((TEXT, TEXT))), "bleu_4")
    none = estimate(bleu(said(("I have cats, two of them.", TEXT))), "bleu_3")
    two = bleu(said(("a b c d", "a b c d e"), ("f g h i j", "f g h i j")))
    ours = [estimate(two, name) for name in ("bleu_4", "bleu_sentence")]
    # All n-grams are right, so only brevity counts: of 9 words for 10, of 4 for 5 and 5 for 5.
    wanted = (100 * math.exp(1 - 10 / 9), (100 * math.exp(1 - 5 / 4) + 100) / 2)
    result = f"identical {same:g}; BLEU-3 without a common 3-gram {none:g}; one word short: "
    result += f"corpus {ours[0]:.2f}, mean of sentences {ours[1]:.2f}, as by hand"
    holds = near((same, 100), (none, 0), within=1e-9) and near(*zip(ours, wanted, strict=True))
    return shell.shown(holds, result, bleu)


def m_nist(shell: Shell) -> Shown:
    texts = ["I like my old cat.", "I like tea.", "My dog is old."]
    same = nist(said(*[(text, text) for text in texts]))
    other = nist(said(*zip(texts[1:] + texts[:1], texts, strict=True)))
    best, less = (estimate(each, "nist") for each in (same, other))
    golds = ["the cat", "the dog", "the owl", "the cat"]
    common, rare = (
        estimate(nist(said(*[(gold.split()[k], gold) for gold in golds])), "nist") for k in (0, 1)
    )
    result = f"identical {best:.3f}, shuffled {less:.3f}; right rare words {rare:.3f}, common "
    result += f"{common:.3f}"
    holds = best == only(same, "nist")["identical"] and less < best and rare > common
    return shell.shown(holds, result, nist)


def m_rouge(shell: Shell) -> Shown:
    found = rouge(said(("the cat sat", "the cat sat down")))
    fmean = 10 * 1 * 0.75 / (0.75 + 9 * 1)
    wanted = {"rouge_2": 0.8, "rouge_l": 6 / 7, "meteor": fmean * (1 - 0.5 * (1 / 3) ** 3)}
    ours = {name: estimate(found, name) for name in wanted}
    told = ", ".join(f"{name} {value:.4f}" for name, value in ours.items())
    return shell.shown(near(*((ours[k], v) for k, v in wanted.items())), told, rouge)


def m_extrema(shell: Shell) -> Shown:
    same = estimate(vector_extrema(said(("up, down", "Up down!")), vectors=OWN), "vector_extrema")
    other = estimate(vector_extrema(said(("up down", "side")), vectors=OWN), "vector_extrema")
    result = f"identical {same:g}, another {other:.4f} (by hand 1/√10)"
    return shell.shown(near((same, 1), (other, 10**-0.5)), result, vector_extrema)


def m_dist(shell: Shell) -> Shown:
    found = distinct(said(("a b a", None), ("a b c", None)))
    names = ("distinct_1", "distinct_2", "distinct_2_of_ngrams")
    ours = [estimate(found, name) for name in names]
    lists: list[dict[str, object]] = [
        {"response": "a b", "candidates": ["a b", "a b"]},
        {"response": "a b", "candidates": ["a b", "c d", "e f"]},
    ]
    inside = distinct(predictions(lists))
    ours += [estimate(inside, f"ave_distinct_{n}") for n in (1, 2)]
    wanted = (0.5, 0.5, 0.75, (2 / 4 + 6 / 6) / 2, (1 / 4 + 3 / 6) / 2)
    told = " / ".join(f"{each:g}" for each in ours[:3])
    result = f"{told}; Ave.dist of a list of copies and one of three: {ours[3]:g}, {ours[4]:g}"
    return shell.shown(near(*zip(ours, wanted, strict=True)), result, distinct)


def m_ent(shell: Shell) -> Shown:
    ours = estimate(entropy(said(("a b a", None), ("a b c", None))), "ent_2")
    return shell.shown(near((ours, 1.0397)), f"{ours:.4f}", entropy)


def m_nasl(shell: Shell) -> Shown:
    ours = estimate(nasl(said(("I like tea.", "I like tea."), ("No", "No"))), "nasl")
    return shell.shown(near((ours, 1)), f"reference against itself {ours:g}", nasl)


def m_reprate(shell: Shell) -> Shown:
    ours = estimate(repetition_rate(said(("a a b", "a b c"))), "repetition_rate")
    return shell.shown(near((ours, 2)), f"{ours:.1f}", repetition_rate)


def m_ss(shell: Shell) -> Shown:
    one, other = np.array([1.0, 0]), np.array([0.3, (1 - 0.3**2) ** 0.5])
    ours = distance(one, other, penalty(4, 1))
    return shell.shown(near((ours, 1.1852)), f"{ours:.4f}", distance)


def m_rei(shell: Shell) -> Shown:
    index = EchoIndex(["Do you like green tea?", "My cat sleeps on the piano."])
    same, new = index.score("My cat sleeps on the piano."), index.score("Volcanoes erupt.")
    return shell.shown(same == 1 and new == 0, f"training sentence {same:g}, new words {new:g}",
                       EchoIndex)  # fmt: skip


def m_pmi(shell: Shell) -> Shown:
    known = WordPairs(PAIRS)
    pairs = (
        (known.pmi("tea", "hot"), math.log((2 / 4) / ((2 / 4) * (3 / 4)))),
        (known.pmi("tea", "walk"), 0.0),
        (known.ppmi("tea", "hot"), math.log2(4 / 3)),
        (known.ppmi("dog", "hot"), 0.0),
    )
    told = ", ".join(f"{ours:.4f}" for ours, _ in pairs)
    return shell.shown(near(*pairs), f"PMI, unseen PMI, PPMI, PPMI below 0: {told}", WordPairs)


def m_tokacc(shell: Shell) -> Shown:
    perfect = token_accuracy(predictions([{"token_hits": [1, 1]}, {"token_hits": "[1]"}]))
    ours = estimate(perfect, "token_accuracy")
    given = predictions([{"discriminator": 0.5}, {"discriminator": "0.125"}])
    log_d = estimate(token_accuracy(given), "neg_log_d")
    result = f"perfect model {ours:g}; -log D of .5 and .125: {log_d:.4f}"
    return shell.shown(near((ours, 1), (log_d, 2 * math.log(2))), result, token_accuracy)
