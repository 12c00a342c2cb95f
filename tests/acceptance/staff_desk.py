"""Row of the staff desk: what it shows of a planted log, and what the bot then learns."""

from __future__ import annotations

import json
from typing import Any

from bots import Utterance
from bots.zoo.faq import BOT
from tests.acceptance.answered_questions import GIVEN, INSTEAD, KNOWN, STRANGE
from tests.acceptance.shell import Shell, Shown, slow


@slow
def f_desk(shell: Shell) -> Shown:
    seen, broken = (shell.campaign("answered_questions", at) for at in ("0.5", "0"))
    path = shell.path("labeled.jsonl")
    with open(path, "w", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(line)}\n" for line in seen["labeled"])
    learned = [_guess(BOT(labeled=path), text) for text in STRANGE]
    told = shell.analysis("nexcv", path, "--beside", "characters")
    same = told.split("same splits:\n")[1].splitlines()
    first = [row["question"] for row in seen["first"][: len(STRANGE)]]
    result = f"left to people: {len(first)} of {len(seen['first'])}, first on the page; "
    result += f"automation by day and in all {', '.join(seen['automation'])}; confirmed "
    result += f"{seen['confirmed'][-1]}; most confused: {seen['confused']}; decided by "
    result += f"{', '.join(seen['by'])}, {seen['left']} left; learned: {learned}; two classifiers "
    result += f"on the same splits: {len(same) - 1} settings; without a threshold "
    result += f"{sum(row['deferred'] for row in broken['first'])} are left to people"
    holds = (
        set(first) == set(STRANGE)
        and [row["deferred"] for row in seen["first"]] == [True] * 3 + [False] * 9
        and all(row["confidence"] >= 0.5 for row in seen["first"][3:])
        and seen["automation"] == ["50.0 %", "100.0 %", "75.0 %"]
        and seen["confirmed"][-1] == "66.7 %"
        and seen["confused"] == _confused()
        and (seen["by"], seen["left"]) == (["ann"], 0)
        and learned == [(GIVEN, True)] * len(STRANGE)
        and len(same) == 4
        and not any(row["deferred"] for row in broken["first"])
    )
    return shell.shown(holds, result)


def _confused() -> list[list[Any]]:
    """Return the pairs that were planted: each third answer of what the bot knows."""
    planted = sorted({tuple(sorted((intent, INSTEAD))) for _, intent in KNOWN[::3]})
    return [[*pair, 1] for pair in planted]


def _guess(bot: Any, text: str) -> tuple[str, bool]:
    """Return the intent that a question is taken for, and whether it is answered."""
    details = bot.respond((), (Utterance("partner", text),)).details
    return details["intent"], not details["deferred"]
