"""Calibrated scores: time, memory and effective draws a second, against NumPyro.

    python -m tests.benchmarks.calibration [--ratings 10000 100000 1000000] [--rounds 3]

10 systems, ten ratings a rater. The authors' model (Kulikov et al. 2018): our sampler with raters
integrated out, from the rows of the table to the posterior, against NUTS of NumPyro with their
defaults, 100 draws of warm-up and 150 kept; its compiling is left out of its time. Draws are worth
what numpyro.diagnostics says of the worst system. The second pair is the closed form with learned
variances against statsmodels' mixed model. Asked: 50 times NumPyro's effective draws a second, the
same posterior; a million ratings in less than 2 s.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from analysis.scores import calibration
from analysis.scores.question_ratings import QuestionRatings
from analysis.scores.severity import fit, flat_scores, sums
from tests.benchmarks.side_by_side import Answer, Pair, Task, main

SYSTEMS, EACH = 10, 10
ENDS = (1.0, 4.0)
WARM_UP, DRAWS = 100, 150


def asked(ratings: int) -> QuestionRatings:
    """Return answers of the model itself, rounded to nothing, within no ends."""
    chance = np.random.default_rng(0)
    raters = max(2, ratings // EACH)
    system, rater = chance.integers(SYSTEMS, size=ratings), np.arange(ratings) % raters
    score, severity = np.linspace(1.5, 3.5, SYSTEMS), chance.normal(size=raters)
    value = score[system] + severity[rater] + chance.normal(size=ratings)
    names = {"system": "s", "rater": "r"}
    codes = {"system": system, "rater": rater}
    rows = pd.DataFrame({k: names[k] + pd.Series(codes[k]).astype("str") for k in names})
    rows = rows.assign(value=value, scale_low=ENDS[0], scale_high=ENDS[1])
    return QuestionRatings("p", "q", "interval", rows)


def ours(ratings: int) -> Task:
    given = asked(ratings)

    def task() -> Answer:
        found = calibration.posterior(given, seed=0)
        order = np.argsort(found.sums.systems)
        return {"mean": found.mean[order].tolist(), "sd": found.sd[order].tolist()}

    def timed() -> Answer:
        started = time.process_time()
        answer = task()
        answer["seconds"] = [time.process_time() - started]
        return answer | {"ess": [_worth(given)]}

    return timed


def _worth(given: QuestionRatings) -> float:
    """Return the effective draws behind the posterior: the same chains, drawn once more."""
    from numpyro.diagnostics import effective_sample_size

    gibbs = calibration._Gibbs(flat_scores(sums(given)), given.ends, np.random.default_rng(0))
    scores = gibbs.run().scores
    chains = scores.reshape(calibration.KEPT, -1, scores.shape[1]).transpose(1, 0, 2)
    return float(effective_sample_size(chains).min())


def numpyro(ratings: int) -> Task:
    import jax
    from numpyro.diagnostics import effective_sample_size
    from numpyro.infer import MCMC, NUTS

    from analysis.scores import sampling

    rows = asked(ratings)
    system, names = pd.factorize(rows.rows["system"], sort=True)
    rater, raters = pd.factorize(rows.rows["rater"])
    given = sampling._Observed(rows.values, ENDS, system, rater, len(names), len(raters))
    kernel = NUTS(sampling._published, step_size=0.1)
    mcmc = MCMC(kernel, num_warmup=WARM_UP, num_samples=DRAWS, progress_bar=False)

    def task() -> Answer:
        mcmc.warmup(jax.random.PRNGKey(0), given)
        started = time.process_time()
        mcmc.run(jax.random.PRNGKey(1), given)
        drawn = np.asarray(mcmc.get_samples(group_by_chain=True)["score"], dtype=float)
        # Warmed up already, so this run was the draws; the warm-up's share is added.
        seconds = (time.process_time() - started) * (WARM_UP + DRAWS) / DRAWS
        ess = float(effective_sample_size(drawn).min())
        flat = drawn.reshape(-1, drawn.shape[-1])
        answer = {"mean": flat.mean(axis=0).tolist(), "sd": flat.std(axis=0).tolist()}
        return answer | {"ess": [ess], "seconds": [seconds]}

    return task


def worth(one: Answer, other: Answer) -> str:
    """Tell effective draws, and how far means are apart in errors of NumPyro's."""
    error = np.array(other["sd"]) / np.sqrt(max(other["ess"][0], 1.0))
    gap = np.abs(np.array(one["mean"]) - np.array(other["mean"])) / error
    spread = np.abs(np.array(one["sd"]) / np.array(other["sd"]) - 1).max()
    rates = [each["ess"][0] / each["seconds"][0] for each in (one, other)]
    return (
        f"{rates[0]:,.0f} effective draws/s against {rates[1]:,.1f}: {rates[0] / rates[1]:,.0f} "
        f"times; means at most {gap.max():.1f} of its errors apart, SDs {spread:.0%}"
    )


def learned(ratings: int) -> Task:
    given = asked(ratings)

    def task() -> Answer:
        found = fit(sums(given))
        assert found is not None
        return {"severity": [found.severity], "residual": [found.residual]}

    return task


def statsmodels(ratings: int) -> Task:
    from statsmodels.regression.mixed_linear_model import MixedLM

    given = asked(ratings)
    design = pd.get_dummies(given.rows["system"]).to_numpy(dtype=float)
    model = MixedLM(given.values, design, groups=given.rows["rater"].to_numpy())

    def task() -> Answer:
        found = model.fit()
        severity = float(np.sqrt(np.asarray(found.cov_re)[0, 0]))
        return {"severity": [severity], "residual": [float(np.sqrt(found.scale))]}

    return task


def variances(one: Answer, other: Answer) -> str:
    gaps = [abs(one[name][0] - other[name][0]) for name in ("severity", "residual")]
    return f"SDs of raters and noise {max(gaps):.1e} apart"


PAIRS = {
    "the authors' model": Pair(ours, numpyro, "NumPyro", worth),
    "variances learned": Pair(learned, statsmodels, "statsmodels", variances),
}

if __name__ == "__main__":
    main(__spec__.name, PAIRS, __doc__)
