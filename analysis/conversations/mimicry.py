"""Length of people's messages beside that of the system's message before it.

ConvAI2 (Dinan et al. 2019, section 3.2.3) takes the length of what people write for a sign of their
engagement, and asks whether they only mimic the bot's. The measure is ours. With h words in a
person's message and b in the system's message just before it (tokens of `split`), means being the
conversation's, mimicry is the slope within conversations, Σ(b - b̄)(h - h̄) / Σ(b - b̄)²: what a
word more of the system adds to the answer, whoever writes long or short. Without mimicry, a
system's h is as if all systems wrote equally long: h̄_s - β(b̄_s - b̄), β over all systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.conversations.transcripts import OWN, placed
from analysis.stats.clustering import Codes, Error, codes, error_of_ratio
from analysis.stats.intervals import Floats
from analysis.tables.schema import MessageTable
from analysis.text.tokens import Tokenizer, split

SIMULATED_AS = ("human_length",)


@dataclass(frozen=True, eq=False)
class HumanAnswers:
    """Every person's message that follows one of the system: words of both, conversation, system.

    `x` and `y` are b and h less their conversation's means.
    """

    system: np.ndarray
    conversation: Codes
    b: Floats
    h: Floats

    @property
    def x(self) -> Floats:
        return self.b - _means(self.b, self.conversation)

    @property
    def y(self) -> Floats:
        return self.h - _means(self.h, self.conversation)

    def of(self, system: str) -> HumanAnswers:
        """Return those to one system."""
        own = self.system == system
        return HumanAnswers(
            self.system[own], codes(self.conversation[own]), self.b[own], self.h[own]
        )

    def slope(self) -> float:
        """Return β; NaN where no conversation's system varies in length."""
        x, y = self.x, self.y
        below = float((x**2).sum())
        return float((x * y).sum()) / below if below > 1e-9 else float("nan")

    def slope_error(self) -> Error:
        """Return the error of β, clustered by conversation."""
        x, y = self.x, self.y
        return error_of_ratio(x * y, x**2, self.conversation)


def answers(messages: MessageTable, tokens: Tokenizer = split) -> HumanAnswers:
    """Return the answers of people; a message after one of their own is none."""
    table = placed(messages)
    words = np.array([len(tokens(text)) for text in table["text"]], dtype=float)
    same = (table["conversation"] == table["conversation"].shift()).to_numpy()
    own = (table["question"] == OWN).to_numpy()
    after = same & ~own & np.roll(own, 1)
    after[:1] = False
    at = np.flatnonzero(after)
    found = pd.DataFrame(
        {
            "system": table["about"].to_numpy()[at].astype(str),
            "conversation": table["conversation"].to_numpy()[at].astype(str),
            "b": words[at - 1],
            "h": words[at],
        }
    )
    # Names of conversations must not decide the order of sums.
    found["key"] = found.groupby("conversation")["h"].transform("sum")
    found = found.sort_values(["system", "key", "h", "b"], kind="stable")
    return HumanAnswers(
        found["system"].to_numpy(dtype=object),
        codes(found["conversation"]),
        found["b"].to_numpy(dtype=float),
        found["h"].to_numpy(dtype=float),
    )


def per_conversation(messages: MessageTable, tokens: Tokenizer = split) -> pd.DataFrame:
    """Return β of each conversation with three answers or more to messages of different length."""
    found = answers(messages, tokens)
    table = pd.DataFrame(
        {"system": found.system, "conversation": found.conversation}
        | {"xy": found.x * found.y, "xx": found.x**2, "answers": 1.0}
    )
    sums = table.groupby(["system", "conversation"], sort=False).sum().reset_index()
    kept = sums[(sums["answers"] >= 3) & (sums["xx"] > 1e-9)]
    slopes = kept["xy"] / kept["xx"]
    return kept.assign(slope=slopes)[["system", "slope", "answers"]].reset_index(drop=True)


def without_mimicry(every: HumanAnswers, system: str) -> tuple[float, Error]:
    """Return a system's mean h without mimicry, and its error by linearization over conversations.

    β, b̄_s and b̄ are estimates too: each conversation's influence on all of them is counted.
    """
    beta, own = every.slope(), every.system == system
    b, h, mean_b = every.b, every.h, float(every.b.mean())
    own_b, own_h = float(b[own].mean()), float(h[own].mean())
    x, y = every.x, every.y
    gap = own_b - mean_b
    influence = np.where(own, (h - own_h) - beta * (b - own_b), 0.0) / int(own.sum())
    influence += beta * (b - mean_b) / len(b) - gap * x * (y - beta * x) / float((x**2).sum())
    sums = np.bincount(every.conversation, weights=influence)
    units = len(np.unique(every.conversation[own]))
    several = len(sums)
    se = float(np.sqrt(several / max(several - 1, 1) * (sums**2).sum()))
    return own_h - beta * gap, Error(se, float(units - 1), units)


def _means(values: Floats, by: Codes) -> Floats:
    if not len(values):
        return values
    return np.asarray((np.bincount(by, weights=values) / np.bincount(by))[by], dtype=float)
