"""Rows of ConvAI2's competition: its board and rounds, and its hidden test."""

from __future__ import annotations

import re
from collections import Counter

from tests.acceptance.protocols.personachat import sides
from tests.acceptance.protocols.personachat_writing import aligned, copied, personas_of
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import SEED, passed, simulated

PAGES = "tests/webapp/views/refused/test_convai2.py"
COMPETITION = "tests/webapp/views/staff/test_competition_page.py"


def ca_p0(shell: Shell) -> Shown:
    """Table 3 gives the printed order; entries once a month; people choose another winner."""
    told = shell.apart("tests.simulate", "--competition", "--seed", SEED)
    first, best = board(told, "F1"), board(told, "n")
    order = passed(
        shell,
        f"{PAGES}::test_table_3_comes_out_in_the_printed_order_and_seven_go_on_to_people",
    )
    refused = passed(
        shell,
        f"{COMPETITION}::test_a_second_entry_is_refused_with_the_day_of_the_next_and_nothing_typed_"
        "is_lost",
        f"{COMPETITION}::test_what_is_refused_says_why",
    )
    holds = (first, best) == (["alpha", "beta", "gamma"], ["beta", "gamma", "alpha"])
    return shell.shown(
        holds and "recovered: another team leads by metrics than by people" in told,
        f"on the page table 3's scores give the printed order of 23 teams, and its first 7 and the "
        f"baseline meet people: {order} test; a second entry in a month, no declared data, other "
        f"metrics refused: {refused} tests; simulated: by F1 {' > '.join(first)}, by people "
        f"{' > '.join(best)}",
    )


def board(text: str, last: str) -> list[str]:
    """Return the teams of the first board with this last column, in its order."""
    found = re.search(rf"^rank +team .* {last}\n-+\n((?: *\d+ .*\n)+)", text, re.MULTILINE)
    return [line.split()[1] for line in found[1].splitlines()] if found else []


# --- the hidden test ------------------------------------------------------------------------------


def ca_p4(shell: Shell) -> Shown:
    """Personas, revisions and chats of a hidden test are of one split, which no entrant reaches."""
    written = simulated(shell, "convai2_hidden_personas")
    revised = simulated(shell, "convai2_hidden_revisions")
    held = simulated(shell, "convai2_hidden_chats")
    texts, pairs = written.table("contributions"), revised.table("contributions")
    splits = Counter(row["split"] for row in [*texts, *pairs])
    whole, found = aligned(revised)
    pool = {each["persona"]: each["split"] for each in personas_of(held.export)}
    seats = sides(held.table("messages"))
    drawn = Counter(pool[key] for each in seats.values() for key in each.values())
    refused = passed(
        shell,
        f"{PAGES}::test_an_entrant_reaches_no_page_of_the_hidden_campaigns_and_organizers_do",
        f"{COMPETITION}::test_an_entry_waits_on_the_page_until_the_command_has_run_it",
    )
    holds = set(splits) == {"test"} == set(drawn) and len(whole) == len(found) >= 4
    return shell.shown(
        holds and len(texts) >= 20 and len(seats) >= 10 and not copied(pairs),
        f"{len(texts)} sentences and {len(pairs)} revisions, all of the split test; {len(whole)} "
        f"of {len(found)} personas revised sentence by sentence without a copied word; "
        f"{len(seats)} conversations with personas of test alone; to entrants of another project "
        f"every page of these campaigns is not there, and no page of a competition shows a hidden "
        f"message: {refused} tests",
    )
