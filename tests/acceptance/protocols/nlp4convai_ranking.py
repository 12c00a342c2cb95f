"""Rows of ranking: hredGAN's ranking without ties."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import passed, simulated

SYSTEMS = 3


def nl_p4(shell: Shell) -> Shown:
    """Each judge's ranks are a permutation; scores 0..N-1 from them have means of sum N/2."""
    found = simulated(shell, "reply_ranking")
    ranked = defaultdict[tuple[str, str], dict[str, int]](dict)
    for row in found.table("ratings"):
        ranked[row["rater"], row["item"]][row["system"]] = int(row["value"])
    whole = [ranks for ranks in ranked.values() if sorted(ranks.values()) == [1, 2, 3]]
    scores = {name: fmean(SYSTEMS - ranks[name] for ranks in whole) for name in whole[0]}
    refused = passed(shell, "tests/webapp/views/refused/test_ranking.py")
    holds = len(whole) == len(ranked) > 0 and abs(sum(scores.values()) - SYSTEMS) < 1e-9
    told = ", ".join(f"{name} {score:.2f}" for name, score in sorted(scores.items()))
    return shell.shown(
        holds,
        f"{found.line}; {len(whole)} of {len(ranked)} lists are permutations; scores of 0 to "
        f"{SYSTEMS - 1}: {told}; ties refused by the page: {refused} tests",
    )
