"""Rows of PERSONA-CHAT: personas written and revised, chats of two people, bots and people rated."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, get_args

from bots.datasets import campaign_export, personachat
from bots.datasets.personachat import Condition
from bots.dialogue import Dialogue
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

Rows = list[dict[str, str]]
WRITING = "tests/webapp/views/refused/test_persona_writing.py"
CHAT = "tests/webapp/views/refused/test_persona_chat.py"
SENTENCES, FEWEST, MOST = 5, 3, 15  # of a persona; words of a sentence
QUESTIONS = ("fluency", "engagingness", "consistency", "persona")
HEADS = ("fluency", "engagingness", "consistency", "persona detection")
FORMS = {"original": "sentences", "revised": "revised"}  # and their names in personas.jsonl


def pc_p1(shell: Shell) -> Shown:
    """Five sentences of 3 to 15 words are stored with their author and one split each."""
    found = simulated(shell, "personachat_personas")
    personas = _by(found.table("contributions"), "contribution")
    whole = [rows for rows in personas if _is_persona(rows) and _has_author(rows, found)]
    splits = Counter(rows[0]["split"] for rows in whole)
    authors = {rows[0]["participant"] for rows in whole}
    refused = passed(
        shell,
        f"{WRITING}::test_a_sentence_has_3_to_15_words",
        f"{WRITING}::test_a_persona_of_four_sentences_is_refused",
    )
    holds = len(whole) == len(personas) == len(authors) >= 4
    holds = holds and splits == {"train": len(whole) - 2, "valid": 1, "test": 1}
    told = ", ".join(f"{count} {name}" for name, count in sorted(splits.items()))
    return shell.shown(
        holds,
        f"{len(whole)} of {len(personas)} personas have {SENTENCES} sentences of {FEWEST} to {MOST} "
        f"words, their author and one split ({told}); 2 and 16 words, and 4 sentences, refused by "
        f"the page: {refused} tests",
    )


def _by(rows: Rows, *names: str) -> list[Rows]:
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
    return in_order and len(same) == 1 and FEWEST <= min(words) and max(words) <= MOST


def _has_author(rows: Rows, found: Simulated) -> bool:
    """Tell whether the author came to the end at the moment at which the texts were sent."""
    ended = {row["participant"]: row["ended_at"] for row in found.table("participants")}
    return ended.get(rows[0]["participant"]) == rows[0]["made_at"] != ""


def pc_p2(shell: Shell) -> Shown:
    """Revisions stand beside their sentences, by others than the authors, and copy no word."""
    found = simulated(shell, "personachat_revisions")
    originals = {each["persona"]: each["sentences"] for each in _personas(found.export)}
    revised = _by(found.table("contributions"), "contribution")
    aligned = [rows for rows in revised if _is_persona(rows) and _beside(rows) == _own(rows, originals)]
    about = {rows[0]["about"] for rows in aligned}
    copied = [row for rows in revised for row in rows if _words(row["text"]) & _words(row["original"])]
    refused = passed(
        shell,
        f"{WRITING}::test_the_papers_four_examples_come_out_as_it_says",
        f"{WRITING}::test_who_wrote_a_persona_cannot_revise_it_and_others_can",
        "tests/webapp/views/test_writing_pages.py::test_a_persona_is_revised_sentence_by_sentence",
    )
    holds = len(aligned) == len(revised) == len(about) == len(originals) >= 4 and not copied
    return shell.shown(
        holds,
        f"{len(aligned)} of {len(revised)} revisions stand sentence by sentence beside the persona "
        f"({len(about)} of {len(originals)} personas), {len(copied)} sentences copy a word; the four "
        f"examples as the paper says, authors refused and others not, by pages: {refused} tests",
    )


def _personas(export: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(export) as archive:
        return [*map(json.loads, archive.read("personas.jsonl").decode().splitlines())]


def _beside(rows: Rows) -> list[str]:
    return [row["original"] for row in rows]


def _own(rows: Rows, originals: dict[str, list[str]]) -> list[str]:
    (about,) = {row["about"] for row in rows}
    return originals[about]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


# --- two people -----------------------------------------------------------------------------------


def pc_p3(shell: Shell) -> Shown:
    """Two people chat as different characters; the export is read in 4 conditions and 2 forms."""
    found = simulated(shell, "convai2_hidden_chats")
    seats = _seats(found.table("messages"))
    differ = sum(len(set(sides.values())) == len(sides) == 2 for sides in seats.values())
    files = list(_files(found, shell.folder / "pc_p3", seats))
    whole = sum(good for _, good in files)
    distinct = len({text for text, _ in files})
    both = passed(
        shell, "tests/browser/test_two_people.py::test_two_people_chat_through_reload_offline_and_"
        "a_second_tab"
    )  # fmt: skip
    refused = passed(
        shell,
        f"{CHAT}::test_every_minimum_of_6_to_8_turns_is_drawn_and_no_other",
        f"{CHAT}::test_a_message_before_the_minimum_nobody_may_finish_and_then_they_may",
        f"{CHAT}::test_a_message_has_at_most_15_words",
        f"{CHAT}::test_a_sentence_of_ones_own_character_is_refused_and_ones_own_words_are_not",
    )
    holds = differ == len(seats) >= 10 and whole == len(files) == distinct == 8
    return shell.shown(
        holds,
        f"{found.line}; characters differ in {differ} of {len(seats)} conversations; {whole} of "
        f"{len(files)} files (4 conditions, 2 forms) have each side's own sentences, {distinct} "
        f"differ; two browsers to the end: {both} test; 6 to 8 turns each, 16 words and copied "
        f"sentences refused: {refused} tests",
    )


def _seats(messages: Rows) -> dict[str, dict[str, str]]:
    """Return by conversation which persona each side has."""
    found = defaultdict[str, dict[str, str]](dict)
    for row in messages:
        found[row["conversation"]][row["side"]] = row["persona"]
    return found


def _files(
    found: Simulated, folder: Path, seats: dict[str, dict[str, str]]
) -> Iterator[tuple[str, bool]]:
    """Yield each file's text, and whether it has the personas of its condition and form."""
    folder.mkdir(exist_ok=True)
    personas = {each["persona"]: each for each in _personas(found.export)}
    for form, name in FORMS.items():
        dialogues = campaign_export.read(f"{found.export}#{form}")
        sides = personachat.both_sides(dialogues)
        for condition in get_args(Condition):
            file = folder / f"{condition}_{form}.txt"
            views = [personachat.in_condition(each, condition) for each in sides]
            personachat.write(views, file)
            wanted = list(_wanted(dialogues, seats, personas, name, condition))
            again = personachat.read(str(file))
            read = [(each.persona, each.partner_persona) for each in again]
            said = [[turn.text for turn in each.turns] for each in again]
            good = read == wanted and said == [[turn.text for turn in each.turns] for each in sides]
            yield file.read_text("utf-8"), good and len(dialogues) == len(seats)


