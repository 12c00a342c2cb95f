"""Participant flow from consent to the results, with every loss and its reason counted.

In the shape of a CONSORT diagram: each step, and below it who was lost before the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.report import Chart, Section
from analysis.tables.campaign_record import COMPLETED, CampaignRecord

UNDER_WAY = "still under way"
NO_ANSWER = "finished without an answer"
KEPT, LOST = "reached", "lost"
Counted = dict[str, int]


def sections(study: CampaignRecord | None) -> Iterator[Section]:
    """Yield the flow, who was lost by system, and the reasons that set answers aside."""
    if study is None or (study.people.empty and not study.withdrew):
        return
    yield _flow(study)
    yield from _by_system(study)
    yield from _set_aside(study)
    yield from _flagged(study)


def people(study: CampaignRecord) -> pd.DataFrame:
    """Return a row per participation: whether it started, finished, and is in the results."""
    answered = set(study.answers["rater"])
    counted = set(study.answers.loc[study.answers["excluded"] == "", "rater"])
    found = study.people[["participant", "system", "outcome", "excluded"]].copy()
    name = found["participant"]
    found["counted"] = name.isin(counted)
    found["finished"] = found["counted"] | (found["outcome"] == COMPLETED)
    began = (found["system"] != "") | name.isin(answered)
    found["started"] = found["finished"] | began
    return found


def _flow(study: CampaignRecord) -> Section:
    found = people(study)
    withdrew = study.withdrew or 0
    started, finished = found[found["started"]], found[found["finished"]]
    counted = int(found["counted"].sum())
    lost = {
        "before the start": _ended(study, found[~found["started"]]),
        "after the start": _ended(study, started[~started["finished"]]),
        "after the end": _reasons(study, finished[~finished["counted"]]),
    }
    losses = _named_apart(lost)
    rows: list[tuple[str, str, int]] = [("consented", KEPT, len(found) + withdrew)]
    if withdrew:
        rows.append(("withdrew, data erased", LOST, withdrew))
    rows += [*_losses(next(losses)), ("started", KEPT, len(started))]
    rows += [*_losses(next(losses)), ("finished", KEPT, len(finished))]
    if not study.rates_nothing:
        rows += [*_losses(next(losses)), ("in the results", KEPT, counted)]
    named = [(f"– {what}" if kind == LOST else what, kind, n) for what, kind, n in rows]
    total = len(found) + withdrew
    frame = pd.DataFrame(named, columns=["step", "kind", "people"])
    frame["of all"] = [f"{n / total:.0%}" if total else "–" for n in frame["people"]]
    erased = (
        "" if study.withdrew is not None else " People who withdrew are not counted in this file."
    )
    rests = "" if study.rates_nothing else f"; the results rest on {counted}"
    return Section(
        f"{total} people consented, {len(finished)} finished{rests}",
        frame[["step", "people", "of all"]],
        "A line that begins with – counts people lost before the next step, by recorded reason. "
        "The number of people who opened the link is not recorded: opening it stores nothing."
        f"{erased}",
        key="flow",
        chart=Chart(kind="bars", rows=_bars(named), axis="people"),
    )


def _bars(rows: list[tuple[str, str, int]]) -> list[dict[str, str | int]]:
    return [{"step": step, "kind": kind, "people": n} for step, kind, n in rows]


def _named_apart(lost: Mapping[str, Counted]) -> Iterator[Counted]:
    """Yield the losses of each stage; a reason of several says of which: a line has one name."""
    times = Counter(reason for counted in lost.values() for reason in counted)
    for when, counted in lost.items():
        yield {
            f"{reason}, {when}" if times[reason] > 1 else reason: n for reason, n in counted.items()
        }


def _losses(counted: Counted) -> list[tuple[str, str, int]]:
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(what, LOST, n) for what, n in ordered]


def _ended(study: CampaignRecord, rows: pd.DataFrame) -> Counted:
    """Count how participations ended that went no further."""
    return dict(Counter(study.outcomes.get(each, each) or UNDER_WAY for each in rows["outcome"]))


def _reasons(study: CampaignRecord, rows: pd.DataFrame) -> Counted:
    """Count why people who finished are not in the results: the reason of most of their answers."""
    aside = study.answers[study.answers["rater"].isin(rows["participant"])]
    most = aside.groupby("rater")["excluded"].agg(lambda reasons: sorted(reasons.mode())[0])
    pairs = zip(rows["participant"], rows["excluded"], strict=True)
    return dict(
        Counter(
            str(most.get(name, excluded and f"reviewer: {excluded}") or NO_ANSWER)
            for name, excluded in pairs
        )
    )


def _by_system(study: CampaignRecord) -> Iterator[Section]:
    found = people(study)
    found = _each_system(study, found[found["system"] != ""])
    if found["system"].nunique() < 2:
        return
    steps = ["started", "finished", *([] if study.rates_nothing else ["counted"])]
    frame = found.groupby("system")[steps].sum().astype(int).reset_index()
    frame["lost"] = frame["started"] - frame[steps[-1]]
    shares = frame["lost"] / frame["started"].clip(lower=1)
    most = frame.iloc[int(shares.argmax())]
    title = (
        f"Most people are lost with {most['system']}: {most['lost']} of {most['started']}"
        if most["lost"]
        else "Nobody who started was lost, with any system"
    )
    yield Section(
        title,
        frame.rename(columns={"counted": "in the results"}),
        "People by assigned system. Losses that differ between systems can bias their comparison.",
        key="flow-systems",
    )


def _each_system(study: CampaignRecord, found: pd.DataFrame) -> pd.DataFrame:
    """Return a row per person and system: who met several may be in the results with some only."""
    names = {each["name"] for each in study.systems}
    met = [[name] if name in names else name.split(";") for name in found["system"]]
    several = pd.Series([len(each) > 1 for each in met], index=found.index, dtype=bool)
    each = pd.Series(met, index=found.index)
    rows = found.assign(system=each, several=several).explode("system", ignore_index=True)
    kept = study.answers[study.answers["excluded"] == ""]
    pairs = set(zip(kept["rater"], kept["system"], strict=True))
    own = [pair in pairs for pair in zip(rows["participant"], rows["system"], strict=True)]
    rows["counted"] = rows["counted"].mask(rows["several"], own)
    completed = rows["outcome"] == COMPLETED
    rows["finished"] = rows["finished"].mask(rows["several"], rows["counted"] | completed)
    return rows


def _set_aside(study: CampaignRecord) -> Iterator[Section]:
    aside = study.answers[study.answers["excluded"] != ""]
    if aside.empty:
        return
    counted = aside.groupby("excluded").agg(
        answers=("excluded", "size"), raters=("rater", "nunique")
    )
    frame = counted.rename_axis("reason").reset_index()
    yield Section(
        f"{len(aside)} of {len(study.answers)} answers are set aside",
        frame.sort_values(["answers", "reason"], ascending=[False, True], ignore_index=True),
        "They stay in the export, in ratings_all.csv. A person can have several reasons.",
        key="excluded",
    )


def _flagged(study: CampaignRecord) -> Iterator[Section]:
    if "flags" not in study.answers:
        return
    flagged = study.answers[study.answers["flags"] != ""]
    if flagged.empty:
        return
    kinds = flagged.assign(flag=flagged["flags"].str.split(";")).explode("flag")
    counted = kinds.groupby("flag").agg(answers=("flag", "size"), raters=("rater", "nunique"))
    yield Section(
        f"{len(flagged)} of {len(study.answers)} answers belong to something flagged",
        counted.reset_index(),
        "A flag decides nothing by itself: settle it, or exclude with a reason.",
        key="flagged",
    )
