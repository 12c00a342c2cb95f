"""Rows of PERSONA-CHAT's personas: written, and told in other words."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter, defaultdict
from typing import Any

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

Rows = list[dict[str, str]]
PAGES = "tests/webapp/views/refused/test_persona_writing.py"
SENTENCES, FEWEST, MOST = 5, 3, 15  # of a persona; words of a sentence


def pc_p1(shell: Shell) -> Shown:
    """Five sentences of 3 to 15 words are stored with their author and one split each."""
    found = simulated(shell, "personachat_personas")
    personas = by(found.table("contributions"), "contribution")
    whole = [rows for rows in personas if _is_persona(rows) and _has_author(rows, found)]
    splits = Counter(rows[0]["split"] for rows in whole)
    authors = {rows[0]["participant"] for rows in whole}
    refused = passed(
        shell,
        f"{PAGES}::test_a_sentence_has_3_to_15_words",
        f"{PAGES}::test_a_persona_of_four_sentences_is_refused",
    )
    holds = len(whole) == len(personas) == len(authors) >= 4
    holds = holds and splits == {"train": len(whole) - 2, "valid": 1, "test": 1}
    told = ", ".join(f"{count} {name}" for name, count in sorted(splits.items()))
    return shell.shown(
        holds,
        f"{len(whole)} of {len(personas)} personas have {SENTENCES} sentences of {FEWEST} to "
        f"{MOST} words, their author and one split ({told}); 2 and 16 words, and 4 sentences, "
        f"refused by the page: {refused} tests",
    )


def by(rows: Rows, *names: str) -> list[Rows]:
    """Return the rows that have these cells in common, together."""
    found = defaultdict[tuple[str, ...], Rows](list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return list(found.values())


def _is_persona(rows: Rows) -> bool:
    """Tell whether rows are the sentences of one persona, in order, of one author and split."""
    words = [len(row["text"].split()) for row in rows]
    same = {(row["participant"], row["split"], row["state"]) for row in rows}
    numbers = [int(row["number"]) for row in rows]
    in_order = numbers == list(range(1, SENTENCES + 1))
    return in_order and len(same) == 1 and min(words) >= FEWEST and max(words) <= MOST


def _has_author(rows: Rows, found: Simulated) -> bool:
    """Tell whether the author came to the end at the moment at which the texts were sent."""
    ended = {row["participant"]: row["ended_at"] for row in found.table("participants")}
    return ended.get(rows[0]["participant"]) == rows[0]["made_at"] != ""


def pc_p2(shell: Shell) -> Shown:
    """Revisions stand beside their sentences, by others than the authors, and copy no word."""
    found = simulated(shell, "personachat_revisions")
    whole, revised = aligned(found)
    about = {rows[0]["about"] for rows in whole}
    originals, copies = personas_of(found.export), copied(found.table("contributions"))
    refused = passed(
        shell,
        f"{PAGES}::test_the_papers_four_examples_come_out_as_it_says",
        f"{PAGES}::test_who_wrote_a_persona_cannot_revise_it_and_others_can",
        "tests/webapp/views/test_writing_pages.py::test_a_persona_is_revised_sentence_by_sentence",
    )
    holds = len(whole) == len(revised) == len(about) == len(originals) >= 4 and not copies
    return shell.shown(
        holds,
        f"{len(whole)} of {len(revised)} revisions stand sentence by sentence beside the persona "
        f"({len(about)} of {len(originals)} personas), {copies} sentences copy a word; the four "
        f"examples as the paper says, authors refused and others not, by pages: {refused} tests",
    )


def aligned(found: Simulated) -> tuple[list[Rows], list[Rows]]:
    """Return the revisions that stand sentence by sentence beside a persona, and all of them."""
    originals = {each["persona"]: each["sentences"] for each in personas_of(found.export)}
    revised = by(found.table("contributions"), "contribution")
    whole = [
        rows
        for rows in revised
        if _is_persona(rows) and [row["original"] for row in rows] == originals[rows[0]["about"]]
    ]
    return whole, revised


def copied(rows: Rows) -> int:
    """Return how many sentences share a word with what they revise."""
    return sum(bool(_words(row["text"]) & _words(row["original"])) for row in rows)


def personas_of(export: str) -> list[dict[str, Any]]:
    """Return the personas of an export."""
    with zipfile.ZipFile(export) as archive:
        return [*map(json.loads, archive.read("personas.jsonl").decode().splitlines())]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
