"""Main command: reads the tables, and prints or writes the report.

Apart because it brings pandas and scipy, a second or more that whoever asks for help need not wait
for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.conversations.transcripts import joined_lines
from analysis.freed_memory import give_back
from analysis.output import heds, heds_own
from analysis.output.all_metrics import evaluate, records, run
from analysis.output.notebook import READ_BY, NotebookRecipe, notebook
from analysis.output.references import bibtex
from analysis.output.terminal import rendered
from analysis.raters.raters import planned_control, profiles, without_flagged
from analysis.registry import (
    TABLES,
    get_report,
    options_of,
    reads_replies,
    report_names,
    tables_of,
)
from analysis.report import Report
from analysis.scores.allocation import with_losses
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import numbered
from analysis.self_test.measured import QUICK
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.context_tree import read as contexts
from analysis.tables.options import BadOption
from analysis.tables.reading import read_all
from analysis.tables.schema import BadTable, RatingTable, Tables
from analysis.tables.training import read as training
from analysis.text import inference
from analysis.text.frequencies import read as corpus
from analysis.text.tokenizers import SPLIT, tokenizer

BAD = 2
SUMMARY = "summary"


def command(options: argparse.Namespace, line: str) -> int:
    """Print or write what was asked for; `line` is the command as it was typed.

    Returns 2, with the reason on stderr, where a file or an option cannot be used.
    """
    summarized = options.report == SUMMARY and not options.json and not options.heds
    try:
        # From the first, as names that are texts are most of a large table.
        tables = read_all(options.file, labels=options.labels, coded=summarized)
    except BadTable as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename}: cannot be read ({error.strerror or error})")
    if summarized and tables.ratings is not None:
        tables = replace(tables, ratings=numbered(tables.ratings))
        give_back()
    try:
        return _answer(options, tables, line)
    except BadOption as error:
        return _refuse(str(error))


def _plain(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "seed": options.seed,
        "simulate": QUICK if options.simulate is None else options.simulate,
        "control": options.control,
        "control_questions": tuple(name for name in options.control_questions.split(",") if name),
    }


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return what was chosen, by the names that metrics and reports have for it."""
    chosen = {"cache": options.cache} | _plain(options)
    if options.tokenizer is not None:
        chosen["tokenizer"] = tokenizer(options.tokenizer)
    if options.bleu_n is not None:
        chosen["bleu_n"] = options.bleu_n
    if options.each is not None:
        chosen["each"] = options.each
    if options.pick is not None:
        chosen["picked"] = tuple(filter(None, options.pick.split(",")))
    if options.corpus is not None:
        chosen["corpus"] = corpus(options.corpus, chosen.get("tokenizer", SPLIT))
    if options.contexts is not None:
        chosen["contexts"] = contexts(options.contexts)
    if options.nli is not None:
        chosen["nli"] = inference.read(options.nli)
    if options.training is not None:
        chosen["training"] = training(options.training)
    return chosen


def _answer(options: argparse.Namespace, tables: Tables, command: str) -> int:
    options.control = options.control or planned_control(tables.ratings, tables.study)
    if tables.ratings is not None:
        tables = replace(tables, ratings=with_losses(tables.ratings, tables.study))
    chosen = _chosen(options)
    written = options.pdf or options.notebook or options.bib or options.heds
    if options.json and written:
        files = "--pdf, --notebook, --bib and --heds"
        return _refuse(f"--json prints numbers, but {files} write a report: leave one")
    if (options.title or options.author) and not options.pdf:
        return _refuse("--title and --author are of a PDF: add --pdf OUT.pdf")
    if options.heds_answers and not options.heds:
        return _refuse("--heds-answers are of a datasheet: add --heds OUT.json")
    if unfit := _unfit(options):
        return _refuse(unfit)
    if options.without_flagged and tables.ratings is not None:
        tables = replace(tables, ratings=_unflagged(tables.ratings, chosen))
    if options.join_lines and tables.messages is not None:
        tables = replace(tables, messages=joined_lines(tables.messages))
    if options.json:
        _print_json(tables, chosen)
        return 0
    if options.heds and tables.ratings is None:
        return _refuse("--heds describes how people rated: add the table of ratings, or an export")
    report = run(get_report(options.report), tables, chosen)
    if report is None and written:
        return _refuse(_lacking(options.report, tables).rstrip())
    if report is not None and written:
        return _write(options, report, tables, command)
    print(_lacking(options.report, tables) if report is None else rendered(report), end="")
    return 0


