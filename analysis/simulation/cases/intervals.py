"""Intervals that results and reports print, each with the campaigns it is simulated on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.simulation import campaigns
from analysis.simulation.campaigns import Design
from analysis.simulation.cases import agreeing, boards, checks, functions, preferred, shares
from analysis.simulation.cases.planning import planned
from analysis.simulation.cases.texts import texts
from analysis.simulation.panels import Asks, Judged, Raters
from analysis.simulation.trials import Estimator
from analysis.simulation.truths import Large, Scale, Share

CROSSED = "raters see every system"
NESTED = "each rater sees one system"
PANEL = "the same five raters in every campaign"
NEW = "five new raters in every campaign"
POOL = "raters drawn from a pool"
GAPS = 0.1
SCALES = ("system_score", "likert", "calibrated_score", "calibrated_score_learned", "ordinal_score")
CHANCE = 0.5


def intervals(design: Design) -> Iterator[Estimator]:
    """Yield what has an interval."""
    yield from _scales(replace(design, missing=GAPS))
    yield from _shares(design)
    yield from _agreement(replace(design, conversation_sd=1.0))
    yield from _preferences(design)
    yield from boards.intervals()
    yield from _raters(replace(design, conversation_sd=1.0))
    yield from texts(design)
    yield from _functions(design)
    yield from planned(design)


def _scales(design: Design) -> Iterator[Estimator]:
    nested = replace(design, raters_of_one=True)
    for name in SCALES:
        yield Estimator(name, CROSSED, campaigns.scale, design, Scale(name))
        yield Estimator(name, NESTED, campaigns.scale, nested, Scale(name))
    name = "standardized_score"
    yield Estimator(name, CROSSED, campaigns.scale, design, Large(campaigns.scale, name))


def _shares(design: Design) -> Iterator[Estimator]:
    nested = replace(design, raters_of_one=True)
    gaps, name = replace(design, missing=GAPS), "label_score"
    live = "labels while chatting"
    yield Estimator(name, f"{live}, {CROSSED}", campaigns.labels, gaps, Share(name))
    yield Estimator(name, f"{live}, {NESTED}", campaigns.labels, replace(nested, missing=GAPS),
                    Share(name))  # fmt: skip
    yield Estimator(name, f"votes on replies, {POOL}", campaigns.votes, gaps, Share(name))
    for static, wheres in ((False, (CROSSED, NESTED)), (True, (POOL,))):
        draw = shares.Labeled(static)
        for where in wheres:
            of = nested if where == NESTED else design
            scenario = f"{'votes on replies' if static else live}, {where}"
            yield Estimator(
                "ssa", scenario, draw, replace(of, base=1.0), Large(draw, "ssa", 10_000)
            )
    name, choices = "persona_detection", shares.detected
    for where, of in ((CROSSED, design), (NESTED, nested)):
        right = replace(of, base=0.8)
        yield Estimator(name, where, choices, right, Share(name, False), null=CHANCE)
    yield Estimator("nol", POOL, shares.likely, design, Large(shares.likely, "nol"))


ORDERED = ("krippendorff_alpha", "percent_agreement", "gwet_ac2", "icc")
UNORDERED = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement")
OF_PAIRS = ("cohen_kappa_quadratic", "cohen_kappa_linear")


def _agreement(design: Design) -> Iterator[Estimator]:
    rare = replace(design, base=-1.5, conversation_sd=2.0)
    panel: Raters = "panel"
    for raters, where in ((panel, PANEL), ("new", NEW), ("pool", POOL)):
        # What other people would agree on is known only from very many of them.
        among: Raters = panel if raters == panel else "pool"
        ordered = (*ORDERED, *OF_PAIRS) if raters == panel else ORDERED
        for name in ordered:
            varied = replace(design, missing=GAPS) if raters == "pool" else design
            yield Estimator(name, f"a scale, {where}", Judged(raters, "scale"), varied,
                            Large(Judged(among, "scale"), name))  # fmt: skip
        pooled = ("fleiss_kappa_generalized",) if raters == "pool" else ()
        for name in (*UNORDERED, *(("cohen_kappa",) if raters == panel else pooled)):
            varied = replace(rare, missing=GAPS) if name in pooled else rare
            yield Estimator(name, f"yes or no, {where}", Judged(raters, "yes"), varied,
                            Large(Judged(among, "yes"), name))  # fmt: skip


def _preferences(design: Design) -> Iterator[Estimator]:
    pairs, ranked = preferred.side_by_side, preferred.ranked
    for taste in (0.0, 0.5):
        scenario = "raters who like alike" if taste == 0 else "raters of unlike tastes"
        varied = replace(design, taste=taste)
        yield Estimator("win_rate", scenario, pairs, varied, Large(pairs, "win_rate"), null=CHANCE)
        for name, draw in (("bradley_terry", pairs), ("plackett_luce", ranked)):
            yield Estimator(name, scenario, draw, varied, Large(draw, name, 5000), null=0.0)
        yield Estimator("explanation_rank", scenario, ranked, varied,
                        Large(ranked, "explanation_rank"), null=CHANCE)  # fmt: skip
        for draw, where in ((ranked, "a judge a sample"), (preferred.judged, "three judges")):
            yield Estimator("rank_score", f"{scenario}, {where}", draw, varied,
                            Large(draw, "rank_score"), null=CHANCE)  # fmt: skip


def _raters(design: Design) -> Iterator[Estimator]:
    """Yield what the report rater_agreement has beside the metrics."""
    kinds: tuple[tuple[Asks, float], ...] = (("scale", 0.0), ("yes", -1.5))
    for asks, base in kinds:
        scale = "a scale" if asks == "scale" else "yes or no"
        draw = Judged("new", asks, fixed=True)
        for votes in (5, 10, 20):
            varied = replace(design, votes=votes, base=base)
            truth = Large(draw, "", measure=agreeing.coefficients, votes=500)
            yield Estimator("agreement over raters", f"{scale}, {votes} new raters, the same items",
                            draw, varied, truth, measure=agreeing.over_raters)  # fmt: skip
        draw = Judged("panel", asks)
        truth = Large(draw, "", measure=agreeing.coefficients)
        yield Estimator("Brennan-Prediger", f"{scale}, {PANEL}", draw, replace(design, base=base),
                        truth, measure=agreeing.over_items)  # fmt: skip


def _functions(design: Design) -> Iterator[Estimator]:
    few = replace(design, conversations=5)
    truth = functions.truth_of_pairs
    yield Estimator("correlation", "normal pairs", functions.pairs, design, truth,
                    measure=functions.correlations, null=0.0)  # fmt: skip
    drawn = checks.Scored(related=0.9)
    yield Estimator("correlation", "four replies to an example", drawn, design, drawn.truth,
                    measure=checks.of_scorers, null=0.0)  # fmt: skip
    yield Estimator("areas", "normal scores", functions.groups, design, functions.truth_of_groups,
                    measure=functions.areas)  # fmt: skip
    for level in (0.9, 0.95):
        scenario = f"clusters of five, {100 * level:.0f} %"
        yield Estimator("over_clusters", scenario, functions.clustered, design, functions.zero,
                        measure=functions.OfClusters(level), level=level)  # fmt: skip
    for share in (0.5, 0.1):
        yield Estimator("over_clusters", f"a share of {share:.0%} in clusters of five, 90 %",
                        functions.Marked(share), design, functions.Marked(share).truth,
                        measure=functions.OfClusters(0.9), level=0.9)  # fmt: skip
    yield Estimator("over_raters", "five of them", functions.clustered, few, functions.zero,
                    measure=functions.of_means)  # fmt: skip
