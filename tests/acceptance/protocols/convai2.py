"""Rows of ConvAI2: people who are paid, volunteers, and experts who judge what others said."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import passed, simulated

Rows = list[dict[str, str]]
Means = dict[str, dict[str, float]]  # by judge, then by system
PAGES = "tests/webapp/views/refused/test_convai2.py"
WILD = "tests/webapp/services/data/test_wild_exports.py"
SYSTEMS = ("alpha", "beta", "gamma")  # as planted, the best first
SCALES = ("fluency", "engagingness", "consistency")
NEAR = 0.006  # of a number that is printed with two decimals
CLOSE = 0.15  # of a calibrated mean to the raw one, where nobody rated two systems
NAMED = 8  # letters of a judge's pseudonym that are printed


# --- people who are paid --------------------------------------------------------------------------


def ca_p1(shell: Shell) -> Shown:
    """A hundred sessions give the raw and the calibrated column, and who was told apart."""
    found = simulated(shell, "convai2_crowd", "--people", "100")
    came = Counter(row["outcome"] for row in found.table("participants"))
    ratings = found.table("ratings")
    text = shell.analysis(found.export, "--report", "convai2_boards")
    board = {row["team"]: row for row in _lines(text, "rank", "calibrated")}
    enjoyed, detected = _answers(ratings, "enjoyment"), _answers(ratings, "persona")
    wrong = [name for name in SYSTEMS if not _is_row(board.get(name, {}), enjoyed[name],
                                                     detected[name])]  # fmt: skip
    calibrated = [float(board[name]["calibrated"]) for name in SYSTEMS]
    pages = passed(
        shell,
        f"{PAGES}::test_4_to_6_exchanges_are_drawn_and_the_sixth_is_the_last",
        f"{PAGES}::test_enjoyment_is_of_1_to_4",
    )
    holds = came == {"COMPLETED": 100} and not wrong and tuple(board) == SYSTEMS
    holds = holds and sum(map(len, enjoyed.values())) == 100
    holds = holds and all(one > other for one, other in pairwise(calibrated))
    cells = "; ".join(
        f"{name} {row['raw']} / {row['calibrated']} (n {row['n']})" for name, row in board.items()
    )
    return shell.shown(
        holds,
        f"{came['COMPLETED']} sessions; enjoyment raw / calibrated: {cells}; raw, detection and n "
        f"as computed by hand, wrong: {', '.join(wrong) or 'none'}; 4 to 6 exchanges, 0 and 5 "
        f"refused: {pages} tests",
    )


def _lines(text: str, first: str, other: str) -> list[dict[str, str]]:
    """Return the rows of the first printed table with a first and another column of these names."""
    lines = iter(text.splitlines())
    heads = (line for line in lines if re.match(rf"{first}  +(.*  )?{other}\b", line))
    names = re.split(r"  +", next(heads).strip())
    next(lines)
    found = []
    for line in lines:
        cells = re.split(r"  +", line.strip())
        if len(cells) != len(names):
            break
        found.append(dict(zip(names, cells, strict=True)))
    return found


def _answers(ratings: Rows, question: str) -> dict[str, list[float]]:
    found = defaultdict[str, list[float]](list)
    for row in ratings:
        if row["question"] == question:
            found[row["system"]].append(float(row["value"]))
    return found


def _is_row(row: dict[str, str], enjoyed: list[float], detected: list[float]) -> bool:
    """Tell whether a line of the board has these answers; calibrated lies between its ends."""
    if not row or int(row["n"]) != len(enjoyed) or len(enjoyed) != len(detected):
        return False
    raw, calibrated = fmean(enjoyed), float(row["calibrated"])
    is_near = abs(float(row["raw"]) - raw) < NEAR
    is_near = is_near and abs(float(row["persona detection"]) - fmean(detected)) < NEAR
    is_near = is_near and abs(calibrated - raw) < CLOSE
    return is_near and float(row["low"]) < calibrated < float(row["high"])


def ca_p1b(shell: Shell) -> Shown:
    """Each scale has its reason, and an empty one is refused."""
    found = simulated(shell, "convai2_crowd_reasons")
    sessions = defaultdict[tuple[str, str], dict[str, str]](dict)
    for row in found.table("ratings"):
        sessions[row["rater"], row["conversation"]][row["question"]] = row["value"]
    asked = {*SCALES, *(f"{name}_reason" for name in SCALES), "persona"}
    whole = [each for each in sessions.values() if set(each) == asked and _is_reasoned(each)]
    refused = passed(shell, f"{PAGES}::test_an_empty_reason_is_refused_for_each_scale")
    return shell.shown(
        len(whole) == len(sessions) >= 20,
        f"{found.line}; {len(whole)} of {len(sessions)} sessions have 3 scores of 1 to 5, a reason "
        f"for each and a persona; an empty reason and one of blanks refused, of each scale: "
        f"{refused} tests",
    )


def _is_reasoned(answers: dict[str, str]) -> bool:
    scores = [int(answers[name]) for name in SCALES]
    reasons = [answers[f"{name}_reason"].strip() for name in SCALES]
    return all(1 <= score <= 5 for score in scores) and all(reasons)


# --- volunteers -----------------------------------------------------------------------------------


def ca_p2(shell: Shell) -> Shown:
    """The paper's left chat is flagged, its right one is not; means with and without."""
    found = simulated(shell, "convai2_wild")
    text = shell.analysis(found.export, "--report", "convai2_wild")
    scores = _answers(found.table("ratings"), "score")
    lines = {row["system"]: row for row in _lines(text, "track", "system")}
    wrong = [
        name
        for name in SYSTEMS
        if int(lines[name]["n"]) != len(scores[name])
        or abs(float(lines[name]["all"].split()[0]) - fmean(scores[name])) >= NEAR
    ]
    brief = [name for name, count in _exchanges(found.table("messages")).items() if count < 3]
    (track,) = _lines(text, "track", "share")
    seeds = passed(
        shell,
        f"{WILD}::test_the_papers_two_chats_come_out_right_beside_a_paid_campaign",
        f"{WILD}::test_labels_without_a_score_are_no_score",
    )
    door = passed(
        shell,
        "tests/webapp/views/test_chat_service.py::"
        "test_a_conversation_goes_from_start_to_its_rating_and_the_export",
    )
    holds = not wrong and int(track["flagged"]) >= len(brief) > 0
    return shell.shown(
        holds,
        f"{found.line}; {track['flagged']} of {track['conversations']} simulated chats flagged, "
        f"{len(brief)} of under 3 exchanges; means and n of all as computed by hand, wrong: "
        f"{', '.join(wrong) or 'none'}; the paper's left chat, written through frames, is flagged "
        f"and its right one is not, so the mean of 4.5 is 4.0 without it: {seeds} tests; from the "
        f"chat service to the export: {door} test",
    )


