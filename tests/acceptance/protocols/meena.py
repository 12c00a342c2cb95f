"""Rows of MEENA's evaluations: fixed contexts, chats with labels, and labels by third parties."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tests.acceptance.protocols.meena_tables import (
    LABELS,
    PAGES,
    SYSTEMS,
    VOTES,
    Row,
    agreement,
    alpha,
    is_locked,
    is_near,
    is_ssa,
    printed,
    ssa,
    votes_of,
)
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import passed, simulated

LOOK = "[chromium-size0-light]"  # of a phone
LONGEST = 3  # messages of a context
JOURNEYS = "tests/browser/test_journeys.py::"


def me_p1(shell: Shell) -> Shown:
    """Contexts of 1 to 3 messages, five labels each, and the table with agreement and alpha."""
    found = simulated(shell, "meena_static")
    rows, messages = found.table("ratings"), found.table("messages")
    sizes = Counter(row["conversation"] for row in messages)
    depths = {row["item"]: sizes[row["conversation"]] - 1 for row in rows}
    replies = {(row["context"], row["system"]) for row in rows}
    contexts = {context for context, _ in replies}
    is_whole = len(replies) == len(depths) == len(contexts) * len(SYSTEMS) > 0
    is_whole &= set(depths.values()) == set(range(1, LONGEST + 1))
    report = shell.analysis(found.export, "--report", "meena_ssa")
    scores = {row["system"]: row for row in printed(report, "system", "ssa", "open")}
    by_hand = {name: ssa(rows, name) for name in SYSTEMS}
    same = all(is_ssa(scores[name], by_hand[name]) for name in SYSTEMS)
    best = sorted(SYSTEMS, key=lambda name: -by_hand[name][2])
    refused = passed(
        shell,
        f"{PAGES}test_specific_is_locked_unless_sensible",
        f"{PAGES}test_nothing_on_the_page_names_the_system",
        f"{JOURNEYS}test_judge_fixed_replies{LOOK}",
    )
    holds = is_whole and same and best == [*SYSTEMS] and is_locked(rows)
    told = ", ".join(f"{name} {by_hand[name][2]:.1f} %" for name in SYSTEMS)
    return shell.shown(
        holds and _agrees(report, rows),
        f"{len(contexts)} contexts of 1 to {LONGEST} messages x {len(SYSTEMS)} systems, "
        f"{VOTES} labels each; SSA {told} as by hand; {_coefficients(rows)} as printed; specific "
        f"locked unless sensible: {refused} tests of pages",
    )


def _coefficients(rows: Sequence[Row]) -> str:
    of = [list(votes_of(rows, question).values()) for question in LABELS]
    told = [
        f"{name} agreement {agreement(votes):.1f} %, alpha {alpha(votes):.2f}"
        for name, votes in zip(LABELS, of, strict=True)
    ]
    return "; ".join(told)


def _agrees(report: str, rows: Sequence[Row]) -> bool:
    """Tell whether agreement and alpha over all systems are printed as they are by hand."""
    table = printed(report, "question", "metric", "estimate")
    of = {(row["question"], row["metric"]): row for row in table if row["system"] == "(all)"}
    return all(
        is_near(of[question, "percent_agreement"]["estimate"], agreement(votes) / 100)
        and is_near(of[question, "krippendorff_alpha"]["estimate"], alpha(votes))
        for question in LABELS
        for votes in [list(votes_of(rows, question).values())]
    )


def me_p2(shell: Shell) -> Shown:
    """The bot opens, every message of it is labeled, and 14 to 28 messages make a conversation."""
    found = simulated(shell, "meena_interactive")
    rows, messages = found.table("ratings"), found.table("messages")
    talks: dict[str, list[Row]] = defaultdict(list)
    for message in sorted(messages, key=lambda row: int(row["seq"])):
        talks[message["conversation"]].append(message)
    opened = sum(
        (talk[0]["text"], talk[0]["system"] in SYSTEMS) == ("Hi!", True) for talk in talks.values()
    )
    of_bots = sorted(
        (row["conversation"], row["seq"]) for row in messages if row["system"] in SYSTEMS
    )
    labeled = [
        sorted((r["conversation"], r["message_seq"]) for r in rows if r["question"] == name)
        for name in LABELS
    ]
    refused = passed(
        shell,
        *(f"{PAGES}test_{name}" for name in OF_CHATS),
        f"{JOURNEYS}test_label_every_message_while_chatting{LOOK}",
    )
    report = shell.analysis(found.export, "--report", "meena_ssa")
    table = printed(report, "system", "ssa", "open")
    holds = opened == len(talks) > 0 and labeled == [of_bots, of_bots] and is_locked(rows)
    holds &= {row["evaluation"] for row in table} == {"interactive"}
    holds &= [row["system"] for row in table] == [*SYSTEMS]
    return shell.shown(
        holds and sum(int(row["n"]) for row in table) == len(of_bots),
        f"{opened} of {len(talks)} conversations open with Hi! of the bot; all {len(of_bots)} of "
        f"its messages have both labels; told of the bot, refused at 13 messages or with one "
        f"unlabeled, taken at 14, ended by the 28th: {refused} tests of pages",
    )


OF_CHATS = (
    "who_labels_is_told_of_the_bot_which_opens",
    "nobody_finishes_before_fourteen_messages",
    "nobody_finishes_with_a_message_unlabeled",
    "the_twenty_eighth_message_is_the_last",
)


def me_p3(shell: Shell) -> Shown:
    """Who did not take part labels each message five times; an item is open until then."""
    found = simulated(shell, "meena_third_party")
    rows = found.table("ratings")
    talks = defaultdict[str, set[str]](set)
    for row in found.table("messages", found.study):
        talks[row["conversation"]].add(row["user"])
    people = set().union(*talks.values())
    held = [row for row in found.table("messages", found.study) if row["phase"] == "meena_human"]
    votes = [len(given) for name in LABELS for given in votes_of(rows, name).values()]
    raters = {row["rater"] for row in rows}
    report = shell.analysis(found.export, "--report", "meena_ssa")
    (human,) = printed(report, "system", "ssa", "open")
    by_hand = ssa(rows, "human")
    refused = passed(
        shell,
        f"{PAGES}test_a_message_is_open_until_five_have_labeled_it",
        f"{PAGES}test_who_took_part_labels_nothing",
        "tests/browser/test_third_parties.py",
    )
    holds = set(map(len, talks.values())) == {2} and not raters & people and is_locked(rows)
    holds &= len(votes) == 2 * len(held) > 0 and set(votes) == {VOTES}
    holds &= is_ssa(human, by_hand) and (human["n"], human["open"]) == (f"{len(held)}", "0")
    return shell.shown(
        holds,
        f"{len(held)} messages of {len(people)} people in {len(talks)} conversations, {VOTES} "
        f"labels each by {len(raters)} others; majority: human SSA {by_hand[2]:.1f} % as by hand; "
        f"who took part is refused, open until the fifth label: {refused} tests of pages",
    )
