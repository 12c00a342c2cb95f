"""A process that dies at a statement, as by kill -9, and what a page may refuse."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


class Killed(BaseException):
    """The process died at this statement."""


@contextlib.contextmanager
def killed_after(statements: int) -> Iterator[None]:
    """Die at the statement of that number; 0: live on."""
    from django.db import connection

    if not statements:
        yield
        return
    left = [statements]

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0 and not sql.startswith("ROLLBACK"):  # which needs no living process
            raise Killed
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def refusals() -> tuple[type[Exception], ...]:
    """Return what a page answers to something that is not offered: nothing else may be raised."""
    from webapp.services.conversation import matching, opening
    from webapp.services.participation import consents
    from webapp.services.rating import labels
    from webapp.services.rules import access, events, states
    from webapp.services.rules.refusals import NotNow, Refused

    return (
        *(consents.Closed, consents.PayChanged, matching.NotWaiting, opening.NotMeeting),
        *(labels.LabelRefused, access.NotFound, events.Conflict, states.Illegal, NotNow, Refused),
    )
