"""Calls of each system, and how many of its replies failed, or met something that shows.

What a system says is judged by people; how often it said nothing, was cut, filtered or replaced by
a fixed line they cannot know, and a comparison of systems has to say so. Apart because it counts
calls and no ratings: the summary alone shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.report import Section
from analysis.tables.campaign_record import CampaignRecord

ALWAYS = ("calls", "shown", "failed", "empty", "cut", "filtered", "canned")


def sections(study: CampaignRecord | None) -> Iterator[Section]:
    """Yield the counts, a row per system that was called."""
    if study is None or study.replies.empty:
        return
    counts = study.replies.set_index("system").apply(pd.to_numeric)
    met = [name for name in counts if name in ALWAYS or (name != "troubled" and counts[name].any())]
    frame = counts[met].assign(troubled=counts["troubled"])
    frame["share troubled"] = [
        f"{row.troubled / row.calls:.0%}" if row.calls else "–" for row in frame.itertuples()
    ]
    yield Section(
        _title(counts),
        frame.reset_index(),
        "A reply can take several calls; each is counted. Troubled are calls that failed, or whose "
        "reply was empty, cut at its limit, filtered, replaced by a fixed line, or longer than "
        "is shown. Shares that differ between systems are a difference of the systems, too. The "
        "raw texts are in the export, in replies.csv.",
        key="replies",
    )


def _title(counts: pd.DataFrame) -> str:
    troubled, calls = dict(counts["troubled"]), dict(counts["calls"])
    if not any(troubled.values()):
        of = f"None of {sum(calls.values())} calls of systems"
        return f"{of} failed, or was empty, cut, filtered or replaced"
    most = max(troubled, key=lambda name: troubled[name] / max(1, calls[name]))
    return (
        f"{sum(troubled.values())} of {sum(calls.values())} calls of systems met trouble, "
        f"most with {most}: {troubled[most]} of {calls[most]}"
    )