def _unfit(options: argparse.Namespace) -> str:
    """Return why an option about texts would do nothing, or not be kept; "" where it is fit."""
    unkept = ("tokenizer", "bleu_n", "join_lines", "each", "pick", "nli")
    if options.notebook and any(getattr(options, name) not in (None, False) for name in unkept):
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in unkept)
        return f"a notebook does not keep {flags}: leave one"
    taken = options_of(get_report(options.report))
    for name, flag in (("tokenizer", "tokenizer"), ("bleu_n", "bleu-n"), ("nli", "nli")):
        if getattr(options, name) is not None and name not in taken and not options.json:
            return f"the report {options.report} takes no --{flag}; --json has every metric's"
    for name, flag in (("each", "each"), ("picked", "pick")):
        if getattr(options, flag) is not None and (options.json or name not in taken):
            return f"--{flag} is of the report sample_sheet"
    return ""


def _write(options: argparse.Namespace, report: Report, tables: Tables, command: str) -> int:
    try:
        if options.pdf:
            # Only here: loading what draws takes longer than most reports.
            from analysis.output.pdf import Origin, pdf

            cover = {"title": options.title, "author": options.author, "made": options.date}
            options.pdf.write_bytes(pdf(report, Origin(command, options.seed, **cover)))
        if options.notebook:
            text = notebook(report, _recipe(options))
            options.notebook.write_text(text, encoding="utf-8")
        if options.bib:
            options.bib.write_text(bibtex(report), encoding="utf-8")
        if options.heds and tables.ratings is not None:
            own = {} if options.heds_answers is None else heds_own.read(options.heds_answers)
            _write_heds(options.heds, tables.ratings, tables.study, own)
    except OSError as error:
        return _refuse(f"{error.filename}: cannot be written ({error.strerror or error})")
    return 0


def _write_heds(
    path: Path, ratings: RatingTable, study: CampaignRecord | None, own: heds_own.Own
) -> None:
    """Write the datasheet's file, and say on stderr what it leaves open."""
    path.write_text(heds.written(heds.heds(ratings, study, own)), encoding="utf-8")
    filled, whole = heds.counts(ratings, study, own)
    print(f"HEDS 3.0: {filled} of {whole} questions are filled in. Left to you:", file=sys.stderr)
    for row in heds.open_questions(ratings, study, own).to_dict("records"):
        of = f" ({row['criterion']})" if row["criterion"] else ""
        print(f"  {row['number']}{of} {row['question']}: {row['to do']}", file=sys.stderr)


def _recipe(options: argparse.Namespace) -> NotebookRecipe:
    files = {name: getattr(options, name) for name in READ_BY}
    at = options.notebook.absolute().parent
    paths = {name: _seen_from(at, file) for name, file in files.items() if file is not None}
    return NotebookRecipe(
        files=[_seen_from(at, file) for file in options.file],
        options=_plain(options),
        read=paths,
        without_flagged=options.without_flagged,
        labels=options.labels,
    )


def _seen_from(folder: Path, file: Path) -> Path:
    """Return a path as a notebook's folder has it, in which its code runs."""
    return file if file.is_absolute() else Path(os.path.relpath(file, folder))


def _unflagged(ratings: RatingTable, chosen: dict[str, Any]) -> RatingTable:
    """Return the ratings of raters without a flag, and say on stderr who is left out."""
    names = ("seed", "control", "control_questions")
    found = profiles(ratings, **{name: chosen[name] for name in names})
    flagged = found[found["flags"] != ""]
    print(f"Left out: {len(flagged)} of {len(found)} raters, who are flagged.", file=sys.stderr)
    for rater, flags in flagged["flags"].items():
        print(f"  {rater}: {flags}", file=sys.stderr)
    return without_flagged(ratings, found)


def _lacking(name: str, tables: Tables) -> str:
    """Say which tables the report would need, and which reports make do with those there are."""
    needed = " and ".join(sorted(tables_of(get_report(name))))
    if reads_replies(get_report(name)):
        needed += ", or an export in which people judged replies to contexts"
    there = {table for table in TABLES if getattr(tables, table) is not None}
    other = [each for each in report_names() if tables_of(get_report(each)) <= there]
    return (
        f"The report {name} reads {needed}; here are only {', '.join(sorted(there))}.\n"
        f"Reports that read these: {', '.join(other) or 'none'}; --json prints every number.\n"
    )


def _print_json(tables: Tables, chosen: dict[str, Any]) -> None:
    results = evaluate(
        tables.ratings, messages=tables.messages, predictions=tables.predictions, **chosen
    )
    if tables.ratings is not None:
        for sentence in (*tables.notes, *cautions(tables.ratings, tables.study)):
            print(f"Caution: {sentence}", file=sys.stderr)
    print(json.dumps(records(results), indent=1, ensure_ascii=False, allow_nan=False))


def _refuse(reason: str) -> int:
    print(reason, file=sys.stderr)
    return BAD
