"""Rows of bots that choose among very many replies."""

from __future__ import annotations

import statistics
import time

import torch
from scipy.stats import binomtest

from bots import Ranker, make_bot
from bots.datasets import jsonl
from bots.encoders import topk
from bots.guards import whitelists
from bots.guards.whitelists import WhitelistEntry
from bots.zoo.dual_encoder import Dual
from bots.zoo.ruuh.understanding import EDITORIAL, OFFENCE, understand
from tests.acceptance import personachat_dev, planted
from tests.acceptance.bots_ranking import _near
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.examples import HELLO, PERSONA


@slow
def b_whitelist(shell: Shell) -> Shown:
    sizes = {}
    for method in ("frequency", "clustering", "random"):
        file = shell.path(f"{method}.csv")
        shell.bots(
            *("whitelist", method, "--weights", shell.weights("dual_encoder")),
            *("--data", "demo:train", "--size", "100", "--out", file),
        )
        sizes[method] = len(whitelists.read_whitelist(shell.folder / f"{method}.csv"))
    path = shell.folder / "many.csv"
    whitelists.write(
        [WhitelistEntry(f"reply {k} of number {k * k}", 1) for k in range(10_000)], path
    )
    bot = shell.bot("dual_encoder", whitelist=str(path))
    assert isinstance(bot, Dual)
    bot.respond(PERSONA, HELLO)  # now the replies are encoded
    matrix = torch.from_numpy(bot.encode([f"reply {k}" for k in range(10_000)]))
    query = matrix[:1].clone()
    ranking = _median(lambda: topk.best(matrix, query, bot.nearest))
    whole = _median(lambda: bot.respond(PERSONA, HELLO))
    told = f"{', '.join(f'{m} {n}' for m, n in sizes.items())} replies; of 10,000 cached: "
    told += f"ranking {ranking:.2f} ms, whole reply {whole:.1f} ms (medians)"
    return shell.shown(ranking < 10 and set(sizes.values()) == {100}, told, Dual.respond, topk.best)


def _median(run: object, times: int = 15) -> float:
    assert callable(run)
    found = []
    with torch.inference_mode():
        for _ in range(times):
            began = time.perf_counter()
            run()
            found.append(1000 * (time.perf_counter() - began))
    return statistics.median(found)


# Written by who had not seen the patterns: with words that any list has, and without.
INSULTS = (
    *("You are such a jerk.", "Get out of here, you fool.", "What a clown you are."),
    *("You are an absolute waste of space.", "Nobody likes you, go away."),
    *("You are a filthy liar and a cheat.", "You bastard!", "Go screw yourself."),
    *("Are you always this dense?", "You are so full of crap.", "Stop being such a bitch."),
    *("You piece of trash.", "I bet your family is ashamed of you.", "What an asshole you are."),
    *("You are the dumbest thing I ever talked to.", "Kiss my ass.", "You make me sick."),
    *("You are nothing but a useless machine.", "Your brain must be the size of a pea."),
    *("Damn you.", "I hope you choke on it.", "You disgusting pig.", "You are retarded."),
    *("You are a worthless piece of junk.", "Who would love somebody as hideous as you?"),
    *("You sound like a complete imbecile.", "Bugger off, you twat.", "Oh, drop dead."),
    *("I want to punch you in the face.", "Your mother must regret having you."),
)


@slow
def b_ruuh(shell: Shell) -> Shown:
    """Insults that nobody tuned the patterns on, and what people said to each other in peace."""
    rude = ("You are a stupid idiot.", "I hate you!", "Shut up, moron.")
    where = shell.weights("ruuh")
    said = shell.bots("chat", "ruuh", "--weights", where, said="\n".join(rude)).splitlines()
    right = sum(text in EDITORIAL["offence"] for text in said)
    kind = shell.bots("chat", "ruuh", "--weights", where, said="Do you have any pets?").strip()
    fetched = kind not in {text for texts in EDITORIAL.values() for text in texts}
    unseen = planted.Told(sum(map(_is_offense, INSULTS)), len(INSULTS))
    peaceful = jsonl.read(personachat_dev.parts(shell.folder)[1][6:])
    lines = [turn.text for each in peaceful for turn in each.turns]
    false = binomtest(sum(map(_is_offense, lines)), len(lines))
    most = float(false.proportion_ci(method="wilson").high)
    told = f"{right} of {len(rude)} insults of its own tests get an editorial reply ('{said[0]}'), "
    told += f"of unseen ones {unseen.right} of {unseen.asked}, at least {unseen.low:.2f} (asked: "
    told += f"half); false alarms at {false.k} of {len(lines):,} real messages, at most {most:.3f}"
    told += f"; else '{kind}'"
    holds = right == len(rude) and fetched and unseen.holds and most < 0.02
    return shell.shown(holds, told, understand)


def _is_offense(text: str) -> bool:
    return understand(text) == OFFENCE


@slow
def b_dstc7(shell: Shell) -> Shown:
    many = [f"about number{k} and {k % 7} trams" for k in range(120_000)]
    inside = {"bot": "dstc7", "options": {"weights": shell.weights("dstc7")}}
    wrapped, inner = make_bot("prefilter", **inside), shell.bot("dstc7")
    assert isinstance(wrapped, Ranker)
    assert isinstance(inner, Ranker)
    scores = list(wrapped.rank((), HELLO, [*many[:-1], "Yes, I have two cats as pets."]))
    order = sorted(range(len(many)), key=lambda place: -scores[place])[:101]
    texts = [[*many[:-1], "Yes, I have two cats as pets."][place] for place in order[:100]]
    given = list(inner.rank((), HELLO, texts))
    right = _near(given, [scores[place] for place in order[:100]])
    gap = scores[order[99]] - scores[order[100]]
    told = f"100 of {len(many):,} have the LSTM encoder's own score, the rest are {gap:.2f} below"
    return shell.shown(right and gap > 0 and len(many) - 1 in order[:100], told, type(wrapped))
