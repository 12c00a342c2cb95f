"""Length of people's messages as implicit engagement, beside ConvAI2 table 6 (Dinan et al. 2019).

Section 3.2.3 sets the length of what people write beside how engaging they find a system, and
beside the system's own length, which they may only mimic. Mimicry and length without it are ours
(`analysis/conversations/mimicry.py`). A correlation over six systems is printed with its n and
without a test, as the paper does.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations.mimicry import per_conversation
from analysis.conversations.transcripts import HUMAN
from analysis.metrics.human_length import human_length
from analysis.metrics.message_length import message_length
from analysis.output.paper_layouts import both_sides, printed, with_engagingness
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.stats.correlation import Correlation, pearson, spearman
from analysis.tables.schema import MessageTable, RatingTable

NO_INTERVAL = "coefficients of a handful of systems are printed without a test"

PAIRS = (
    ("engagingness", "words human", "Spearman", spearman),
    ("words model", "words human", "Pearson", pearson),
)
NOTE = (
    "Words are tokens of `split`. Mimicry: words that one word more of the system adds to the "
    "answer, within conversations; length without mimicry: as if all systems wrote equally long."
)
FEW = "One point per system: no test is made of so few."


def convai2_implicit(messages: MessageTable, ratings: RatingTable | None = None) -> Report:
    """Return both lengths with mimicry, mimicry per conversation, and both correlations."""
    own = _own(messages, ratings)
    table = _printed_systems()
    together = pd.DataFrame([*_correlations("own", own), *_correlations("as printed", table)])
    finding = _finding(own)
    found = (
        Section(finding, own, NOTE),
        Section("Mimicry of single conversations", _spread(messages), NOTE, appendix=True),
        Section(_sentence(together), together, FEW),
    )
    return Report(
        name="convai2_implicit",
        title="Length of people's messages, and whether it is the system's",
        findings=(finding, _sentence(together)),
        sections=(*(each for each in found if len(each.frame)), printed("convai2_length")),
    )


def _own(messages: MessageTable, ratings: RatingTable | None) -> pd.DataFrame:
    lengths = both_sides(message_length(messages), {"words_per_message": "words"})
    if lengths.empty or "words human" not in lengths:
        return lengths.iloc[:0]
    known = human_length(messages)
    parts = [known[known["metric"] == name] for name in ("mimicry", "length_without_mimicry")]
    for part, name in zip(parts, ("mimicry", "words human, no mimicry"), strict=True):
        by_system = part.set_index("system")
        for column, ending in (("estimate", ""), ("low", " low"), ("high", " high")):
            lengths[name + ending] = lengths["system"].map(by_system[column])
    return with_engagingness(lengths.dropna(subset=["words human"]), ratings)


def _finding(own: pd.DataFrame) -> str:
    name = "words human, no mimicry"
    known = own.dropna(subset=[name]) if name in own else own.iloc[:0]
    if known.empty:
        return "No message of people answers systems that vary in length."
    raw, left = (
        known.sort_values([column, "system"], ascending=[False, True]).iloc[0]
        for column in ("words human", name)
    )
    first = f"People write most to {raw['system']}, {raw['words human']:.1f} words a message"
    return f"{first}; without mimicry to {left['system']}, {left[name]:.1f}."


def _printed_systems() -> pd.DataFrame:
    rows = pd.DataFrame(list(reference("convai2_length").rows))
    names = {"team": "system", "words_model": "words model", "words_human": "words human"}
    table = rows.rename(columns=names)
    return table[table["system"].str.lower() != HUMAN]


def _correlations(which: str, table: pd.DataFrame) -> list[dict[str, object]]:
    found = []
    for one, other, name, measure in PAIRS:
        if one in table and other in table:
            value: Correlation = measure(table[one].astype(float), table[other].astype(float))
            pair = f"{one} with {other}"
            row = {"table": which, "pair": pair, "coefficient": name, "r": value.estimate}
            found.append({**row, "n": value.n, "reason": value.reason or ""})
    return found


def _sentence(together: pd.DataFrame) -> str:
    own = together[(together["table"] == "own") & together["r"].notna()]
    rows = (own if len(own) else together[together["table"] == "as printed"]).to_dict("records")
    which = "" if len(own) else "As printed: "
    parts = (f"{row['pair']} {row['r']:.2f} ({row['coefficient']}, n = {row['n']})" for row in rows)
    return which + "; ".join(parts) + "."


def _spread(messages: MessageTable) -> pd.DataFrame:
    slopes = per_conversation(messages)
    if slopes.empty:
        return slopes
    by_system = slopes.groupby("system")["slope"]
    parts = {"conversations": by_system.size(), "lower quarter": by_system.quantile(0.25)}
    parts |= {"median": by_system.median(), "upper quarter": by_system.quantile(0.75)}
    return pd.DataFrame(parts).reset_index()
