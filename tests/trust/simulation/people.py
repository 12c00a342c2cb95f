"""What people do, by the state of their page, and at times what it does not offer.

Each action keeps what the person was told; `comparing` holds the database to it.
"""

from __future__ import annotations

import contextlib
from typing import Any

from tests.trust.simulation.model import Action, Soul, World


def join(world: World, soul: Soul) -> None:
    from webapp.services.participation import enrolment

    world.campaign.refresh_from_db()
    person, soul.secret = enrolment.join(
        campaign=world.campaign,
        platform="invited" if soul.is_invited else "prolific",
        external_id=soul.name,
        language="en",
        now=world.now,
        browser=[soul.secret],
        is_proven=soul.is_invited or not soul.pk,
    )
    soul.pk, soul.pay = person.pk, max(soul.pay, person.pay)


def be_imitated(world: World, soul: Soul) -> None:
    """Let somebody claim a person's id from another browser: it opens nothing of theirs (R38)."""
    from webapp.services.participation import enrolment

    person, _ = enrolment.join(
        campaign=world.campaign,
        platform="invited" if soul.is_invited else "prolific",
        external_id=soul.name,
        language="en",
        now=world.now,
    )
    world.must(person.pk != soul.pk, f"{soul.name} was taken over by who knew the id")


def take(name: str) -> Action:
    def action(world: World, soul: Soul) -> None:
        from webapp.services.participation import visits

        visits.STEPS[name](person=world.person(soul), now=world.now)

    action.__name__ = name
    return action


def ask(world: World, soul: Soul) -> None:
    from webapp.services.participation import enrolment

    enrolment.status(person=world.person(soul), now=world.now)


def send(world: World, soul: Soul) -> None:
    from webapp.services.conversation import chat

    key, text = world.uuid(), f"{soul.name} says it."

    def once() -> None:
        event = chat.send_message(
            person=world.person(soul), client_id=key, text=text, now=world.now
        )
        lost = world.chance.random() < 0.1  # the acknowledgment: the browser sends it once more
        soul.again = once if lost or world.chance.random() < 0.05 else None
        if not lost:
            soul.sent[key] = (event.seq, text)

    soul.again = once
    once()


def label(world: World, soul: Soul) -> None:
    """Label what has no label yet, else change one label."""
    from webapp.models import Event
    from webapp.services.rules import access

    seat = access.seat(world.person(soul))
    rows = Event.objects.filter(
        conversation=seat.conversation_id, kind="message", side=1 - seat.side
    )
    events = list(rows.order_by("seq"))
    fresh = [event for event in events if event.seq not in soul.labeled]
    if events and not fresh:
        _label(world, soul, world.chance.choice(events), ("specific",))
    for event in fresh:
        _label(world, soul, event, ("sensible", "specific"))
        soul.labeled.add(event.seq)


def _label(world: World, soul: Soul, event: Any, questions: tuple[str, ...]) -> None:
    from webapp.services.conversation import chat
    from webapp.services.rating import items

    for question in questions:
        soul.revision += 1
        revision, value = soul.revision, world.chance.choice("11110")
        value = "1" if question == "sensible" else value
        is_late = world.chance.random() < 0.1  # an older answer that comes after this one
        about: dict[str, Any] = {"seq": event.seq, "question": question, "now": world.now}
        new: dict[str, Any] = {"client_id": world.uuid(), "value": value, "revision": revision}
        soul.tried.add((revision, question, int(value)))
        chat.label(person=world.person(soul), **new, **about)
        soul.labels[items.candidate_for(event).pk, question] = (revision, value)
        if is_late and question == "specific":
            old: dict[str, Any] = {"value": "0", "revision": max(1, revision - 1)}
            with contextlib.suppress(Exception):
                chat.label(person=world.person(soul), client_id=world.uuid(), **old, **about)


def finish(world: World, soul: Soul) -> None:
    from webapp.services.conversation import chat

    chat.finish(person=world.person(soul), client_id=world.uuid(), now=world.now)


def rate(world: World, soul: Soul) -> None:
    from webapp.services.rating import submission

    person = world.person(soul)
    assignment = submission.current(person)
    if assignment is None:
        return
    shown = submission.shown_to(assignment)
    fields = {
        f"{about}.{question.name}": question.form_field(shown).options
        for about, question in submission.rate_of(person).form_questions(shown)
    }
    answers = {name: str(world.chance.choice(options).value) for name, options in fields.items()}
    if world.chance.random() < 0.2:
        submission.save_draft(person=person, answers=answers, now=world.now)
        return
    code = submission.submit(person=person, answers=answers, now=world.now)
    soul.answers.append((assignment.pk, answers))
    if code is not None:
        world.must(soul.code in ("", code.code), f"{soul.name} got two codes")
        soul.code = code.code


BY_STATE: dict[str, tuple[Action, ...]] = {
    "READY": (*[take("start")] * 9, *[ask] * 2, take("stop")),
    "WAITING": (ask, ask, ask, ask, take("give-up"), take("stop")),
    "MATCHED": (take("meet"), take("meet"), take("meet"), ask),
    "CHATTING": (*[send] * 12, *[label] * 5, *[finish] * 8, ask, take("stop")),
    "RATING": (*[rate] * 9, take("stop")),
    "ENDED": (ask, join, take("code")),
    "ADMISSION": (ask,),
    "WRITING": (ask,),
}
ANYTHING: tuple[Action, ...] = (
    *(take(name) for name in ("start", "meet", "bot", "give-up", "code")),
    *(send, finish, rate, join, ask, be_imitated),
)
