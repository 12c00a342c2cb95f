"""What people wrote, used in other campaigns, and emptied everywhere when they withdraw."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import NOW, make_staff, make_system
from tests.webapp.services.people import join
from tests.webapp.services.written import (
    REVISED,
    SENTENCES,
    accepted,
    came,
    draft_of,
    of_personas,
    of_replies,
    opened,
    used,
    write,
)
from webapp.models import (
    Assignment,
    Campaign,
    Contribution,
    Conversation,
    Event,
    Participation,
    Persona,
)
from webapp.services.campaign import checklist, written_materials
from webapp.services.conversation import allocation
from webapp.services.data import tables
from webapp.services.monitoring import review
from webapp.services.monitoring.review import Reviewed
from webapp.services.participation import consents, enrolment, privacy
from webapp.services.rating import form, submission
from webapp.services.rules import persona_stack
from webapp.services.staff_forms.fields import Invalid
from webapp.services.writing import decisions

pytestmark = pytest.mark.django_db


def withdraw(row: Contribution) -> None:
    privacy.withdraw(token=privacy.withdraw_token(row.assignment.participation), now=NOW)


def revised_pool() -> tuple[Contribution, Contribution, Campaign]:
    """Return a persona, its revision by somebody else, and the draft that has taken both."""
    source = of_personas()
    original = accepted(source, "ann", *SENTENCES)
    revising = opened(used(source, draft_of("personachat_revisions")))
    revision = accepted(revising, "ben", *REVISED)
    return original, revision, used(revising, draft_of("personachat_bot"))


def judging(replies: Campaign) -> Campaign:
    """Return an open campaign that judges the replies of people alone."""
    draft = used(replies, draft_of("meena_static", **{"rate.votes": 1, "rate.batch": 5}))
    return opened(draft)


def test_accepted_personas_are_taken_with_their_splits_and_a_repeat_adds_the_rest() -> None:
    source, draft = of_personas(), draft_of("personachat_bot")
    rows = [accepted(source, name, *SENTENCES[:4], f"I am {name} today.") for name in ("a", "b")]
    write(came(source, "c"), *SENTENCES[:4], "Nobody has read this.")
    for _ in range(2):
        used(source, draft)
    assert {(each.written, tuple(each.sentences), each.split) for each in draft.personas.all()} == {
        (row, tuple(row.texts), row.assignment.item.split) for row in rows
    }
    (found,) = written_materials.sources(campaign=draft, user=make_staff())
    assert (found.campaign, found.accepted, found.left) == (source, 2, 0)


def test_a_persona_keeps_its_split_and_gets_its_revision_beside_it() -> None:
    original, revision, draft = revised_pool()
    (persona,) = draft.personas.all()
    assert (persona.sentences, persona.revised) == (original.texts, revision.texts)
    assert (persona.written, persona.reworded) == (original, revision)
    assert persona.split == original.assignment.item.split


def test_a_pool_that_has_the_originals_is_given_the_revisions() -> None:
    source, draft = of_personas(), draft_of("personachat_bot")
    accepted(source, "ann", *SENTENCES)
    used(source, draft)
    revising = opened(used(source, draft_of("personachat_revisions")))
    accepted(revising, "ben", *REVISED)
    used(revising, draft)
    assert [each.revised for each in draft.personas.all()] == [list(REVISED)]


def test_imported_personas_are_revised_too_and_nobody_is_kept_out() -> None:
    campaign = opened(draft_of("personachat_revisions", personas=2))
    assert campaign.items.count() == 2
    person = enrolment.start(person=join(campaign, "ann"), now=NOW)
    assert person.state == Participation.State.WRITING


def test_what_a_reviewer_set_aside_is_not_taken() -> None:
    source = of_personas()
    row = accepted(source, "ann", *SENTENCES)
    one = Reviewed("participation", source, row.assignment.participation_id)
    review.exclude(row=one, by=make_staff(), reason="copied", now=NOW)
    (found,) = written_materials.sources(campaign=draft_of("personachat_bot"), user=make_staff())
    assert found.accepted == 0


def test_replies_are_those_of_the_system_human_and_can_be_judged() -> None:
    source = of_replies(**{"write.batch": 1})
    rows = [accepted(source, name, f"Very well, says {name}.") for name in ("ann", "ben")]
    campaign = judging(source)
    (system,) = campaign.systems.all()
    assert (system.name, system.bot) == ("human", "imported")
    rater = enrolment.start(person=join(campaign, "cem"), now=NOW)
    shown = form.of(rater)
    assert shown is not None
    assert shown.lines[-1].text in {row.texts[0] for row in rows}
    assert shown.lines[0].text.startswith("What of")
    answers = {f"{shown.shown.candidates[0]}.{name}": "1" for name in ("sensible", "specific")}
    submission.submit(person=rater, answers=answers, now=NOW)
    assert set(tables.ratings(campaign, include_excluded=True)["system"]) == {"human"}


def test_who_wrote_a_reply_does_not_judge_it() -> None:
    source = of_replies()
    accepted(source, "ann", "Very well.")
    with pytest.raises(consents.Closed) as refusal:
        join(judging(source), "ann")
    assert refusal.value.notice == "wrote"


def test_a_bot_that_is_called_human_is_named() -> None:
    source, draft = of_replies(), draft_of("meena_static")
    accepted(source, "ann", "Very well.")
    make_system(draft, "human")
    with pytest.raises(Invalid, match="a bot is called"):
        used(source, draft)
    assert not draft.contexts.exists()


def test_a_campaign_that_is_not_listed_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="“99”"):
        written_materials.take(
            campaign=draft_of("personachat_bot"), source="99", by=make_staff(), now=NOW
        )


def test_a_writing_campaign_needs_something_to_write_about() -> None:
    for protocol in ("personachat_revisions", "meena_replies"):
        red = [each for each in checklist.checklist(draft_of(protocol), NOW) if not each.ok]
        assert [each.where for each in red] == [
            {"personachat_revisions": "personas", "meena_replies": "contexts"}[protocol]
        ]


# --- withdrawal -------------------------------------------------------------------------------


def everywhere(text: str) -> list[Any]:
    """Return what of the database has a text in it."""
    found: list[Any] = [row for row in Contribution.objects.all() if text in str(row.texts)]
    found += [row for row in Persona.objects.all() if text in str([row.sentences, row.revised])]
    found += [row for row in Event.objects.all() if text in str(row.content)]
    return found + [row for row in Assignment.objects.all() if text in str(row.draft)]


def test_who_withdraws_takes_the_sentences_out_of_every_pool() -> None:
    original, revision, draft = revised_pool()
    assert len(everywhere(SENTENCES[0])) == 3
    withdraw(original)
    assert everywhere(SENTENCES[0]) == []
    split = draft.personas.get().split
    with pytest.raises(persona_stack.NoneLeft):
        persona_stack.pop(campaign=draft, split=split, seed=1)
    revision.refresh_from_db()
    assert revision.texts == list(REVISED)  # somebody else's


def test_a_revision_that_is_withdrawn_leaves_the_original() -> None:
    _, revision, draft = revised_pool()
    withdraw(revision)
    assert everywhere(REVISED[0]) == []
    (persona,) = draft.personas.all()
    assert (persona.sentences, persona.revised, persona.reworded) == (list(SENTENCES), [], None)
    Campaign.objects.filter(pk=draft.pk).update(changes={"chat.form": "revised"})
    draft.refresh_from_db()
    with pytest.raises(persona_stack.NoneLeft):
        persona_stack.pop(campaign=draft, split=persona.split, seed=1)


def test_a_reply_that_is_withdrawn_is_judged_no_more() -> None:
    source = of_replies()
    row = accepted(source, "ann", "Very well indeed.")
    campaign = judging(source)
    rater = enrolment.start(person=join(campaign, "cem"), now=NOW)
    withdraw(row)
    assert everywhere("Very well indeed.") == []
    rater.refresh_from_db()
    assert (rater.state, rater.outcome) == ("ENDED", "COMPLETED")
    assert not allocation.has_capacity(campaign)
    reply = Conversation.objects.get(campaign=campaign)
    assert reply.excluded == "withdrawn"
    assert "Very well" not in str(tables.messages(campaign)["text"].tolist())


def test_who_revises_what_is_withdrawn_meanwhile_is_done() -> None:
    source = of_personas()
    row = accepted(source, "ann", *SENTENCES)
    campaign = opened(used(source, draft_of("personachat_revisions")))
    person = came(campaign, "ben")
    withdraw(row)
    person.refresh_from_db()
    assert (person.state, person.outcome, person.code.kind) == ("ENDED", "COMPLETED", "FULL")
    assert not allocation.has_capacity(campaign)


@pytest.mark.parametrize("state", ["OFFERED", "ACCEPTED", "REFUSED"])
def test_a_withdrawn_contribution_is_asked_of_somebody_else_once(state: str) -> None:
    campaign = of_personas(**{"write.count": 1, "write.valid": 0, "write.test": 0})
    row = write(came(campaign, "ann"), *SENTENCES)
    change: dict[str, Any] = {"campaign": campaign, "pks": [row.pk], "by": make_staff(), "now": NOW}
    if state == "ACCEPTED":
        decisions.accept(**change)
    if state == "REFUSED":
        decisions.refuse(reason="Copied.", **change)
        write(came(campaign, "ben"), *REVISED)
    withdraw(row)
    assert campaign.items.get().completed == int(state == "REFUSED")  # somebody else's
