"""A part of the pay as a percentage of the panel's reward, where a study is made with such a code.

Source: Prolific's public API reference, a completion code's action DYNAMIC_PAYMENT by a researcher,
and `percentage_of_reward` of a submission's transition, 8 to 99. How a percentage is rounded to
cents is not documented, so only those are asked for that are whole cents; the rest is a bonus.
Apart because it is arithmetic of an API's limits, and no rule of what is owed.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST, MOST = 8, 99  # percent that the panel takes


@dataclass(frozen=True)
class RewardPart:
    """A percentage of a reward, and the cents that it is."""

    percentage: int
    cents: int


def part_of(reward: int, due: int) -> RewardPart | None:
    """Return the largest part of a reward that is not above what is due; both in cents.

    None where no percentage that the panel takes is a whole number of cents.
    """
    for percentage in range(min(MOST, due * 100 // reward), LEAST - 1, -1):
        cents, rest = divmod(reward * percentage, 100)
        if not rest:
            return RewardPart(percentage, cents)
    return None
