"""Rows of rules that keep an evaluation fair: of a competition, and against contamination."""

from __future__ import annotations

import json
import re

from tests.acceptance.protocols.convai2_competition import COMPETITION, board
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import SEED, Simulated, passed, simulated

RULES = "tests/webapp/views/refused/test_competition_rules.py"
TEAMS = ("alpha", "beta", "gamma", "baseline")
OF_PAGES = (
    f"{COMPETITION}::test_a_second_entry_is_refused_with_the_day_of_the_next_and_nothing_typed_"
    "is_lost",
    f"{COMPETITION}::test_what_is_refused_says_why",
    f"{COMPETITION}::test_an_entry_waits_on_the_page_until_the_command_has_run_it",
    RULES,
)


def f_comp(shell: Shell) -> Shown:
    """Code runs offline and tells nothing hidden; one entry a month; two prizes; code first."""
    told = shell.apart("tests.simulate", "--competition", "--seed", SEED)
    by_metric, by_people = board(told, "F1"), board(told, "n")
    again = re.findall(r"(\S+): the same", told)
    winner = re.search(r"^refused: (\S+) won; its training code is not there yet", told, re.M)
    refused = passed(shell, *OF_PAGES)
    holds = tuple(again) == TEAMS and winner is not None and winner[1] == by_people[0]
    holds &= sorted(by_metric) == sorted(by_people) == sorted(TEAMS[:-1])
    holds &= by_metric[0] != by_people[0]
    return shell.shown(
        holds and "recovered: another team leads by metrics than by people" in told,
        f"{len(again)} of {len(TEAMS)} entries have the same scores again; first by F1 "
        f"{by_metric[0]}, by people {by_people[0]}, who did not win before the training code was "
        f"there; code behind a function runs, and what it dials, starts, prints or raises "
        f"is a kind of error with no hidden word on pages, in logs or in results; one entry a "
        f"month with the next day; data undeclared or not public, or no word on ensembling, "
        f"refused: {refused} tests of pages",
    )


# --- contamination --------------------------------------------------------------------------------

CLEAN = "tests/webapp/views/refused/test_contamination.py"
REDACTED = (
    "tests/webapp/views/refused/test_meena_transcripts.py::"
    "test_raters_read_what_an_image_shows_and_nothing_redacted"
)
LEARNED = "demo:train"


def f_clean(shell: Shell) -> Shown:
    """The hour, disjoint groups, contexts dated and looked up, resets noted, words redacted."""
    found = simulated(shell, "meena_static")
    contexts, early = _contexts(found)
    copied = shell.bots("messages", "--data", LEARNED, "--out", shell.path("learned.jsonl"))
    first = shell.records("learned.jsonl")[1]
    lines = [*contexts, {"id": "copied", "messages": [str(first["text"]).upper()]}]
    file = shell.written("looked_up.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines))
    told = shell.bots("overlap", "--contexts", f"contexts:{file}", "--data", LEARNED)
    *hits, last = told.splitlines()
    refused = passed(shell, CLEAN, REDACTED)
    holds = len(contexts) == early >= 8 and [hit.partition(":")[0] for hit in hits] == ["copied"]
    return shell.shown(
        holds and last.startswith(f"1 of {len(lines)} contexts stand in ") and "messages" in copied,
        f"{early} of {len(contexts)} contexts are dated before the first reply to them; of these "
        f"and a copied one, {last} (the copied); a second volunteer on an "
        f"account refused after 59 min, taken after 60 and 61; members of a disjoint group "
        f"refused; no noted reset marked; what was redacted is "
        f"nowhere in the export: {refused} tests of pages",
    )


def _contexts(found: Simulated) -> tuple[list[dict[str, object]], int]:
    """Return a campaign's contexts, and how many are dated before the first reply to them."""
    held: dict[str, list[dict[str, str]]] = {}
    for row in sorted(found.table("messages"), key=lambda row: int(row["seq"])):
        held.setdefault(row["conversation"], []).append(row)
    dated, replied = dict[tuple[str, ...], list[str]](), dict[tuple[str, ...], list[str]]()
    for *turns, reply in held.values():
        if not reply["system"] or any(turn["system"] for turn in turns):
            raise RuntimeError(f"conversation {reply['conversation']} does not end in one reply")
        texts = tuple(turn["text"] for turn in turns)
        dated.setdefault(texts, []).append(max(turn["sent_at"] for turn in turns))
        replied.setdefault(texts, []).append(reply["sent_at"])
    early = [texts for texts, dates in dated.items() if min(dates) < min(replied[texts])]
    contexts: list[dict[str, object]] = [
        {"id": f"c{n}", "messages": [*texts]} for n, texts in enumerate(dated)
    ]
    return contexts, len(early)
