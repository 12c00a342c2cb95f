"""Options of a computation, and the refusal of unusable ones."""

from __future__ import annotations

TRAINING_NEEDED = (
    "needs the conversations that the systems learned from: give `training`, "
    "each conversation a list of messages"
)


class BadOption(ValueError):
    """An option that does not fit the table."""

    def __init__(self, option: str, value: str, right: str) -> None:
        self.option, self.value, self.right = option, value, right
        super().__init__(f"{option} is {value!r}; right would be {right}")
