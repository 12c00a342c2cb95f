"""Summary of a campaign from numbers already computed; page, PDF and notebook share it.

Order: who is first, what that rests on, who took part and who was lost, and how it was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.conversations import reply_events, turns
from analysis.output import findings, participant_flow, references, sensitivity
from analysis.output.methods import estimators, methods
from analysis.output.ranking import rankings
from analysis.report import Report, Section, many
from analysis.scores.cautions import cautions
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import TEXT, RatingTable
from analysis.tables.tidy import ALL

NAMES = {"estimate": "mean z", "raw": "raw mean"}
# Sections whose titles are the findings that open the report.
LEADING = (
    "overview",
    "ranking-",
    "preferred-",
    "detection-",
    "accuracy-",
    "ssa",
    "compare",
    "sensitivity",
    "agreement",
    "flow",
)


def composed(
    ratings: RatingTable,
    results: pd.DataFrame,
    study: CampaignRecord | None = None,
    *,
    seed: int = 0,
    control_questions: Sequence[str] = (),
) -> Report:
    """Return the summary; `results` are those of `analysis.evaluate` on these ratings."""
    names, ranked = tuple(control_questions), rankings(results)
    computed = (
        *findings.sections(ratings, results, ranked),
        *sensitivity.sections(ratings, results, ranked, seed=seed, control_questions=names),
        *turns.sections(ratings, results),
        *_standardized(results),
    )
    shown = (*computed, *participant_flow.sections(study), *reply_events.sections(study))
    warnings = cautions(ratings, study)
    written = methods(ratings, results, study, printed=shown) if len(ratings) or study else ()
    sources = references.section(references.texts_of(shown, written, warnings))
    text = [each for each in shown if not each.appendix]
    sections = (*text, *sources, *(each for each in shown if each.appendix))
    return Report(
        name="summary",
        title=_title(ratings, study),
        findings=_findings(ratings, computed, sections),
        sections=(*sections, estimators(results)) if computed else sections,
        cautions=warnings,
        methods=written,
        about=tuple(_about(ratings, study)),
    )


def _title(ratings: RatingTable, study: CampaignRecord | None) -> str:
    names = sorted(ratings["protocol"].unique())
    title = study.protocol.get("title") if study else None
    systems, raters = (ratings[name].nunique() for name in ("system", "rater"))
    what = f"{many(systems, 'system')} rated by {many(raters, 'person', 'people')}"
    name = title or (names[0] if len(names) == 1 else "")
    return f"{name}: {what}" if name else f"{what[:1].upper()}{what[1:]}"


def _about(ratings: RatingTable, study: CampaignRecord | None) -> Iterator[tuple[str, str]]:
    """Yield what a cover says, as far as it is known: study, systems, who answers questions."""
    record = study or CampaignRecord(plan={})
    if record.protocol:
        yield "Study", f"{record.protocol['title']} ({record.protocol['source']})"
    elif names := sorted(ratings["protocol"].unique()):
        yield "Study", ", ".join(names)
    if systems := sorted(ratings["system"].unique()):
        yield "Systems", ", ".join(systems)
    if contact := record.plan.get("contact"):
        yield "Contact", str(contact)
    if record.plan_sha256:
        yield "Plan", f"SHA-256 {record.plan_sha256}"


def _findings(
    ratings: RatingTable, computed: Sequence[Section], sections: Sequence[Section]
) -> tuple[str, ...]:
    size = (
        f"{many(len(ratings), 'answer')} of {many(ratings['rater'].nunique(), 'rater')} "
        f"on {many(ratings['system'].nunique(), 'system')}."
    )
    titles = [f"{each.title}." for each in sections if _leads(each.key)]
    applies = () if computed else ("No metric applies to this table.",)
    return (size, *_texts(ratings), *applies, *titles)


def _texts(ratings: RatingTable) -> Iterator[str]:
    count = int((ratings["level"] == TEXT).sum())
    if count:
        yield f"{count:,} of them in the raters' own words: report written_answers."


def _leads(key: str) -> bool:
    return any(key == lead or (lead[-1] == "-" and key.startswith(lead)) for lead in LEADING)


def _standardized(results: pd.DataFrame) -> Iterator[Section]:
    chosen = results[(results["metric"] == "standardized_score") & (results["question"] == ALL)]
    several = chosen["protocol"].nunique() > 1
    for protocol, rows in chosen.groupby("protocol", sort=True):
        ordered = rows.sort_values(["estimate", "system"], ascending=[False, True])
        kept = f"{int(rows['raters_kept'].iloc[0])} of {int(rows['raters'].iloc[0])} raters kept"
        columns = ["system", "estimate", "low", "high", "n", "raw", "reason"]
        best = ordered.iloc[0]
        leads = "no rater kept" if pd.isna(best["estimate"]) else f"{best['system']} is first"
        where = f", {protocol}" if several else ""
        known = [name for name in columns if name in ordered and ordered[name].notna().any()]
        yield Section(
            f"By each rater's own mean and spread{where}: {leads}",
            ordered[known].rename(columns=NAMES).reset_index(drop=True),
            f"Mean z score over dialogues (Ji et al. 2022), t interval; {kept}; n is dialogues.",
            key=f"standardized-{protocol}" if several else "standardized",
            appendix=True,
        )
