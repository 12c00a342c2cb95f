"""Rows of rules that keep an evaluation fair: those of a competition."""

from __future__ import annotations

import re

from tests.acceptance.protocols.convai2_competition import COMPETITION, board
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import SEED, passed

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
