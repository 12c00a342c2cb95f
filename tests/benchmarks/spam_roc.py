"""How well validity flags tell spam from people: ROC areas with 95 % intervals.

    python -m tests.benchmarks.spam_roc [--seed 0]

No public data say which chats are spam, so five questions are asked, each with what it can show:
planted in human chats (the truth is known, the spam is ours); planted in real chats with bots
(those left as they were hold real spam too, so the area is a lower bound); persona guess wrong
against right in the same chats (who guesses at random is right half of the time, so even perfect
flags reach little more than .5); paid workers who fail a hidden control against those who pass
(Ji et al. 2022; their rating is careless, their chatting need not be); and people who were asked to
talk in earnest (Adiwardana et al. 2020), of whom whoever is flagged is flagged by mistake.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from scipy import stats

from analysis.conversations.spam import PersonConversation, SpamVerdict, assess, exchanges, judge
from analysis.output.terminal import table
from analysis.stats.detection import Detection, detection, share
from tests.analysis.examples import SHARED, crowd_campaign
from tests.analysis.planted import KINDS, plant
from tests.analysis.talks import meena

CONTROLLED = ("interesting", "fun", "consistent", "fluent", "topic")
Turns = list[tuple[bool, str]]


def planted(chats: Sequence[Turns], seed: int) -> Iterator[dict[str, object]]:
    """Yield a row per kind of spam: every other chat is planted, the rest are left as they were."""
    others = [text for chat in chats for mine, text in chat if mine]
    honest = [judge(PersonConversation(chat)) for chat in chats[1::2]]
    spam = {
        kind: [
            judge(PersonConversation(plant(kind, chat, others, seed + k)))
            for k, chat in enumerate(chats[::2])
        ]
        for kind in KINDS
    }
    known = [verdict for kind, found in spam.items() if kind != "off_topic" for verdict in found]
    for kind, found in {**spam, "all but off_topic": known}.items():
        yield {"spam": kind, **_row(_told_apart(found, honest))}


def human_chats() -> list[Turns]:
    """Return PERSONA-CHAT dialogues of two people; `self` is the one looked at."""
    return [
        [(turn["speaker"] == "self", turn["text"]) for turn in talk["turns"]]
        for talk in _lines("personachat_dev/dialogues.jsonl")
    ]


def bot_chats() -> list[dict[str, Any]]:
    """Return ConvAI2's chats of 2018; the bot is participant2.

    So it is in all 291 chats of volunteers, where it is marked; in the paid ones it is not, but
    there the words of the bot's persona are participant2's in 94 % of the chats where they tell.
    """
    found = []
    for name in ("toloka", "intermediate"):
        for talk in _lines(f"convai2_2018_humanbot/{name}.jsonl"):
            turns = [(line["sender"] == "participant1", line["text"]) for line in talk["dialog"]]
            found.append({"file": name, "turns": turns, "right": talk["profile_match"]})
    return found


def worker_chats() -> tuple[list[SpamVerdict], list[SpamVerdict]]:
    """Return the verdicts on chats of workers who fail and who pass the control."""
    ratings = crowd_campaign()
    passing = _passing(ratings)
    talks = {
        row["dialogue"]: [(turn["speaker"] == "worker", turn["text"]) for turn in row["turns"]]
        for row in _lines("crowd_campaign_run1/dialogues.jsonl")
    }
    failed: list[SpamVerdict] = []
    passed: list[SpamVerdict] = []
    for item, rater in ratings[["item", "rater"]].drop_duplicates().itertuples(index=False):
        (passed if rater in passing else failed).append(judge(PersonConversation(talks[item])))
    return failed, passed


def _passing(ratings: pd.DataFrame) -> set[str]:
    """Return the raters whose ratings of the control are lower (Ji et al. 2022: 173 of 248)."""
    passing = set()
    for rater, rows in ratings[ratings["question"].isin(CONTROLLED)].groupby("rater"):
        control = rows["system"] == "degraded_qc"
        low, others = rows.loc[control, "value"], rows.loc[~control, "value"]
        if rows["value"].nunique() > 1:
            test = stats.mannwhitneyu(low.astype(float), others.astype(float), alternative="less")
            passing |= {str(rater)} if test.pvalue < 0.05 else set()
    return passing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed: int = parser.parse_args().seed
    if not SHARED.is_dir():
        raise SystemExit("This needs the folder shared/data beside the repository.")
    print("1. Spam planted in chats of two people (PERSONA-CHAT)")
    print(table(pd.DataFrame(planted(human_chats(), seed))))
    real = bot_chats()
    long = [talk["turns"] for talk in real if exchanges(PersonConversation(talk["turns"])) >= 3]
    print(f"\n2. Spam planted in the {len(long)} real chats with bots of 3 exchanges or more")
    print(table(pd.DataFrame(planted(long, seed))))
    print("\n3. Real chats with bots: persona guess wrong against right")
    print(table(pd.DataFrame(_guesses(real))))
    print("\n4. Paid workers who fail a hidden control against those who pass")
    print(table(pd.DataFrame([_row(_told_apart(*worker_chats()))])))
    print("\n5. Chats of people who were asked to talk with a bot or each other (MEENA)")
    print(table(pd.DataFrame(_earnest())))


def _guesses(real: list[dict[str, Any]]) -> Iterator[dict[str, object]]:
    for name in ("toloka", "intermediate"):
        rows = [
            (judge(PersonConversation(t["turns"])), t["right"]) for t in real if t["file"] == name
        ]
        wrong = [verdict for verdict, right in rows if right == 0]
        right = [verdict for verdict, right in rows if right == 1]
        of = {
            word: share(
                [
                    guess == 1
                    for verdict, guess in rows
                    if guess is not None and verdict.flagged == flag
                ]
            )
            for word, flag in (("flagged", True), ("unflagged", False))
        }
        yield {
            "file": name,
            "flagged": f"{share([v.flagged for v, _ in rows]).estimate:.3f} of {len(rows)}",
            **_row(_told_apart(wrong, right)),
            **{f"right if {word}": _share(found) for word, found in of.items()},
        }


def _earnest() -> Iterator[dict[str, object]]:
    for name in ("human", "meena", "mitsuku", "xiaoice"):
        found = assess(meena(name))
        yield {"with": name, "flagged by mistake": _share(share(found["flagged"]))}


def _told_apart(spam: Sequence[SpamVerdict], honest: Sequence[SpamVerdict]) -> Detection:
    return detection(
        [verdict.score for verdict in spam],
        [verdict.score for verdict in honest],
        [verdict.flagged for verdict in spam],
        [verdict.flagged for verdict in honest],
    )


def _row(found: Detection) -> dict[str, object]:
    low, high = found.interval
    return {
        "AUC": f"{found.auc:.3f} [{low:.3f}, {high:.3f}]",
        "found by the flag": _share(found.found),
        "flagged by mistake": _share(found.mistaken),
    }


def _share(found: Any) -> str:
    low, high = found.interval
    return f"{found.estimate:.3f} [{low:.3f}, {high:.3f}] of {found.n}"


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with (SHARED / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
