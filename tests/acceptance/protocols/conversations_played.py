"""Rows of roles and logs: characters and likely utterances, student and advisor, a live bot."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

PAGES = "tests/webapp/views/refused"
UTTERANCES, CHARACTERS, LIST, VOTES = 500, 5, 50, 5
ENGAGEMENT = (
    *("exchanges_per_session", "return_rate", "weekly_retention", "active_days"),
    *("turns_anger", "turns_sadness", "turns_happiness", "turns_non_neutral"),
    *("users_offensive", "turns_offensive", "turns_assent", "gap_seconds"),
    *("gap_seconds_without_follow_ups", "turns_follow_up"),
)
Row = Mapping[str, str]


def pm_p1(shell: Shell) -> Shown:
    """Who has watched the series plays one of two characters of it, on a topic."""
    found = simulated(shell, "role_play")
    series = {each["persona"]: each["group"] for each in _lines(found, "personas")}
    topics = {each["conversation"]: each["topic"] for each in _lines(found, "conversations")}
    played = _characters(found.table("messages"))
    whole = {key: names for key, names in played.items() if len(names) == 2}
    one = [{series[name] for name in names} for names in played.values()]
    outcomes = Counter(row["outcome"] for row in found.table("participants"))
    watched = {
        row["participant"]: row["value"]
        for row in found.table("admission")
        if row["question"] == "watched"
    }
    people = {row["user"] for row in found.table("messages")}
    pages = passed(shell, *_nodes("test_role_play.py", "has_not_watched", "two_characters"))
    holds = len(whole) >= 8 and max(map(len, played.values())) == 2
    holds = holds and all(len(each) == 1 for each in one)
    holds = holds and {name for each in one for name in each} == set(series.values())
    holds = holds and len(series) == 2 * CHARACTERS and len(set(series.values())) == 2
    holds = holds and all(topics[int(key)] for key in played)
    holds = holds and all(watched[each] == "1" for each in people)
    refused = sum(value == "0" for value in watched.values())
    holds = holds and outcomes["SCREENED_OUT"] == refused >= 1
    return shell.shown(
        holds,
        f"{found.line}; {len(whole)} conversations of two characters, each pair of one series; "
        f"{len(set(topics.values()))} topics, one for each; {refused} who had not watched it "
        f"screened out, none of whom wrote; on pages the screening refuses, both read the topic, "
        f"each the own lines only: {pages} tests",
    )


def pm_p2(shell: Shell) -> Shown:
    """500 utterances for five characters are 250 lists judged, and NoL is 0 to 5 of five."""
    found = simulated(
        shell, "persona_likely", "--people", str(UTTERANCES * CHARACTERS * VOTES // LIST)
    )
    rows = found.table("ratings")
    lists = {(row["rater"], row["context"]) for row in rows}
    sizes = Counter((row["rater"], row["context"]) for row in rows)
    votes = defaultdict[tuple[str, str], list[int]](list)
    for row in rows:
        votes[row["character"], row["item"]].append(int(row["value"]))
    levels = Counter(sum(each) for each in votes.values())
    printed = _nol(shell.analysis(found.export, "--json"))
    pages = passed(shell, *_nodes("test_lists.py", "fifty", "likely_or_not", "no_author",
                                  "five_people", "no_other"))  # fmt: skip
    each = Counter(character for character, _ in votes)
    holds = len(lists) == len({rater for rater, _ in lists}) == 250
    holds = holds and set(sizes.values()) == {LIST} and set(map(len, votes.values())) == {VOTES}
    holds = holds and set(each.values()) == {UTTERANCES} and len(each) == CHARACTERS
    holds = holds and set(levels) == set(range(VOTES + 1)) and printed == levels
    told = ", ".join(f"{k}: {levels[k]}" for k in range(VOTES + 1))
    return shell.shown(
        holds,
        f"{found.line}; {len(lists)} assignments of one list of {LIST} to one worker, "
        f"{UTTERANCES} utterances for each of {len(each)} characters, {VOTES} votes each; "
        f"NoL {told}, as the analysis prints; a part of a list, a sixth judge and a second list "
        f"refused: {pages} tests",
    )


def nl_p11(shell: Shell) -> Shown:
    """Paraphrases hang on messages that were sent; each side reads its own sheet only."""
    found = simulated(shell, "student_advisor_paraphrases")
    texts = found.table("contributions")
    held = found.table("messages", found.study)
    sent = {(row["conversation"], row["seq"]): row["text"] for row in held}
    linked = [
        row for row in texts
        if sent.get((row["conversation"], row["message_seq"])) == row["original"] != ""
    ]  # fmt: skip
    cuts = defaultdict[str, set[str]](set)
    for row in texts:
        cuts[row["conversation"]].add(row["message_seq"])
    sheets = _characters(held)
    pages = passed(shell, *_nodes("test_role_play.py", "advisor_never_reads"))
    holds = len(linked) == len(texts) >= 40 and all(row["text"] for row in texts)
    holds = holds and all(row["text"] != row["original"] for row in texts)
    holds = holds and max(map(len, cuts.values())) <= 5 and len(cuts) >= 2
    holds = holds and all(len(sheets[conversation]) == 2 for conversation in cuts)
    return shell.shown(
        holds,
        f"{found.line}; {len(linked)} of {len(texts)} paraphrases linked to the message they "
        f"reword, of {len(cuts)} conversations cut at {max(map(len, cuts.values()))} points at "
        f"most, two sheets in each; a student and an advisor read their own facts, what both know, "
        f"and nothing else of the other's: {pages} test",
    )


def nl_p12(shell: Shell) -> Shown:
    """Every figure comes from a log; those planted on pages come back as counted by hand."""
    found = simulated(shell, "live_engagement")
    text = shell.analysis(found.export, "--report", "ruuh_engagement").partition("As printed")[0]
    cells = [line.split() for line in text.splitlines() if line.startswith("alpha ")]
    printed = {each[1]: each[2] for each in cells if len(each) > 4}
    messages = found.table("messages")
    sessions = _sessions(messages)
    back = [person for person, starts in sessions.items() if len(starts) > 1]
    count = sum(map(len, sessions.values()))
    ordered = sorted(messages, key=lambda row: (row["conversation"], row["sent_at"]))
    answered = sum(
        (one["system"], two["system"]) == ("human", "alpha")
        and one["conversation"] == two["conversation"]
        for one, two in pairwise(ordered)
    )
    exchanges = answered / max(1, count)
    pages = passed(shell, *_nodes("test_live_engagement.py", "every_figure", "nobody_is_asked"))
    holds = set(printed) == set(ENGAGEMENT) and len(sessions) >= 15 and len(back) >= 5
    holds = holds and printed["return_rate"] == f"{len(back) / len(sessions):.2f}"
    holds = holds and printed["exchanges_per_session"] == f"{exchanges:.2f}"
    holds = holds and not found.table("ratings")
    return shell.shown(
        holds,
        f"{found.line}; {len(printed)} figures printed, {exchanges:.2f} exchanges per session as "
        f"counted in {count} sessions, {len(back)} of {len(sessions)} people came again a day "
        f"later as printed, and no question; all {len(ENGAGEMENT)} figures of "
        "visits planted on pages over 190 days (return, weekly retention after six months, active "
        "days, feelings, offense, assent, gaps, follow-ups) exactly as by hand, nobody can end: "
        f"{pages} tests",
    )


# --- read by hand ---------------------------------------------------------------------------------


def _nodes(file: str, *parts: str) -> list[str]:
    """Return the tests of a file of pages whose names have these words."""
    with open(f"{PAGES}/{file}", encoding="utf-8") as lines:
        names = re.findall(r"^def (test_\w+)", lines.read(), re.MULTILINE)
    return [f"{PAGES}/{file}::{next(name for name in names if part in name)}" for part in parts]


def _lines(found: Simulated, name: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(found.export) as archive:
        return [json.loads(line) for line in archive.read(f"{name}.jsonl").splitlines() if line]


def _sessions(messages: Sequence[Row]) -> dict[str, list[str]]:
    """Return when the sessions of each person began, whose sentences are never an hour apart."""
    found: dict[str, list[str]] = {}
    last: dict[str, datetime] = {}
    for row in sorted(messages, key=lambda each: each["sent_at"]):
        if row["system"] != "human":
            continue
        person, at = row["user"], datetime.fromisoformat(row["sent_at"])
        if person not in last or at - last[person] > timedelta(hours=1):
            found.setdefault(person, []).append(row["sent_at"])
        last[person] = at
    return found


def _characters(messages: Sequence[Row]) -> dict[str, set[str]]:
    """Return who is played in each conversation."""
    found = defaultdict[str, set[str]](set)
    for row in messages:
        if row["persona"]:
            found[row["conversation"]].add(row["persona"])
    return dict(found)


def _nol(text: str) -> Counter[int]:
    """Return how many utterances have each NoL, as the analysis prints it."""
    found = Counter[int]()
    for row in json.loads(text):
        if row["metric"] == "nol":
            found.update({k: int(row[f"nol_{k}"]) for k in range(VOTES + 1)})
    return found
