"""The sampler and its gates on eight schools (Rubin 1981), against posteriordb's reference draws.

The model is not ours, the way it is drawn is: NUTS, four chains, refused unless they agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from analysis.scores import sampling
from tests.analysis.examples import shared
from tests.analysis.golden.figures import Compared

DRAWS = 4000
WATCHED = ("mu", "tau", "theta[1]", "theta[8]")
# Error of a mean of 10,000 reference draws and as many of ours, whose SDs are 3 to 6.
MAY = {"mean": 0.15, "sd": 0.2, "q05": 0.25, "q95": 0.4}


def compared() -> Iterator[Compared]:
    """Yield means, SDs and quantiles of the parameters that the reference has."""
    pytest.importorskip("numpyro", reason="the sampler is an optional extra")
    content = shared("calibration_golden", "other_expected.json").read_text(encoding="utf-8")
    schools = json.loads(content)["eight_schools"]
    found = sampling._checked(WATCHED, sampling._run(_schools, schools, DRAWS, 0))
    for name, reference in schools["reference"].items():
        drawn = found.draws[:, WATCHED.index(name)]
        ours = {"mean": drawn.mean(), "sd": drawn.std()}
        ours |= dict(zip(("q05", "q95"), np.quantile(drawn, [0.05, 0.95]), strict=True))
        for what, value in reference.items():
            yield Compared("eight schools", f"{what} of {name}", value, ours[what], MAY[what])


def _schools(given: Any) -> None:
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist

    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", 8):
        raised = numpyro.sample("raised", dist.Normal(0, 1))
    theta = mu + tau * raised
    numpyro.deterministic("score", jnp.stack([mu, tau, theta[0], theta[7]]))
    numpyro.sample("y", dist.Normal(theta, jnp.array(given["sigma"])), obs=jnp.array(given["y"]))
