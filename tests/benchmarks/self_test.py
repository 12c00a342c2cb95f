"""Coverage that the self-test measures, against the coverage of fresh campaigns of the same design.

`python -m tests.benchmarks.self_test [--tables 2] [--campaigns 100] [--moments]`: of each family of
`analysis.simulation.cases.crossing` (S1-S16, other scales) so many tables are drawn; each measures
its own coverage, which is set beside that of fresh campaigns by the family's own simulator: a line
per family has the mean over its tables, and the last lines how far off families and single tables
are. With --moments the families are drawn at sizes beyond the likelihood's 400 levels.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from analysis.scores.question_ratings import questions
from analysis.scores.system_scores import ScoredDesign, scored_design
from analysis.self_test.fitted import population
from analysis.self_test.trials import Needs, needs, of_campaign
from analysis.simulation.campaigns import Design
from analysis.simulation.cases.crossing import (
    CHAT,
    DESIGNS,
    DIFFERENCE,
    SCORE,
    Crossing,
    contexts,
    everyone,
    of_one,
    replies,
    uneven,
)
from analysis.stats.intervals import Floats

Family = tuple[Crossing, Mapping[str, float]]
LARGE: dict[str, Family] = {
    "S1, 450 raters": (Crossing(everyone), {"each": 450, "conversations": 450, **CHAT}),
    "S3, 500 raters of one system": (
        Crossing(of_one), {"each": 125, "conversations": 500, **CHAT}),
    "S5, 1 of 450 gives half": (
        Crossing(uneven), {"each": 450, "conversations": 500, **CHAT}),
    "S8, the same 5, 480 replies": (
        Crossing(replies), {"each": 5, "votes": 5, "conversations": 120}),
    "S9, 5 of 20, 480 replies": (
        Crossing(replies), {"each": 20, "votes": 5, "conversations": 120}),
    "S10, the same 3, 600 replies": (
        Crossing(replies),
        {"each": 3, "votes": 3, "conversations": 150, "conversation_sd": 0.8}),
    "S11, 410 contexts": (Crossing(contexts), {"each": 12, "votes": 3, "conversations": 410}),
    "S12, the same 3 with tastes, 600 replies": (
        Crossing(replies), {"each": 3, "votes": 3, "conversations": 150, "taste": 0.5}),
    "S13, the same 5 with tastes, 480 replies": (
        Crossing(replies), {"each": 5, "votes": 5, "conversations": 120, "taste": 0.5}),
}  # fmt: skip
HEAD = f"{'family':46} levels   scores: self fresh   pairs: self fresh   any Holm: self fresh"


def main() -> None:
    """Print a line per family, and how far off the self-test is over all."""
    options = _parser().parse_args()
    families = LARGE if options.moments else DESIGNS
    print(HEAD)
    gaps, of_tables = [], []
    for name, (draw, changes) in families.items():
        design = replace(Design(gap=0.0), **changes)  # type: ignore[arg-type]
        line = _line(name, draw, design, options)
        if line is not None:
            gaps.append(line.mean(axis=0))
            of_tables.append(line)
    print(f"{len(gaps)} families, {options.tables} tables each, {options.campaigns} campaigns each")
    _print_gaps("families", np.array(gaps))
    _print_gaps("tables", np.concatenate(of_tables))


def _print_gaps(what: str, found: Floats) -> None:
    """Print how far off the self-test is; `found` is [family or table, kind]."""
    for label, column in zip(("scores", "pairs", "any Holm"), found.T, strict=True):
        print(f"{label} of {len(column)} {what}: self-test less fresh, mean {column.mean():+.3f}, "
              f"root mean square {np.sqrt((column**2).mean()):.3f}, "
              f"largest {np.abs(column).max():.3f}")  # fmt: skip


def _line(name: str, draw: Crossing, design: Design, options: argparse.Namespace) -> Floats | None:
    """Print a family's line; return self-test less fresh [table, kind], None without intervals."""
    fresh = [each for each in _fresh(draw, design, options.campaigns) if each is not None]
    own = [_own(draw, design, options.campaigns, 10_000 + k) for k in range(options.tables)]
    known = [each for each in own if each is not None]
    if not known or not fresh:
        print(f"{name:46} no interval is printed", flush=True)
        return None
    true = _shares(*(np.array([each[k] for each in fresh]) for k in range(3)))
    found = np.array([_shares(each.scores, each.pairs, each.of_equal) for each in known])
    held, paired, wrong = found.mean(axis=0)
    levels = sum(_design(draw, design, 0)[0].incidence.levels)
    print(
        f"{name:46} {levels:6}    {held:12.3f} {true[0]:.3f}   {paired:11.3f} {true[1]:.3f}"
        f"   {wrong:14.3f} {true[2]:.3f}",
        flush=True,
    )
    return np.asarray(found - true)


def _shares(scores: Floats, pairs: Floats, of_equal: Floats) -> Floats:
    """Return coverage of scores and of differences, and the share with some Holm p below .05."""
    wrong = (of_equal > 1).any(axis=1).mean()
    return np.array([(scores <= 1).mean(), (pairs <= 1).mean(), wrong])


def _design(draw: Crossing, design: Design, seed: int) -> tuple[ScoredDesign, Floats]:
    table = draw(design, np.random.default_rng(seed))
    return scored_design(next(iter(questions(table, "ordinal", "nominal"))))


def _fresh(
    draw: Crossing, design: Design, campaigns: int
) -> Iterator[tuple[list[float], Floats, Floats] | None]:
    known = draw.truth(design)
    truth = np.array([known[SCORE, name] for name in design.names])
    assert [known[DIFFERENCE, name] for name in design.names] == truth.tolist()
    for seed in range(campaigns):
        prepared, values = _design(draw, design, seed)
        found = prepared.scores(values)
        yield None if found.fit is None else of_campaign(found, truth)


def _own(draw: Crossing, design: Design, campaigns: int, seed: int) -> Needs | None:
    prepared, values = _design(draw, design, seed)
    found = prepared.scores(values)
    if found.fit is None:
        return None
    of = population(prepared, values, found.fit)
    return needs(prepared, of, campaigns, np.random.default_rng(seed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2, help="of each family; default 2")
    parser.add_argument("--campaigns", type=int, default=100, help="default 100")
    parser.add_argument("--moments", action="store_true", help="sizes beyond 400 levels")
    return parser


if __name__ == "__main__":
    main()