def _wanted(
    dialogues: Sequence[Dialogue],
    seats: dict[str, dict[str, str]],
    personas: dict[str, dict[str, Any]],
    form: str,
    condition: str,
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield own and partner's sentences, as each side of each conversation is to have them."""
    for each in dialogues:
        keys = seats[each.id]
        for mine, other in (("1", "0"), ("0", "1")):
            own, partner = (tuple(personas[keys[side]][form]) for side in (mine, other))
            is_own, is_partner = condition in ("self", "both"), condition in ("their", "both")
            yield own if is_own else (), partner if is_partner else ()


# --- ratings --------------------------------------------------------------------------------------


def pc_p4(shell: Shell) -> Shown:
    """The report has mean (SD) and n of the answers, and nobody is told of a bot."""
    found = simulated(shell, "personachat_bot")
    printed = _printed(shell.analysis(found.export, "--report", "personachat_human"))
    own = _computed(found.table("ratings"))
    told = "; ".join(f"{name}: {' '.join(cells)}" for name, cells in sorted(printed.items()))
    refused = passed(
        shell,
        f"{CHAT}::test_no_page_and_no_frame_says_bot_until_the_work_is_done",
        f"{CHAT}::test_the_four_questions_stand_in_the_papers_order",
        f"{CHAT}::test_an_answer_off_the_scale_is_refused_and_nothing_is_stored",
        "tests/webapp/views/test_participant_safety.py::"
        "test_nothing_that_a_participant_is_sent_names_a_system",
    )
    engaging = [float(printed[name][1].split()[0]) for name in ("alpha", "beta", "gamma")]
    holds = printed == own and engaging == sorted(set(engaging), reverse=True)
    return shell.shown(
        holds,
        f"fluency, engagingness, consistency, detection, n as computed by hand: {told}; nothing "
        f"sent says bot, questions in order, 0 and 6 refused: {refused} tests",
    )


def pc_p5(shell: Shell) -> Shown:
    """The same form and the same row, of sessions of two people of whom one rates the other."""
    found = simulated(shell, "personachat_human")
    text = shell.analysis(found.export, "--report", "personachat_human")
    ratings, printed = found.table("ratings"), _printed(text)
    paired = sum(_rates_the_other(rows, found) for rows in _by(ratings, "conversation"))
    form = passed(
        shell,
        f"{CHAT}::test_people_are_asked_in_the_words_that_bots_are_rated_by",
        "tests/webapp/views/test_one_side_rates.py::test_as_many_rate_as_were_asked_for",
    )
    (cells,) = printed.values()
    holds = printed == _computed(ratings) and set(printed) == {"human"}
    holds = holds and paired == int(cells[-1]) >= 10 and bool(re.search(r"\nhuman  +human  +self ", text))
    return shell.shown(
        holds,
        f"human row of {paired} sessions of two: {' '.join(cells)} (fluency, engagingness, "
        f"consistency, detection, n); the same form as for bots: {form} tests",
    )


def _printed(text: str) -> dict[str, list[str]]:
    """Return the cells of our systems in the first table of the report."""
    lines = iter(text.splitlines())
    head = re.split(r"  +", next(line for line in lines if line.startswith("group  ")).strip())
    if tuple(head[3:]) != (*HEADS, "n"):
        raise ValueError(f"the table has the columns {head}")
    next(lines)
    found = {}
    for line in lines:
        cells = re.split(r"  +", line.strip())
        if line.startswith(" ") or len(cells) != len(head):
            break
        found[cells[1]] = cells[3:]
    return found


def _computed(ratings: Rows) -> dict[str, list[str]]:
    """Return the same cells from the answers."""
    found = {}
    for rows in _by(ratings, "system"):
        values = {
            name: [float(row["value"]) for row in rows if row["question"] == name]
            for name in QUESTIONS
        }
        cells = [f"{fmean(each):.2f} ({pstdev(each):.2f})" for each in values.values()]
        counts = {len(each) for each in values.values()}
        found[rows[0]["system"]] = [*cells, *map(str, counts)]
    return found


def _rates_the_other(rows: Rows, found: Simulated) -> bool:
    """Tell whether the answers about a conversation are one person's about the other."""
    talk = [m for m in found.table("messages") if m["conversation"] == rows[0]["conversation"]]
    users = {row["side"]: row["user"] for row in talk}
    raters = {row["rater"] for row in rows}
    judged = {row["item"].rpartition("side")[2] for row in rows}
    (side,) = judged
    return len(set(users.values())) == 2 and raters == set(users.values()) - {users[side]}
