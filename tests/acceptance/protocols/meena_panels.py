"""Rows of MEENA's other evaluations: outside bots, people's replies, human-likeness, two panels."""

from __future__ import annotations

from pathlib import Path
from statistics import correlation, fmean

from tests.acceptance.protocols.meena_tables import (
    LABELS,
    PAGES,
    SYSTEMS,
    VOTES,
    agreement,
    alpha,
    is_locked,
    is_near,
    is_ssa,
    phases,
    printed,
    share,
    ssa,
    votes_of,
)
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.table import NotShown
from tests.acceptance.through_pages import passed, simulated
from tests.live import ROOT

CHATS = ROOT.parent / "shared" / "data" / "meena_conversations"
HUMAN = "human"
SCORES = ("sensibleness", "specificity", "ssa")
LIKE = "human_like"


def me_p4(shell: Shell) -> Shown:
    """Conversations held elsewhere come in by the form, and five label each message of a bot."""
    if not CHATS.is_dir():
        raise NotShown(f"needs the published conversations in {CHATS}")
    found = simulated(shell, "meena_third_party", "--transcripts", str(CHATS))
    rows = found.table("ratings")
    turns = {path.stem: _judged(path) for path in CHATS.glob("*.txt")}
    systems = {row["system"].casefold(): row["system"] for row in rows}
    counted = {name: len(_items(rows, system)) for name, system in systems.items()}
    report = shell.analysis(found.export, "--report", "meena_ssa")
    table = {row["system"]: row for row in printed(report, "system", "ssa", "open")}
    holds = counted == turns and set(table) == set(systems.values()) and is_locked(rows)
    for name, system in systems.items():
        holds &= is_ssa(table[system], ssa(rows, system))
        holds &= (table[system]["n"], table[system]["conversations"]) == (f"{turns[name]}", "1")
    agrees = printed(report, "question", "metric", "estimate")
    of = {(row["question"], row["metric"]): row for row in agrees if row["system"] == "(all)"}
    for question in LABELS:
        votes = list(votes_of(rows, question).values())
        holds &= is_near(of[question, "percent_agreement"]["estimate"], agreement(votes) / 100)
        holds &= is_near(of[question, "krippendorff_alpha"]["estimate"], alpha(votes))
    refused = passed(shell, *TRANSCRIPTS)
    told = ", ".join(f"{name} {counted[name]} turns" for name in sorted(counted))
    return shell.shown(
        holds and of["sensible", "krippendorff_alpha"]["n"] == f"{sum(turns.values())}",
        f"imported by the form and labeled by {VOTES} each: {told}; SSA, agreement and alpha of "
        f"the report as by hand; image text, redaction and faults: {refused} tests of pages",
    )


TRANSCRIPTS = (
    "tests/webapp/views/refused/test_meena_transcripts.py",
    "tests/webapp/views/staff/test_transcripts.py",
    "tests/browser/test_transcripts.py",
)


def _judged(path: Path) -> int:
    """Count the messages to judge in a file's first conversation: the bot's, or all of people."""
    first = path.read_text("utf-8").strip().split("\n\n")[0]
    return sum(not line.startswith("Human: ") for line in first.splitlines()[1:])


def _items(rows: list[dict[str, str]], system: str) -> set[str]:
    return {row["item"] for row in rows if row["system"] == system}


def me_p5(shell: Shell) -> Shown:
    """What people reply to contexts is labeled beside bots' replies, and has a row of its own."""
    study = phases(shell).study
    rows = [row for row in phases(shell).table("ratings", study) if row["question"] != LIKE]
    written = {row["text"] for row in phases(shell).table("contributions", study)}
    messages = phases(shell).table("messages", study)
    writers = {row["participant"] for row in phases(shell).table("contributions", study)}
    of_static = {row["conversation"] for row in rows if row["system"] == HUMAN}
    replies = {
        row["text"]
        for row in messages
        if row["conversation"] in of_static and row["system"] == HUMAN
    }
    report = shell.analysis(study, "--report", "meena_ssa")
    table = {row["system"]: row for row in printed(report, "system", "ssa", "open")}
    beside = {row["system"]: row for row in printed(report, "system", "below people")}
    by_hand = {name: ssa(rows, name) for name in (HUMAN, *SYSTEMS)}
    holds = set(table) == set(beside) == set(by_hand) and is_locked(rows)
    holds &= {row["evaluation"] for row in table.values()} == {"static"}
    holds &= all(is_ssa(table[name], score) for name, score in by_hand.items())
    holds &= replies == written and len(written) == int(table[HUMAN]["n"]) > 0
    holds &= not writers & {row["rater"] for row in rows}
    gaps = {name: by_hand[HUMAN][2] - score[2] for name, score in by_hand.items()}
    holds &= all(is_near(beside[name]["below people"], gap) for name, gap in gaps.items())
    refused = passed(shell, *(f"{WRITING}{name}" for name in OF_REPLIES))
    told = ", ".join(f"{name} {score[2]:.1f} %" for name, score in by_hand.items())
    return shell.shown(
        holds and gaps["gamma"] > 0,
        f"{len(written)} replies of people labeled by {VOTES} others in the campaign of three "
        f"bots; static SSA as by hand: {told}; written and taken on pages: {refused} tests",
    )


