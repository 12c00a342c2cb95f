"""Two speakers on their page: one is chosen, with a reason; known answers end it in silence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.services.judged import chats_campaign
from tests.webapp.services.rating.test_own_conversations import draft_of, opened, with_imports
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Campaign, Candidate, Rating

pytestmark = pytest.mark.django_db
CHAT = ["Hi!", "Hello.", "How are you?", "Well."]


def entered(campaign: Campaign) -> Visit:
    found = Visit(campaign)
    found.join()
    found.post("start")
    return found


def answered(person: Visit, best: str = "", reason: str = "Because.") -> dict[str, str]:
    """Return answers that prefer a system, or the first option."""
    fields = person.get().context["fields"]
    chosen = fields[0].answer.options[0].value
    keys = [option.value for option in fields[0].answer.options]
    if best:
        chosen = Candidate.objects.get(key__in=keys, system__name=best).key
    return {field.name: chosen if field is fields[0] else reason for field in fields}


def test_neither_is_no_answer_and_the_reason_has_to_be_written() -> None:
    person = entered(chats_campaign("acute_eval", {"good": [CHAT], "bad": [CHAT]}, votes=1))
    first, *reasons = person.get().context["fields"]
    assert len(first.answer.options) == 2, "no tie"
    assert reasons
    right = answered(person)
    wrong: list[dict[str, str]] = [{first.name: each} for each in ("neither", "", "0")]
    wrong += [{each.name: text} for each in reasons for text in ("", "  ", "a" * 1_001)]
    for changed in wrong:
        refused = person.post("rate", right | changed)
        assert refused.status_code == 422
        kept = {field.name: field.value for field in refused.context["fields"]}
        assert all(kept[name] == value for name, value in right.items() if name not in changed)
        assert not Rating.objects.exists()
        assert Assignment.objects.get().state == "RESERVED"
    taken = right | {each.name: "a" * 1_000 for each in reasons}
    assert person.post("rate", taken).context["screen"].end.code


def pages_of(campaign: Campaign, *controls: str) -> tuple[Visit, Any]:
    """Let somebody judge to the end, preferring these of the known pairs; return the last page."""
    person = entered(campaign)
    page, wanted = person.get(), list(controls)
    while page.context.get("fields"):
        page = person.post("rate", answered(person, wanted.pop(0) if wanted else ""))
    return person, page


@pytest.mark.parametrize("controls", [("weak", "weak"), ("person", "weak"), ("weak", "person")])
def test_who_misses_known_answers_is_stopped_and_reads_what_all_read(
    controls: tuple[str, str],
) -> None:
    campaign = opened(with_imports(draft_of(), "person", "weak", "good", "bad", count=3))
    person, page = pages_of(campaign, *controls)
    assert person.person.outcome == "ONBOARDING"
    assert person.person.assignments.filter(state="DONE").count() == 2
    other, last = pages_of(campaign, "person", "person")
    assert other.person.outcome == "COMPLETED"
    assert other.person.assignments.filter(state="DONE").count() == 5
    ends = [each.context["screen"].end for each in (page, last)]
    assert ends[0].heading == ends[1].heading == "You are done"
    assert ends[0].text == ends[1].text
    assert ends[0].code
    told = "\n".join(person.told).lower()
    assert not [word for word in ("known answer", "onboarding", "check_failed") if word in told]
