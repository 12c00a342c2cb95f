"""NIST of responses with their gold replies (Doddington 2002), and its mean over orders.

`nist` has n-grams up to 5; `nist_mean` averages the scores for n = 1 to 5, as the PPMI keyword
model's paper (2019) does. `info(w1..wn) = log2(count(w1..wn-1) / count(w1..wn))` over all
references; the sum for matched n-grams of each order is divided by the n-grams generated; orders
are added. Brevity: `exp(beta log²(min(L_response / L_gold, 1)))`, .5 at a ratio of 2/3; L_gold
is the mean length of an example's references, summed. No upper bound; `identical` is the score of
the gold replies. No interval: the weights come from the whole set of references. Our own, because
nltk, the oracle of the tests, counts again for each order, divides by 0 where no response has five
words, and clips n-grams by one reference instead of all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer
from analysis.text.tokens import Gram, counted

NO_INTERVAL = "weights come from the whole set of references"


def nist(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return two rows per dataset and system."""
    found = each_group("nist", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    pairs = group.pairs(tokenizer)
    if not pairs:
        return
    found = by_order(pairs)
    perfect = by_order([(golds[0], golds) for _, golds in pairs])
    variant = f"{tokenizer.name} tokens, lower case"
    about = {"n": len(pairs), "variant": variant, "note": REFERENCE_NOTE}
    yield group.row(estimate=found[-1], identical=perfect[-1], **about)
    yield group.row(
        metric="nist_mean",
        estimate=sum(found) / MOST,
        identical=sum(perfect) / MOST,
        **about,
    )


Tokens = Sequence[str]
Pair = tuple[Tokens, Sequence[Tokens]]
BETA = math.log(0.5) / math.log(1.5) ** 2
MOST = 5


def by_order(pairs: Sequence[Pair], most: int = MOST) -> list[float]:
    """Return the score with n-grams up to 1, up to 2, and so on."""
    info = _information([gold for _, golds in pairs for gold in golds], most)
    brevity, total, found = _brevity(pairs), 0.0, []
    for order in range(1, most + 1):
        matches = (_matched(response, golds, order) for response, golds in pairs)
        gained = sum(info[gram] * times for match in matches for gram, times in match.items())
        generated = sum(max(len(response) - order + 1, 0) for response, _ in pairs)
        total += gained / generated if generated else 0.0
        found.append(total * brevity)
    return found


def _information(golds: Sequence[Tokens], n: int) -> dict[Gram, float]:
    counts: Counter[Gram] = Counter()
    for gold in golds:
        for order in range(1, n + 1):
            counts.update(counted(gold, order))
    total = sum(len(gold) for gold in golds)
    return {
        gram: math.log2((counts[gram[:-1]] if len(gram) > 1 else total) / times)
        for gram, times in counts.items()
    }


def _matched(response: Tokens, golds: Sequence[Tokens], order: int) -> Counter[Gram]:
    here = counted(response, order)
    most: Counter[Gram] = reduce(lambda a, b: a | b, (counted(gold, order) for gold in golds))
    return here & most


def _brevity(pairs: Sequence[Pair]) -> float:
    length = sum(len(tokens) for tokens, _ in pairs)
    gold = sum(sum(map(len, golds)) / len(golds) for _, golds in pairs)
    if not length or not gold:
        return 0.0
    return math.exp(BETA * math.log(min(length / gold, 1.0)) ** 2)
