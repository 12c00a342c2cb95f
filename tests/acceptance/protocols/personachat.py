"""Rows of PERSONA-CHAT: chats of two people, and bots and people that are rated."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, get_args

from bots.datasets import campaign_export, personachat
from bots.datasets.personachat import Condition
from bots.dialogue import Dialogue
from tests.acceptance.protocols.personachat_writing import Rows, by, personas_of
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

CHAT = "tests/webapp/views/refused/test_persona_chat.py"
QUESTIONS = ("fluency", "engagingness", "consistency", "persona")
HEADS = ("fluency", "engagingness", "consistency", "persona detection")
FORMS = {"original": "sentences", "revised": "revised"}  # and their names in personas.jsonl


# --- two people -----------------------------------------------------------------------------------


def pc_p3(shell: Shell) -> Shown:
    """Two people chat as different characters; the export is read in 4 conditions and 2 forms."""
    found = simulated(shell, "convai2_hidden_chats")
    seats = sides(found.table("messages"))
    differ = sum(len(set(each.values())) == len(each) == 2 for each in seats.values())
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
    holds = differ == len(seats) >= 10 and whole == len(files) == 8 and distinct == 7
    return shell.shown(
        holds,
        f"{found.line}; characters differ in {differ} of {len(seats)} conversations; {whole} of "
        f"{len(files)} files (4 conditions, 2 forms) have each side's own sentences, {distinct} "
        f"differ (no personas is one file); two browsers to the end: {both} test; 6 to 8 "
        f"turns each, 16 words and copied sentences refused: {refused} tests",
    )


def sides(messages: Rows) -> dict[str, dict[str, str]]:
    """Return by conversation which persona each side has."""
    found = defaultdict[str, dict[str, str]](dict)
    for row in messages:
        found[row["conversation"]][row["side"]] = row["persona"]
    return found


def _files(
    found: Simulated, folder: Path, seats: dict[str, dict[str, str]]
) -> Iterator[tuple[str, bool]]:
    """Yield each file's text, and whether it has the messages, and personas of its kind."""
    folder.mkdir(exist_ok=True)
    personas = {each["persona"]: each for each in personas_of(found.export)}
    said = _said(found.table("messages"))
    for form, name in FORMS.items():
        dialogues = campaign_export.read(f"{found.export}#{form}")
        both = personachat.both_sides(dialogues)
        texts = [said[each.id] for each in both]
        for condition in get_args(Condition):
            file = folder / f"{condition}_{form}.txt"
            personachat.write([personachat.in_condition(each, condition) for each in both], file)
            again = personachat.read(str(file))
            read = [(each.persona, each.partner_persona) for each in again]
            good = read == list(_wanted(dialogues, seats, personas, name, condition))
            good = good and [[turn.text for turn in each.turns] for each in again] == texts
            yield file.read_text("utf-8"), good and len(dialogues) == len(seats)


def _said(messages: Rows) -> dict[str, list[str]]:
    """Return the texts of each conversation in their order."""
    found = defaultdict[str, list[str]](list)
    for row in sorted(messages, key=lambda row: int(row["seq"])):
        found[row["conversation"]].append(row["text"])
    return found


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
        for order in (("1", "0"), ("0", "1")):
            own, partner = (tuple(personas[keys[side]][form]) for side in order)
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
    paired = sum(_rates_the_other(rows, found) for rows in by(ratings, "conversation"))
    form = passed(
        shell,
        f"{CHAT}::test_people_are_asked_in_the_words_that_bots_are_rated_by",
        "tests/webapp/views/test_one_side_rates.py::test_as_many_rate_as_were_asked_for",
    )
    (cells,) = printed.values()
    holds = printed == _computed(ratings) and set(printed) == {"human"}
    holds = (
        holds
        and paired == int(cells[-1]) >= 10
        and bool(re.search(r"\nhuman  +human  +self ", text))
    )
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
    for rows in by(ratings, "system"):
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
