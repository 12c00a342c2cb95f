"""Planted quality of the demo's systems, and its check afterwards.

The qualities are far enough apart, and the ratings enough, that an honest run brings the order back
at least 199 times in 200; `manage.py demo --power N` simulates N runs to show it.
"""

from __future__ import annotations

from collections.abc import Mapping

from webapp.crowd.people import Mix, Quality

SCALES = ("fluency", "engagingness", "consistency")
EACH = 18  # people who get to talk to a system; some of them walk off
# People read and type about as fast as people can, so that the flags for haste mean what they mean
# in a study, and the demo is soon over; who does not care (`spam`) is quicker than that.
MIX = Mix(
    pause=0.05,
    slow=0.05,
    slow_pause=1.0,
    reading=1.5,
    letter=0.07,  # 170 words a minute
    answering=2.5,
    dropout=0.04,
    careless=0.03,
)

BEST, GOOD, FAIR, POOR = "profile-memory", "retrieval", "generic", "parrot"
KEY_VALUE = "key-value-memory"


def _quality(scales: tuple[float, float, float], shares: tuple[float, float, float]) -> Quality:
    return {
        **dict(zip(SCALES, scales, strict=True)),
        **dict(zip(("persona", "sensible", "specific"), shares, strict=True)),
    }


PLANTED: Mapping[str, Quality] = {
    BEST: _quality((4.5, 4.4, 4.5), (0.9, 0.9, 0.75)),
    KEY_VALUE: _quality((4.2, 4.1, 4.2), (0.85, 0.8, 0.6)),
    GOOD: _quality((3.6, 3.5, 3.6), (0.7, 0.65, 0.45)),
    FAIR: _quality((2.6, 2.5, 2.6), (0.5, 0.45, 0.1)),
    POOR: _quality((1.7, 1.6, 1.6), (0.4, 0.25, 0.15)),
}
RANKED = {name: PLANTED[name] for name in (BEST, GOOD, FAIR, POOR)}
