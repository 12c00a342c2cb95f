"""Row of the selection of a bot's store: what is removed, and what the bot then says."""

from __future__ import annotations

import re

import numpy as np
from scipy.stats import binomtest

from bots import Dialogue, Trainable, Utterance, make_bot
from bots.bot import Bot
from bots.datasets import jsonl
from bots.text.tokens import key
from tests.acceptance.shell import Shell, Shown, slow
from tests.analysis.cast import HABITS, line, play

CHARACTER, WANTED, EACH = "pirate", 0.8, 30
CHANCE = 1 / len(HABITS)
SIGNS = {"PSProb": "<=", "PTSal": "<=", "MaxBLEU": "<=", "uPPL": ">="}


@slow
def f_select(shell: Shell) -> Shown:
    for name, table in zip(("votes", "messages"), play(), strict=True):
        table.to_json(shell.folder / f"{name}.jsonl", orient="records", lines=True)
    asked = _store()
    jsonl.write(asked, shell.folder / "store.jsonl")
    told, holds = [], True
    for metric, sign in SIGNS.items():
        found, fine = _one(shell, metric, sign, asked)
        told.append(found)
        holds = holds and fine
    fit, said, _ = _says(asked, asked, set())
    low = binomtest(fit, said).proportion_ci().high
    result = f"{'; '.join(told)}; of the whole store the bot says {fit} fit lines of {said}"
    return shell.shown(holds and low < WANTED, result)


def _store() -> list[Dialogue]:
    """Return questions of their own words with a line of each character as the reply."""
    rng = np.random.default_rng(9)
    return [
        Dialogue(
            f"{who}{k}",
            (
                Utterance("partner", f"What about number{place}x{k} now?"),
                Utterance("self", line(who, rng)),
            ),
        )
        for place, who in enumerate(HABITS)
        for k in range(EACH)
    ]


def _one(shell: Shell, metric: str, sign: str, asked: list[Dialogue]) -> tuple[str, bool]:
    kept, removed = shell.path(f"kept-{metric}.jsonl"), f"removed-{metric}.jsonl"
    told = shell.analysis(
        *("select", shell.path("votes.jsonl"), shell.path("messages.jsonl")),
        *("--store", shell.path("store.jsonl"), "--character", CHARACTER, "--metric", metric),
        *("--precision", f"{WANTED}", "--out", kept, "--removed", shell.path(removed)),
    )
    cut = re.search(rf"{metric} ({sign}) ([-\d.e+]+)", told)
    judged = re.search(r"precision ([\d.]+) .+ recall ([\d.]+), prevalence ([\d.]+)", told)
    nol = re.search(r"mean NoL: all ([\d.]+), kept ([\d.]+)", told)
    if cut is None or judged is None or nol is None:
        return f"{metric}: {told}", False
    gone = shell.records(removed)
    value = float(cut[2])
    past = all(each[metric] <= value + 1e-5 if sign == "<=" else each[metric] >= value - 1e-5
               for each in gone)  # fmt: skip
    fit, said, bad = _says(jsonl.read(kept), asked, {key(each["text"]) for each in gone})
    low = binomtest(fit, said).proportion_ci().low
    result = f"{metric} {sign} {value:.3g}: precision {judged[1]}, recall {judged[2]}, prevalence "
    result += f"{judged[3]}; NoL {nol[1]}, of the kept {nol[2]}; {len(gone)} of {len(asked)} "
    result += f"removed; the bot says {fit} fit lines of {said} (at least {low:.2f}, chance "
    result += f"{CHANCE:.2f}), {bad} removed ones"
    holds = past and float(judged[1]) >= WANTED and low > CHANCE and not bad
    return result, holds and float(nol[2]) > float(nol[1])


def _says(learned: list[Dialogue], asked: list[Dialogue], gone: set[str]) -> tuple[int, int, int]:
    """Return how many replies of a retrieval bot are the character's, all, and removed ones."""
    bot = make_bot("tfidf")
    assert isinstance(bot, Trainable)
    assert isinstance(bot, Bot)
    bot.train(learned, seed=1)
    texts = [bot.respond((), each.turns[:1]).text for each in asked]
    own = {key(each.turns[1].text) for each in asked if each.id.startswith(CHARACTER)}
    return sum(key(text) in own for text in texts), len(texts), sum(key(t) in gone for t in texts)
