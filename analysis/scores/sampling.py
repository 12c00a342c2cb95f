"""Sampler of calibrated scores (`python -m analysis sample`), where no closed form is trusted.

The models are the authors' own (Kulikov et al. 2018, arXiv:1811.00907, section 4; as
`analysis.scores.calibration`) and the cumulative link model (as `analysis.scores.cumulative_link`),
drawn by NUTS (Hoffman & Gelman 2014, JMLR 15) of NumPyro, an optional extra. What has not converged
is refused: split r-hat must be below 1.01 and the effective sample size above 400 for every score
(Vehtari et al. 2021, Bayesian Analysis 16).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.arguments import sample as parser
from analysis.scores.cumulative_link import EFFECT_PRIOR_SD, PRIOR_SD
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import LEVEL, Floats
from analysis.tables.reading import read
from analysis.tables.schema import BadTable

NO_INTERVAL = "the posteriors of calibrated_score and ordinal_score, computed in another way"

R_HAT, ESS = 1.01, 400
CHAINS = 4


class Unconverged(ValueError):
    """Chains that do not agree, or too few effective draws: no posterior is given."""


class MissingExtra(ValueError):
    """The sampler is an optional extra, and not installed."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """Draws of every system's score, a column each, and how well the chains mixed."""

    systems: tuple[str, ...]
    draws: Floats
    r_hat: Floats
    ess: Floats

    @property
    def frame(self) -> pd.DataFrame:
        """A row per system: mean, SD, the middle 95 %, r-hat and effective sample size."""
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        columns = {
            "system": self.systems,
            "mean": self.draws.mean(axis=0),
            "sd": self.draws.std(axis=0),
            "low": low,
            "high": high,
            "r_hat": self.r_hat,
            "ess": self.ess,
        }
        return pd.DataFrame(columns).sort_values("mean", ascending=False, ignore_index=True)

    def wins(self, first: str, second: str) -> float:
        """Return P(first > second)."""
        a, b = (self.draws[:, self.systems.index(name)] for name in (first, second))
        return float((a > b).mean())


def sample(
    question: QuestionRatings, *, model: str = "published", draws: int = 1000, seed: int = 0
) -> Sampled:
    """Return so many draws of each of four chains.

    Raises `MissingExtra` without the sampler, and `Unconverged` rather than mislead.
    """
    if importlib.util.find_spec("numpyro") is None:
        raise MissingExtra("the sampler is not installed: pip install 'parley[sampler]'")
    systems, system = np.unique(question.rows["system"].astype(str), return_inverse=True)
    _, rater = np.unique(question.rows["rater"].astype(str), return_inverse=True)
    observed = _Observed(
        question.values, question.ends, system, rater, len(systems), int(rater.max()) + 1
    )
    chains = _run(_published if model == "published" else _ordinal, observed, draws, seed)
    return _checked(tuple(systems.tolist()), chains)


@dataclass(frozen=True, eq=False)
class _Observed:
    values: Floats
    ends: tuple[float, float]
    system: Any
    rater: Any
    systems: int
    raters: int


def _run(model: Callable[[_Observed], None], observed: _Observed, draws: int, seed: int) -> Floats:
    """Return draws [chain, draw, system]."""
    import jax
    from numpyro.infer import MCMC, NUTS

    mcmc = MCMC(
        NUTS(model),
        num_warmup=max(500, draws // 2),
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    mcmc.run(jax.random.PRNGKey(seed), observed)
    return np.asarray(mcmc.get_samples(group_by_chain=True)["score"], dtype=float)


def _published(observed: _Observed) -> None:
    import numpyro
    from numpyro import distributions as dist

    low, high = observed.ends
    with numpyro.plate("systems", observed.systems):
        center = numpyro.sample("center", dist.Uniform(low, high))
        score = numpyro.sample("score", dist.Normal(center, 1))
    with numpyro.plate("raters", observed.raters):
        bias = numpyro.sample("bias", dist.Normal(0, 1))
    mean = score[observed.system] + bias[observed.rater]
    numpyro.sample("rating", dist.Normal(mean, 1), obs=observed.values)


def _ordinal(observed: _Observed) -> None:
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist

    _, values = np.unique(observed.values, return_inverse=True)
    with numpyro.plate("systems", observed.systems):
        score = numpyro.sample("score", dist.Normal(0, PRIOR_SD))
    spread = numpyro.sample("spread", dist.HalfNormal(EFFECT_PRIOR_SD))
    with numpyro.plate("raters", observed.raters):
        bias = numpyro.sample("bias", dist.Normal(0, 1))
    gaps = numpyro.sample(
        "gaps", dist.ImproperUniform(dist.constraints.positive, (), (int(values.max()) - 1,))
    )
    cuts = jnp.concatenate([jnp.zeros(1), jnp.cumsum(gaps)])
    felt = score[observed.system] + spread * bias[observed.rater]
    numpyro.sample("rating", dist.OrderedLogistic(felt, cuts), obs=values)


def _checked(systems: tuple[str, ...], chains: Floats) -> Sampled:
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    r_hat = np.asarray(split_gelman_rubin(chains), dtype=float)
    ess = np.asarray(effective_sample_size(chains), dtype=float)
    bad = [
        f"{name} (r-hat {each:.3f}, ESS {size:.0f})"
        for name, each, size in zip(systems, r_hat, ess, strict=True)
        if not (each < R_HAT and size > ESS)
    ]
    if bad:
        raise Unconverged(
            f"not converged: {', '.join(bad)}; right would be r-hat below {R_HAT} and ESS above "
            f"{ESS}. Nothing is shown; ask for more --draws"
        )
    return Sampled(systems, chains.reshape(-1, len(systems)), r_hat, ess)


def main(arguments: Sequence[str]) -> int:
    """Print the posterior of each question; return 2 where it cannot be had."""
    options = parser().parse_args(arguments)
    warnings.filterwarnings("ignore", module="jax|numpyro")
    try:
        return _print(options)
    except (BadTable, Unconverged, MissingExtra, OSError) as refusal:
        print(refusal, file=sys.stderr)
        return 2


def _print(options: argparse.Namespace) -> int:
    ratings = read(options.file).ratings
    rated = [] if ratings is None else list(questions(ratings, "ordinal", "interval"))
    chosen = [one for one in rated if options.question in (None, one.question)]
    if not chosen:
        known = ", ".join(sorted({one.question for one in rated})) or "none"
        print(f"{options.file}: no such ordinal or interval question; there are: {known}",
              file=sys.stderr)  # fmt: skip
        return 2
    for one in chosen:
        found = sample(one, model=options.model, draws=options.draws, seed=options.seed)
        print(f"{one.protocol}, {one.question} ({options.model} model, NUTS):")
        print(found.frame.to_string(index=False, float_format=lambda value: f"{value:.3f}"))
    return 0
