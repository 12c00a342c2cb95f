"""Types of arguments that the commands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(least: int) -> Callable[[str], int]:
    """Return a type of argparse: a whole number, not below the least."""

    def read(raw: str) -> int:
        try:
            number = int(raw)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"is {raw!r}, but must be a whole number of {least} or more"
            )
        return number

    return read
