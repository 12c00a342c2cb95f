"""Rows that the checklist got on 2026-11-22: turns, asking, length, tokenizers, sheets, trees."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from analysis import RatingTable, get_report
from analysis.conversations.turn_kinds import KINDS, kinds
from analysis.conversations.usage import logs
from analysis.metrics.asking import asking
from analysis.metrics.contradictions import contradictions
from analysis.metrics.human_length import human_length
from analysis.metrics.turn_kinds import turn_kinds
from analysis.reports.convai2_implicit import convai2_implicit
from analysis.reports.dataset_statistics import dataset_statistics
from analysis.reports.meena_contexts import meena_contexts
from analysis.reports.sample_sheet import sample_sheet
from analysis.tables.context_tree import ContextFacts
from analysis.text import inference, tokenizers
from bots.datasets import context_tree
from bots.line_files import InvalidData
from tests.acceptance.metrics_predicted import near
from tests.acceptance.shell import Shell, Shown, slow
from tests.acceptance.table import NotShown
from tests.analysis import inferring
from tests.analysis.examples import labels
from tests.analysis.inferring import NEUTRAL, PRINTED
from tests.analysis.metrics.test_asking import ANSWERS, ASKS, BOTH
from tests.analysis.metrics.test_human_length import drawn
from tests.analysis.metrics.test_turn_kinds import LOVERS, Entry, log_of
from tests.analysis.reports.test_sample_sheet import chats, scores
from tests.analysis.samples import EMPTY
from tests.analysis.talks import meena, talks
from tests.analysis.text.test_tokenizers import japanese


def m_turns(shell: Shell) -> Shown:
    examples: tuple[tuple[str, list[Entry]], ...] = (
        ("completion", [("u", 0, "Wanna play"), ("u", 1, "Pubg?")]),
        ("correction", [("u", 0, "love you dudbe"), ("u", 2, "*dude")]),
        ("", [("u", 0, "Wanna play"), ("u", 15, "Pubg?")]),
    )
    found = [
        ", ".join(kind for kind in KINDS if kinds(next(logs(log_of(given)))).iloc[-1][kind])
        for _, given in examples
    ]
    counts = turn_kinds(LOVERS).set_index("metric")["estimate"]
    day, month = float(counts["love_per_day"]), float(counts["proposal_per_month"])
    result = f"printed examples: {found[0]}, {found[1]}; 15 s apart: {found[2] or 'none'}; "
    result += f"2 “I love you” in 6 days: {day:.3f} a day; 1 proposal: {month:.2f} a month"
    holds = found == [kind for kind, _ in examples]
    holds &= near((day, 2 / 6), (month, 365.25 / 12 / 6), within=1e-9)
    return shell.shown(holds, result, turn_kinds)


def m_asked(shell: Shell) -> Shown:
    asked, told = ("s", "what do you do for a living?"), ("human", "i work on computers")
    after, before = (
        float(_own(talks([lines]))["already_answered"]) for lines in ([told, asked], [asked, told])
    )
    values = [
        (float(row["asking_balance"]), float(row["distance_to_people"]))
        for row in (_own(talks([lines])) for lines in (ASKS, ANSWERS, BOTH))
    ]
    balances = [value for value, _ in values]
    result = f"after its answer {after:g}, before it {before:g}; only asks, only answers, both: "
    result += ", ".join(f"{balance:g} ({gap:.2f} from people)" for balance, gap in values)
    return shell.shown((after, before, balances) == (1, 0, [1, 0, 0.5]), result, asking)


def _own(table: object) -> pd.Series:
    found = asking(table)  # type: ignore[arg-type]
    return found[found["question"] == "own messages"].set_index("metric")["estimate"]


@slow
def m_nli(shell: Shell) -> Shown:
    nli = inference.read(inferring.trained(shell.folder / "nli"))
    turned = replace(nli, contradicts=lambda pairs: [not one for one in nli.contradicts(pairs)])
    tried = [(PRINTED, nli), (NEUTRAL, nli), (PRINTED, turned), (NEUTRAL, turned), (PRINTED, None)]
    values = [_contradicting(pairs, one) for pairs, one in tried]
    flagged, neutral, *broken, without = values
    result = (
        f"of 2 chats each: printed {flagged:g} flagged, neutral ones {neutral:g}; the classifier "
    )
    result += f"turned over {broken[0]:g} and {broken[1]:g}; without one {without}; it is a small "
    result += f"model that learned the pairs by heart ({nli.name}): none comes with Parley"
    holds = (flagged, neutral, without) == (2, 0, None) and broken[1] != 0
    return shell.shown(holds, result, contradictions)


def _contradicting(
    pairs: Sequence[tuple[str, str]], nli: inference.InferenceClassifier | None
) -> float | None:
    """Return how many chats contradict themselves in their second message; None without value."""
    found = contradictions(talks([[("s", a), ("s", b)] for a, b in pairs]), nli=nli).iloc[0]
    return None if pd.isna(found["estimate"]) else float(found["estimate"] * found["n"])


def m_implicit(shell: Shell) -> Shown:
    table = convai2_implicit(EMPTY["messages"]).sections[0].frame  # type: ignore[arg-type]
    spearman, pearson = (float(r) for r in table["r"])
    found = human_length(drawn({"long": 24, "short": 10}, 0.5)).set_index(["metric", "system"])
    slope = float(found["estimate"]["mimicry", "long"])
    left = found["estimate"]["length_without_mimicry"]
    gain = float(left["long"] - left["short"])
    result = f"table 6: Spearman {spearman:.2f}, Pearson {pearson:.2f}, n = {int(table['n'][0])}; "
    result += f"planted mimicry .5: {slope:.2f}; long bot's gain without it {gain:.1f} words of 7"
    holds = near((spearman, 0.62), (pearson, 0.69), within=0.005) and set(table["n"]) == {6}
    return shell.shown(holds and abs(slope - 0.5) < 0.05 and abs(gain) < 1.5, result,
                       convai2_implicit, human_length)  # fmt: skip


@slow
def m_tok(shell: Shell) -> Shown:
    if not all(map(importlib.util.find_spec, tokenizers.MECAB_PACKAGES)):
        raise NotShown("the extra japanese (fugashi, unidic-lite) is not installed")
    mecab = tokenizers.tokenizer("mecab")
    parts = mecab("俺は学生だ")
    votes, messages = japanese()
    report = get_report("persona_metrics_nol")(votes, messages, tokenizer=mecab, bleu_n=2)
    table = report.sections[0]
    metrics = ("P-F1", "P-Cover", "PSProb", "PTSal", "uPPL", "MaxBLEU")
    result = f"{' / '.join(parts)}; Japanese lines: {', '.join(metrics)}; {table.note[-40:]}"
    holds = parts == ["俺", "は", "学生", "だ"] and set(metrics) <= set(table.frame)
    holds &= "Tokens: mecab. MaxBLEU is BLEU-2." in table.note
    return shell.shown(holds, result, tokenizers.tokenizer)


def a_sheet(shell: Shell) -> Shown:
    table, answers = chats(), scores()
    first, again, other = (sample_sheet(table, answers, seed=seed) for seed in (1, 1, 2))
    keys = [[section.key for section in each.sections] for each in (first, again, other)]
    wrong = 0
    for section in first.sections:
        k = int(section.key.removeprefix("conversation-c"))
        found = section.frame.set_index("seq")["labels"].to_dict()
        wrong += found != {0: f"sensible {k % 3}", 1: "", 2: f"sensible {(k + 2) % 3}"}
        wrong += not section.title.endswith(f": fun {k % 4 + 1}")
    out = {f"c{k}" for k in range(0, 20, 2)}
    aside = table.assign(excluded=table["conversation"].isin(out).map({True: "x", False: ""}))
    left = {section.key for seed in range(9) for section in sample_sheet(aside, seed=seed).sections}
    hand = sample_sheet(table, picked=["c3"]).title
    result = f"seed 1 twice: the same 6; seed 2 other ones; {wrong} labels or scores differ; of 10 "
    result += f"set aside {len(left & {f'conversation-{name}' for name in out})} drawn; {hand!r}"
    holds = keys[0] == keys[1] != keys[2] and not wrong and hand.endswith("picked")
    holds &= not left & {f"conversation-{name}" for name in out}
    return shell.shown(holds, result, sample_sheet)


@slow
def a_stats(shell: Shell) -> Shown:
    wanted = {"human": (95, 1483), "meena": (93, 1818), "mitsuku": (100, 1857)}
    wanted["xiaoice"] = (114, 2272)
    found = {}
    for name in wanted:
        row = dataset_statistics(meena(name)).sections[0].frame.iloc[-1]
        found[name] = (int(row["dialogues"]), int(row["messages"]))
    given = talks([[("s", "Tea, tea and TEA!"), ("human", "I like tea.")], [("s", "And you?")]])
    hand = dataset_statistics(given).sections[0].frame.iloc[-1]
    result = "; ".join(
        f"{name} {chats} chats, {turns} turns" for name, (chats, turns) in found.items()
    )
    result += (
        f"; hand example {hand['unique words']} unique of {hand['words']} ({hand['tokenizer']})"
    )
    holds = found == wanted and (hand["words"], hand["unique words"]) == (9, 5)
    return shell.shown(holds and hand["tokenizer"] == "words", result, dataset_statistics)


def d_tree(shell: Shell) -> Shown:
    nodes = context_tree.tree("")
    known = {each.dialogue.id: ContextFacts(each.depth, each.tags) for each in nodes}
    lines = ('{"id": "a", "messages": ["1"]}', '{"id": "b", "messages": ["2", "3"]}')
    orphan = shell.written("orphan.jsonl", "\n".join(lines))
    try:
        context_tree.tree(orphan)
        refused = ""
    except InvalidData as error:
        refused = str(error).replace(str(shell.folder) + "/", "")
    given = [("s", name, f"r{r}", int(k % 2), 0) for k, name in enumerate(known) for r in range(5)]
    votes = labels(given)
    table = RatingTable(votes.assign(context=votes["item"]))
    _, depth, tag, print_ = meena_contexts(table, contexts=known).sections
    answers = [each.answer == each.dialogue.turns[1].text for each in nodes
               if "personality" in each.tags and each.depth == 3]  # fmt: skip
    printed = print_.frame["contexts"].tolist()
    result = f"by depth {dict(Counter(each.depth for each in nodes))}; {refused}; scores by "
    result += f"{depth.frame['depth'].nunique()} depths, {tag.frame['tag'].nunique()} tag; "
    result += f"{len(answers)} answers kept; {' + '.join(map(str, printed))} = {sum(printed):,}"
    extends = all((each.extends is None) == (each.depth == 1) for each in nodes)
    holds = extends and "line 2" in refused and all(answers) and len(answers) == 4
    return shell.shown(holds and sum(printed) == 1477, result, context_tree.tree, meena_contexts)
