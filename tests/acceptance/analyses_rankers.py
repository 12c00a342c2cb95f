"""Rows of analyses of rankers: distractors, lists of replies, speed, ablation."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise

from scipy.stats import binomtest

from bots.benchmarks.parrot_distractor import rankers
from tests.acceptance.analyses_models import REVISED, benchmark, printed, table
from tests.acceptance.bots_ranking import CHANCE_OF_100, one_of_100, ranking
from tests.acceptance.paired import paired
from tests.acceptance.shell import SEED, Shell, Shown, slow
from tests.analysis.examples import ROOT
from tests.bots.examples import NEEDS

CEILING = 0.05  # share of contexts in which the partner's own message is said


@slow
def a_rev(shell: Shell) -> Shown:
    lent = ("tfidf", "starspace", "profile_memory")
    rows = table(benchmark(shell, "revised_personas", *REVISED, lent=lent), "revised_personas")
    told = ", ".join(f"{r['model']} {r['original']:.3f} to {r['revised']:.3f}" for r in rows)
    return shell.shown(all(row["loss"] > 0 for row in rows), f"points, original to revised: {told}")


@slow
def a_par(shell: Shell) -> Shown:
    lent = ("tfidf", "starspace", "profile_memory", "dual_encoder", "two_head")
    rows = table(benchmark(shell, "parrot_distractor", lent=lent), "parrot_distractor")
    told = ", ".join(
        f"{row['model']} {row['without']:.3f}/{row['with']:.3f} (first {row['parrot first']:.2f}, "
        f"said {row['parrot said']:.2f})"
        for row in rows
    )
    # 0 of 60 said is below .06 with 95 % (Clopper and Pearson 1934); one is not below .05.
    most = max(row["parrot said"] for row in rows)
    absent = {name for name in NEEDS if find_spec(NEEDS[name]) is None}
    every = {row["model"] for row in rows} == set(rankers()) - absent
    fooled = max(row["parrot first"] for row in rows)  # without the rule
    result = (
        f"hits@1 without/with, of {len(rows)} rankers: {told}; ceiling {CEILING}: said at most "
    )
    result += f"{most:.2f}, without the rule up to {fooled:.2f}"
    return shell.shown(every and most < CEILING < fooled, result)


@slow
def a_wl(shell: Shell) -> Shown:
    """The agents' replies, by a ranker that learned from agents: customers have no whitelist."""
    chats = ("--data", "help_desk:1000:1", "--test", "help_desk:60:2", "--sides", "self")
    out = shell.folder / "help-desk"
    shell.bots(
        *("benchmark", "whitelists", *chats, "--seed", SEED, "--limit", "100", "--out", str(out))
    )
    rows = table(out, "whitelists")
    text = shell.analysis(str(out / "whitelists.jsonl"), "--report", "whitelists")
    layouts = [f"Own systems, layout of table {k}" in text for k in (4, 5, 6)]
    told = "; ".join(
        f"{row['whitelist']} {row['size']}: {row['coverage %']:.1f} %, {row['R@1+']:.3f}"
        for row in rows
    )
    # By chance the true reply is the best of a list with it once in as many as there are.
    by_chance = [
        binomtest(round(100 * row["R@1+"]), 100, 1 / row["size"], alternative="greater").pvalue
        for row in rows
    ]
    holds = {row["whitelist"] for row in rows} == {"random", "frequency", "clustering"}
    holds = holds and all(layouts) and "BLEU" in text and max(by_chance) < 0.001
    result = (
        f"synthetic help desk, coverage and R@1+ of lists: {told}; each above chance, p at most "
    )
    return shell.shown(holds, f"{result}{max(by_chance):.1g}")


@slow
def a_speed(shell: Shell) -> Shown:
    command = "python -m tests.benchmarks.encoders --rounds 5 --words 60 --small --cpu"
    done = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    shell.commands.append(command)
    cells = re.compile(r"^ *(SRU|LSTM|LSTM like) (\d) .+?x +([\d.]+) +([\d.]+)x", re.MULTILINE)
    rows = [(name, n, float(ms), float(of)) for name, n, ms, of in cells.findall(done.stdout)]
    cached = re.search(r"best of 10,000 cached replies x 600: ([\d.]+) ms", done.stdout)
    assert cached is not None, done.stdout
    told = ", ".join(f"{name} of {n} layers {ms:.1f} ms ({of:.2f}x)" for name, n, ms, of in rows)
    slower = [of for name, _, _, of in rows if name != "SRU"]
    ranked = float(cached[1])
    holds = len(rows) == 6 and min(slower) > 1 and ranked < min(ms for _, _, ms, _ in rows)
    return shell.shown(holds, f"{told}; best of 10,000 cached {ranked:.2f} ms")


@slow
def a_abl(shell: Shell) -> Shown:
    out = benchmark(shell, "dual_encoder_ablation", lent=("dual_encoder",))
    rows = table(out, "dual_encoder_ablation")
    told = ", ".join(f"{row['model']} {row['AUC@.05']:.3f}" for row in rows)
    return shell.shown(len(rows) == 6 and printed(out, "dual_encoder_ablation"), f"AUC@.05: {told}")


@slow
def a_1of100(shell: Shell) -> Shown:
    names = ("sim", "linear_map", "ngram_encoder", "random_candidate")
    lows = {name: next(iter(one_of_100(shell, name, ("",)))) for name in names}
    files = {name: shell.folder / f"of-100-{name}.jsonl" for name in names}
    joined = "".join(files[name].read_text(encoding="utf-8") for name in names)
    text = shell.analysis(
        shell.written("one-of-100.jsonl", joined), "--report", "response_selection"
    )
    found = {name: float(_cell(text, name)) for name in names}
    order = sorted(names, key=lambda name: -found[name])
    told = [f"{order[0]} {found[order[0]]:.1f} %"]
    for before, name in pairwise(order):
        apart = paired(files[before], files[name])
        told.append(f"{name} {found[name]:.1f} % ({'below' if apart.above else 'level'}, {apart})")
    paper = order[:3] == ["ngram_encoder", "linear_map", "sim"]
    clear = all(paired(files[a], files[b]).above for a, b in pairwise(order[:3]))
    floors = all(lows[name][2] > CHANCE_OF_100 for name in names[:3])
    by_lot = lows["random_candidate"][2] < CHANCE_OF_100
    result = (
        f"held-out real dialogues, 850 to learn from, as found: {'; '.join(told)}; the paper's "
    )
    result += (
        f"order SIM < MAP < encoder: {('yes' if paper else 'no') if clear else 'not told apart'}"
    )
    return shell.shown("As printed" in text and floors and by_lot, result)


def _cell(text: str, name: str) -> str:
    found = re.search(rf"^{name} +([\d.]+)", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


@slow
def a_metrics(shell: Shell) -> Shown:
    names = ("tfidf", "bm25", "starspace", "profile_memory", "linear_map", "dual_encoder")
    made = [ranking(shell, name, "self")[1] for name in names]
    lines = [each.read_text(encoding="utf-8") for each in made]
    file = shell.written("rankers.jsonl", "".join(lines))
    text = shell.analysis(file, "--report", "metric_agreement")
    finding = text.splitlines()[3]
    return shell.shown("have the same rank by every recall" in finding, finding)