def _exchanges(messages: Rows) -> dict[str, int]:
    """Return how often the sides of each conversation took turns, two an exchange."""
    sides = defaultdict[str, list[str]](list)
    for row in sorted(messages, key=lambda row: int(row["seq"])):
        sides[row["conversation"]].append(row["side"])
    return {
        name: (sum(one != other for one, other in pairwise(each)) + 1) // 2
        for name, each in sides.items()
    }


# --- experts --------------------------------------------------------------------------------------


def ca_p3(shell: Shell) -> Shown:
    """Two experts' means stand beside those of the people who chatted, of the same chats."""
    found = simulated(shell, "convai2_blind")
    rows = found.table("ratings", found.study)
    printed = _judges(shell.analysis(found.study, "--report", "convai2_blind"))
    fewer = list(_without_the_best(rows))
    file = shell.written("ca_p3.csv", _as_csv(fewer))
    again = _judges(shell.analysis(file, "--report", "convai2_blind"))
    same = _alike(printed, _means(rows)) and _alike(again, _means(fewer))
    blind = [row for row in rows if row["protocol"] == "convai2_blind"]
    comments = [row["value"].strip() for row in blind if row["question"] == "comment"]
    hidden = passed(
        shell, f"{PAGES}::test_an_expert_reads_whole_conversations_and_nothing_names_a_system"
    )
    changed = printed["people"] != again["people"]
    holds = same and changed and len(printed) == 3 and all(comments) and bool(comments)
    told = "; ".join(
        f"{judge} " + " ".join(f"{mean:.2f}" for mean in each.values())
        for judge, each in printed.items()
    )
    return shell.shown(
        holds,
        f"means of {', '.join(SYSTEMS)} over the same conversations: {told}; without the best of "
        f"each system those of the people follow; {len(comments)} comments; systems hidden, 0 and "
        f"5 refused: {hidden} test",
    )


def _judges(text: str) -> Means:
    rows = _lines(text, "judge", "conversations")
    return {
        row["judge"].removeprefix("blind: ").removeprefix("the ").removesuffix(" who chatted"): {
            name: float(row[name]) for name in SYSTEMS
        }
        for row in rows
    }


def _means(rows: Rows) -> Means:
    """Return each judge's means, and the people's of the conversations that judges scored."""
    judged = {row["conversation"] for row in rows if row["question"] == "score"}
    found = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for row in rows:
        if row["conversation"] in judged and row["question"] in ("score", "enjoyment"):
            judge = row["rater"][:NAMED] if row["question"] == "score" else "people"
            found[judge][row["system"]].append(float(row["value"]))
    return {judge: {name: fmean(each[name]) for name in SYSTEMS} for judge, each in found.items()}


def _alike(one: Means, other: Means) -> bool:
    cells = [(judge, name) for judge in one for name in SYSTEMS]
    near = (abs(one[judge][name] - other[judge][name]) < NEAR for judge, name in cells)
    return set(one) == set(other) and all(near)


def _without_the_best(rows: Rows) -> Iterator[dict[str, str]]:
    """Yield the answers but the experts' about each system's most and least enjoyed chat."""
    enjoyed = [row for row in rows if row["question"] == "enjoyment"]
    best = {row["system"]: row for row in sorted(enjoyed, key=lambda row: float(row["value"]))}
    gone = {row["conversation"] for row in best.values()}
    yield from (
        row for row in rows if row["protocol"] != "convai2_blind" or row["conversation"] not in gone
    )


def _as_csv(rows: Rows) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