WRITING = "tests/webapp/views/test_writing_pages.py::test_"
OF_REPLIES = (
    "a_context_is_replied_to_one_after_another",
    "staff_use_personas_and_replies_in_a_draft",
)


def me_p6(shell: Shell) -> Shown:
    """The same replies, judged human-like or not, give a point per system and three R²."""
    study = phases(shell).study
    rows = phases(shell).table("ratings", study)
    labels, like = ([row for row in rows if (row["question"] == LIKE) == kind] for kind in (0, 1))
    same = [{(row["system"], row["context"]) for row in part} for part in (labels, like)]
    points = {
        name: (share(like, LIKE, name), *ssa(labels, name)) for name in sorted([HUMAN, *SYSTEMS])
    }
    report = shell.analysis(study, "--report", "meena_human_likeness")
    shown = printed(report, "system", "human-like", *SCORES)
    fits = {row["score"]: row for row in printed(report, "score", "R²", "systems")}
    of = dict(zip((LIKE, *SCORES), zip(*points.values(), strict=True), strict=True))
    squares = {name: correlation(of[name], of[LIKE]) ** 2 for name in SCORES}
    holds = same[0] == same[1] and len(shown) == len(points) == len(SYSTEMS) + 1
    for row in shown:
        holds &= is_ssa(row, points[row["system"]][1:])
        holds &= is_near(row["human-like"], points[row["system"]][0])
    holds &= set(fits) == set(SCORES)
    holds &= all(is_near(fits[name]["R²"], squares[name]) for name in SCORES)
    order = {name: values[0] for name, values in points.items()}
    refused = passed(shell, "tests/webapp/views/staff/test_taken_replies.py")
    told = ", ".join(f"{name} {value:.0f} %" for name, value in order.items())
    r2 = ", ".join(f"{name} {value:.3f}" for name, value in squares.items())
    return shell.shown(
        holds and order[HUMAN] > order["beta"] >= order["gamma"],
        f"{len(same[0])} replies judged by both questions; human-like: {told}; R² as by hand: "
        f"{r2}; replies taken on the page: {refused} tests",
    )


def me_p7(shell: Shell) -> Shown:
    """Others label the messages again without the first labels; both SSAs stand together."""
    found = simulated(shell, "meena_second_panel", "--people", "8")
    rows = found.table("ratings", found.study)
    parts = {name: [row for row in rows if row["phase"] == name] for name in PANELS}
    about = [{(row["conversation"], row["message_seq"]) for row in part} for part in parts.values()]
    report = shell.analysis(found.study, "--report", "meena_ssa")
    shown = {(r["panel"], r["system"]): r for r in printed(report, "panel", "messages", "raters")}
    by_hand = {
        (n, system): _pooled(part, system) for n, part in parts.items() for system in SYSTEMS
    }
    holds = set(shown) == set(by_hand) and about[0] == about[1] != set()
    holds &= all(is_ssa(shown[key], values) for key, values in by_hand.items())
    votes = [len(given) for given in votes_of(parts[PANELS[1]], LABELS[0]).values()]
    holds &= set(votes) == {PANEL} and is_locked(rows)
    holds &= not {r["rater"] for r in parts[PANELS[0]]} & {r["rater"] for r in parts[PANELS[1]]}
    refused = passed(
        shell,
        f"{PAGES}test_pages_of_a_second_panel_are_the_same_whatever_the_first_labels_were",
        f"{PAGES}test_who_gave_the_first_labels_gives_no_second_ones",
    )
    first, second = ([by_hand[name, system][2] for system in SYSTEMS] for name in PANELS)
    both = zip(SYSTEMS, first, second, strict=True)
    told = ", ".join(f"{name} {one:.1f} and {two:.1f} %" for name, one, two in both)
    return shell.shown(
        holds and first == sorted(first, reverse=True) and second == sorted(second, reverse=True),
        f"{len(about[0])} messages labeled once while chatting and again by {PANEL} others each; "
        f"SSA of both as by hand: {told}; pages are the same whatever the first labels were, and "
        f"who gave them is refused: {refused} tests of pages",
    )


PANELS = ("meena_interactive", "meena_second_panel")
PANEL = 4  # who label each message again


def _pooled(rows: list[dict[str, str]], system: str) -> tuple[float, float, float]:
    """Return sensibleness, specificity and SSA of all labels of a system, without majorities."""
    of = [
        [int(row["value"]) for row in rows if (row["system"], row["question"]) == (system, name)]
        for name in LABELS
    ]
    sensible, specific = (100 * fmean(values) for values in of)
    return sensible, specific, (sensible + specific) / 2
