"""Campaigns in which people write, and somebody who does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.factories import NOW, make_campaign, make_context, make_staff
from tests.webapp.services.people import join
from webapp.models import Campaign, Contribution, Participation
from webapp.services.campaign import launch, written_materials
from webapp.services.participation import enrolment
from webapp.services.writing import decisions, offering

SENTENCES = (
    "I am a vegetarian.",
    "I like swimming.",
    "My father used to work for Ford.",
    "My favorite band is Maroon5.",
    "I got a new job last month.",
)
REVISED = (
    "I never touch meat.",
    "The pool is my second home.",
    "My dad built cars.",
    "I sing along to pop songs.",
    "My office badge still shines.",
)


def draft_of(protocol: str, *, personas: int = 0, **changes: Any) -> Campaign:
    """Return a draft of a writing protocol, or of what uses its texts."""
    draft = make_campaign(
        protocol, state=Campaign.State.DRAFT, opened_at=None, personas=personas, changes=changes
    )
    if protocol != "personachat_bot":
        draft.systems.get().cell.delete()
        draft.systems.all().delete()
    draft.refresh_from_db()
    return draft


def opened(draft: Campaign) -> Campaign:
    return launch.launch(campaign=draft, by=make_staff(), now=NOW)


def of_personas(**changes: Any) -> Campaign:
    """Return an open campaign that wants three personas, one each of valid and test."""
    values = {"write.count": 3, "write.valid": 1, "write.test": 1}
    return opened(draft_of("personachat_personas", **values | changes))


def of_replies(**changes: Any) -> Campaign:
    """Return an open campaign with two contexts to reply to."""
    draft = draft_of("meena_replies", **{"write.batch": 2} | changes)
    for key in ("k1", "k2"):
        context = make_context(draft, key)
        type(context).objects.filter(pk=context.pk).update(messages=[f"What of {key}?"])
    return opened(draft)


def came(campaign: Campaign, name: str) -> Participation:
    """Return somebody who came to write and began."""
    return enrolment.start(person=join(campaign, name), now=NOW)


def fields(person: Participation) -> tuple[str, ...]:
    """Return the names of all fields of the person's current form."""
    assignment = offering.current(person)
    assert assignment is not None
    return offering.names(assignment, offering.write_of(person))


def filled(person: Participation, *texts: str) -> Mapping[str, str]:
    return dict(zip(fields(person), texts, strict=True))


def write(person: Participation, *texts: str) -> Contribution:
    """Send in the person's current form; of a revision one sentence after another."""
    answers = filled(person, *texts)
    assignment = offering.current(person)
    parts = [answers]
    if offering.write_of(person).one_by_one:
        parts = [{name: text} for name, text in answers.items()]
    for part in parts:
        offering.submit(person=person, answers=part, now=NOW)
    person.refresh_from_db()
    return Contribution.objects.get(assignment=assignment)


def accepted(campaign: Campaign, name: str, *texts: str) -> Contribution:
    """Let somebody come and write, and staff accept it."""
    row = write(came(campaign, name), *texts)
    decisions.accept(campaign=campaign, pks=[row.pk], by=make_staff(), now=NOW)
    row.refresh_from_db()
    return row


def used(source: Campaign, draft: Campaign) -> Campaign:
    """Take what was accepted in one campaign into the draft of another."""
    by = make_staff()
    written_materials.take(campaign=draft, source=str(source.pk), by=by, now=NOW)
    return draft
