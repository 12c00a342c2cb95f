"""Row of the table of keyword generators, in two languages."""

from __future__ import annotations

from typing import Any

from analysis import get_report, read
from analysis.text.tokenizers import tokenizer
from bots.benchmarks.keyword_generators import MODELS, PREDICTIONS
from bots.datasets import jsonl
from bots.line_files import write_records
from tests.acceptance import planted
from tests.acceptance.shell import SEED, Shell, Shown, slow

Rows = list[dict[str, Any]]
# How each language's texts are taken apart, and the answers that are right in it.
LANGUAGES = {
    "English": ("words", planted.ANSWERS),
    "Japanese": ("characters", planted.JAPANESE),
}
CANNED = "Tell me a bit more about that."


@slow
def a_ppmi(shell: Shell) -> Shown:
    told, holds = [], True
    for language, (tokens, answers) in LANGUAGES.items():
        rows = _said(shell, language)
        names = sorted({row["system"] for row in rows})
        floors = {name: planted.on_topic(_pairs(rows, name), answers) for name in names}
        gold = [row for row in rows if row["system"] == MODELS[0]]
        repeats = [_instead(row, "repeats", f"{row['gold']} {row['gold']}") for row in gold]
        canned = planted.on_topic([(CANNED, row["gold"]) for row in gold], answers)
        file = shell.folder / f"ppmi-{language}.jsonl"
        write_records([*rows, *repeats], file)
        arguments = ("--report", "keyword_generators", "--tokenizer", tokens)
        text = shell.analysis(str(file), *arguments)
        report = get_report("keyword_generators")(
            read(file).predictions, tokenizer=tokenizer(tokens)
        )
        table = report.sections[0].frame.set_index("model")
        reference = table.loc["Reference"]
        holds = holds and bool(abs(reference["bleu"] - 100) < 1e-9)
        holds = holds and bool(reference["repetition"] == 1)
        holds = holds and bool(table["repetition"]["repeats"] > 1) and len(names) == 4
        holds = holds and "As printed" in text
        holds = holds and all(score.holds for score in floors.values()) and not canned.holds
        cells = [
            f"{name} BLEU {table['bleu'][name]:.0f}, d2 {table['dist2'][name]:.2f}, repetition "
            f"{table['repetition'][name]:.2f}, on topic {score}"
            for name, score in floors.items()
        ]
        told.append(
            f"{language} by {tokens}: {'; '.join(cells)}; reference BLEU {reference['bleu']:g}, "
            f"repetition {reference['repetition']:g}; repeating system "
            f"{table['repetition']['repeats']:.2f}; canned line {canned}"
        )
    return shell.shown(holds, ". ".join(told))


def _said(shell: Shell, language: str) -> Rows:
    """Run the benchmark on planted questions; return what the four say."""
    japanese = language == "Japanese"
    parts = []
    for name, held_out in (("learned", False), ("asked", True)):
        dialogues = planted.questions(held_out=held_out, japanese=japanese)
        file = shell.folder / f"{name}-{language}.jsonl"
        jsonl.write(dialogues * (1 if held_out else planted.TIMES), file)
        parts.append(f"jsonl:{file}")
    settings = [
        part
        for bot in MODELS
        for option, value in planted.WORDS.items()
        for part in ("--set", f"{bot}.{option}={value}")
    ]
    out = shell.folder / f"ppmi-{language}"
    shell.bots(
        *("benchmark", "keyword_generators", "--data", parts[0], "--test", parts[1]),
        *("--sides", "self", "--seed", SEED, *settings, "--out", str(out)),
    )
    found = shell.records(f"ppmi-{language}/{PREDICTIONS}")
    return [{**row, "dataset": language} for row in found]


def _pairs(rows: Rows, system: str) -> list[tuple[str, str]]:
    return [(row["response"], row["gold"]) for row in rows if row["system"] == system]


def _instead(row: dict[str, Any], system: str, text: str) -> dict[str, Any]:
    return {
        **row,
        "system": system,
        "response": text,
        "prediction": f"{system}:{row['prediction']}",
    }
