"""A browser that waits for results; apart because what computes them is loaded with it."""

from __future__ import annotations

from typing import Any

from django.test import Client

from webapp.models import StoredResult
from webapp.services.results import computing


class Patient(Client):
    """A browser of staff that waits: what its page wants computed is, and it looks again.

    The computation is the one that a server's child runs, here in the process of the test.
    """

    def get(self, *args: Any, **options: Any) -> Any:
        answer = super().get(*args, **options)
        wanted = StoredResult.objects.filter(wanted_at__isnull=False)
        if subjects := set(wanted.values_list("subject", flat=True)):
            for subject in subjects:
                computing.compute_wanted(subject)
            answer = super().get(*args, **options)
        return answer
