"""Rows of analyses of what was said: logs of chats, characters, replies beside ratings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

import pandas as pd

from analysis import message_table, rating_table
from bots.benchmarks.profile_prediction import ProfiledConversation, converse
from bots.datasets import convai2_humanbot
from tests.acceptance.analyses_tables import SYSTEMS, layout, reported
from tests.acceptance.shell import Shell, Shown, slow
from tests.acceptance.table import NotShown
from tests.analysis.cast import play
from tests.bots.examples import demo
from tests.conftest import SHARED

WORDS = ("who", "what", "when", "where", "why", "how")


def chats(shell: Shell) -> pd.DataFrame:
    """Return talks of three bots with the messages that people of the demo wrote."""
    rows = [
        {
            "message": f"{system}{k}:{seq}", "conversation": f"{system}{k}", "seq": seq,
            "side": side, "system": system if side == "bot" else "human", "persona": "",
            "text": text, "sent_at": "",
        }
        for system in SYSTEMS
        for k, talk in enumerate(_talks(shell, system))
        for seq, (side, text) in enumerate(_in_turn(talk))
    ]  # fmt: skip
    return message_table(pd.DataFrame(rows))


def _talks(shell: Shell, system: str) -> Iterator[ProfiledConversation]:
    bot = shell.bot(system)
    for each in islice(demo("test"), 12):
        yield converse(bot, each, profiled=True)


def _in_turn(talk: ProfiledConversation) -> Iterator[tuple[str, str]]:
    for person, bot in zip(*talk.messages, strict=True):
        yield from (("human", person), ("bot", bot))


def _log(shell: Shell, name: str, *columns: str) -> Shown:
    text, report = reported(shell, name, messages=chats(shell))
    frame = report.sections[0].frame
    told = "; ".join(
        f"{row['system']} " + ", ".join(f"{column} {row[column]:.1f}" for column in columns)
        for row in frame.to_dict("records")
    )
    return shell.shown(layout(text, report, *columns) and len(frame) == len(SYSTEMS), told)


@slow
def a_len(shell: Shell) -> Shown:
    return _log(shell, "convai2_length", "words model", "words human", "characters model",
                "characters human")  # fmt: skip


@slow
def a_rare(shell: Shell) -> Shown:
    return _log(shell, "convai2_rare_words", "Freq1h model", "Freq1k model", "Freq1h human")


@slow
def a_rep(shell: Shell) -> Shown:
    return _log(shell, "convai2_repeats", "unigram repeats", "bigram repeats", "trigram repeats",
                "unique responses")  # fmt: skip


@slow
def a_q(shell: Shell) -> Shown:
    table = chats(shell)
    text, report = reported(shell, "convai2_questions", messages=table)
    charts = [section.chart for section in report.sections if section.chart is not None]
    drawn = [
        {(r["system"], r["series"]): round(r["value"], 6) for r in chart.rows} for chart in charts
    ]
    marks, begins = _asked(table, lambda said: "?" in said), _asked(table, _begins)
    told = "; ".join(
        f"{name} {begins[name, 'model']:.0f} begin, {marks[name, 'model']:.0f} have a mark"
        for name in SYSTEMS
    )
    mute = table.assign(text=[said.replace("?", ".") for said in table["text"]])
    none = _asked(mute, lambda said: "?" in said)
    holds = drawn == [begins, marks] and {chart.kind for chart in charts} == {"grouped"}
    holds = holds and "As printed" in text and set(none.values()) == {0.0} != set(marks.values())
    result = f"{len(charts)} bar charts, each of {len(marks)} bars as counted by hand, per 100 "
    return shell.shown(holds, f"{result}conversations: {told}")


def _asked(table: pd.DataFrame, asks: Callable[[str], bool]) -> dict[tuple[str, str], float]:
    """Count a side's messages that ask, per 100 conversations of a system."""
    found = {}
    for system in SYSTEMS:
        mine = table[table["conversation"].str.startswith(system)]
        for who, side in (("model", "bot"), ("human", "human")):
            texts = mine.loc[mine["side"] == side, "text"]
            count = 100 * sum(map(asks, texts)) / mine["conversation"].nunique()
            found[system, who] = round(count, 6)
    return found


def _begins(said: str) -> bool:
    spoken = [word for word in re.split(r"\W+", said.lower()) if word]
    return bool(spoken) and spoken[0] in WORDS


@slow
def a_wild(shell: Shell) -> Shown:
    folder = SHARED / "convai2_2018_humanbot"
    if not folder.is_dir():
        raise NotShown("the folder shared/data/convai2_2018_humanbot is not beside the repository")
    asked: list[dict[str, object]] = []
    said: list[dict[str, object]] = []
    for track, file in (("paid", "toloka"), ("wild", "intermediate")):
        found = convai2_humanbot.chats(str(folder / f"{file}.jsonl"))[:250]
        asked += convai2_humanbot.rating_rows(found, track)
        said += convai2_humanbot.message_rows(found)
    answers, messages = rating_table(pd.DataFrame(asked)), message_table(pd.DataFrame(said))
    answers = rating_table(answers[answers["question"] == "score"])
    _, report = reported(shell, "convai2_wild", ratings=answers, messages=messages)
    told = "; ".join(
        f"{row['track']}: {row['flagged']} of {row['conversations']} flagged"
        for row in report.sections[0].frame.to_dict("records")
    )
    shifts = report.sections[1].frame
    first = shifts.dropna(subset=["shift"]).iloc[0]
    result = (
        f"released chats, {told}; {first['system']} shifts by {first['shift']:.2f} without them"
    )
    return shell.shown(len(shifts.dropna(subset=["shift"])) > 0, result)


@slow
def a_nol(shell: Shell) -> Shown:
    votes, messages = play()
    text, report = reported(shell, "persona_metrics_nol", ratings=votes, messages=messages)
    table, histogram = (section.frame for section in report.sections[:2])
    metrics = ("P-F1", "P-Cover", "PSProb", "PTSal", "uPPL", "MaxBLEU")
    told = "; ".join(
        f"{row['character']} " + ", ".join(f"{m} {row[m]}" for m in metrics if m in row)
        for row in table.to_dict("records")
    )
    holds = layout(text, report, "character", *metrics) and "NoL 0" in histogram.columns
    return shell.shown(holds, f"Spearman with NoL, Holm: {told}")


@slow
def a_aupr(shell: Shell) -> Shown:
    votes, messages = play()
    text, report = reported(shell, "persona_metrics_aupr", ratings=votes, messages=messages)
    areas, curves = (section.frame for section in report.sections[:2])
    told = "; ".join(
        f"{row['character']} PSProb {row['PSProb']:.2f}, uPPL {row['uPPL']:.2f} (chance "
        f"{row['chance']:.2f})"
        for row in areas.to_dict("records")
    )
    holds = layout(text, report, "PSProb", "PTSal", "uPPL", "chance") and "recall" in curves
    return shell.shown(holds, f"{told}; curves at {len(curves)} recalls")


@slow
def a_spk(shell: Shell) -> Shown:
    text, report = reported(shell, "persona_metrics_speakers", messages=play()[1])
    told, matrix = report.sections[0].frame, report.sections[1].frame
    lines = ", ".join(
        f"{row['persona']} P {row['precision']:.2f} R {row['recall']:.2f}"
        for row in told.to_dict("records")
    )
    holds = layout(text, report, "precision", "recall", "chance") and len(matrix.columns) == 4
    return shell.shown(holds, f"{lines}; {report.findings[1]}")
