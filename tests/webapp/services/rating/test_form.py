"""The form as it stands in front of a rater: own partner or others' messages, no names (S11)."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from tests.factories import make_campaign, make_participation
from tests.webapp.services.people import after, bot_says, conversation_of, pair, send_message, start
from webapp.models import Assignment, Conversation, Item, Participation, Persona, Seat
from webapp.services.conversation import chat
from webapp.services.rating import form, submission

pytestmark = pytest.mark.django_db


def shown(person: Participation) -> form.RatingForm:
    """Return the person's form, which there is."""
    found = form.of(person)
    assert found is not None
    return found


def chatted() -> Participation:
    """Return somebody who has chatted with a bot and is to rate it."""
    person = start(make_campaign())
    send_message(person, "I sail.")
    bot_says(conversation_of(person), "I read.")
    Conversation.objects.update(minimum=1)
    return chat.finish(person=person, client_id=uuid.uuid4(), now=after(9))


def test_nobody_has_a_form_before_there_is_something_to_judge() -> None:
    assert form.of(make_participation(make_campaign())) is None


def test_ones_own_conversation_is_shown_whole_with_both_sides_named() -> None:
    mine = shown(chatted())
    assert [(line.side, line.who, line.text, line.judged) for line in mine.lines] == [
        ("you", "You", "I sail.", False),
        ("partner", "Your partner", "I read.", False),
    ]
    assert not mine.of_context
    assert not mine.is_of_chats
    assert mine.replies == ()  # which are for several to compare
    assert (mine.number, mine.total) == (1, 1)
    assert [question.name for question in mine.rate.each] == [
        "fluency",
        "engagingness",
        "consistency",
        "persona",
    ]


def test_who_sat_on_the_other_side_sees_themselves_as_you() -> None:
    _, second = pair(
        make_campaign(
            "personachat_human", systems={"humans": "people"}, changes={"rate.sides": "both"}
        )
    )
    first = conversation_of(second).seats.get(side=0).participation
    assert first is not None
    send_message(first, "From the first.")
    send_message(second, "From the second.")
    Conversation.objects.update(minimum=1)
    chat.finish(person=second, client_id=uuid.uuid4(), now=after(9))
    for person, sides in ((first, ["you", "partner"]), (second, ["partner", "you"])):
        lines = shown(person).lines
        assert [line.side for line in lines] == sides
        assert [line.who for line in lines] == [
            "You" if side == "you" else "Your partner" for side in sides
        ]


def test_the_personas_to_choose_from_are_those_of_the_campaign() -> None:
    make_campaign()  # whose personas have the same keys
    person = chatted()
    make_campaign()
    Persona.objects.exclude(campaign=person.campaign).update(sentences=["Not this one."])
    mine = shown(person)
    keys = mine.shown.choices["persona"]
    assert set(mine.personas) == set(keys)
    assert len(keys) == 2
    for key, sentences in mine.personas.items():
        row = Persona.objects.get(campaign=person.campaign, key=key)
        assert sentences == tuple(row.sentences)


def test_personas_are_shown_in_the_form_that_the_partner_has_theirs() -> None:
    """Or the words would tell which one it is."""
    person = chatted()
    Seat.objects.filter(participation=None).update(persona_form="revised")
    personas = shown(person).personas
    assert len(personas) == 2
    for key, sentences in personas.items():
        assert sentences == tuple(Persona.objects.get(key=key).revised)


def test_what_was_typed_before_is_there_again() -> None:
    person = chatted()
    submission.save_draft(person=person, answers={"p.fluency": "2"}, now=after(20))
    assert shown(person).draft == {"p.fluency": "2"}


def test_the_count_of_a_batch_leaves_out_what_was_given_back_and_what_is_labeled_live() -> None:
    person = chatted()
    own = person.assignments.get()
    for place, (key, state) in enumerate(
        (("done", "DONE"), ("back", "RELEASED"), ("c1:1:live", "DONE"), ("next", "RESERVED"))
    ):
        item = Item.objects.create(
            campaign=person.campaign, key=key, conversation=own.item.conversation, target=5
        )
        Assignment.objects.create(item=item, participation=person, place=place, state=state)
    Assignment.objects.filter(pk=own.pk).update(place=2)
    stranger = make_participation(person.campaign)
    Assignment.objects.create(item=item, participation=stranger, place=0)
    earlier = Conversation.objects.create(
        campaign=person.campaign, system=person.campaign.systems.get(), seed=1, started_at=after(0)
    )
    item = Item.objects.create(campaign=person.campaign, key="e", conversation=earlier, target=1)
    Assignment.objects.create(item=item, participation=person, place=1, state="DONE")
    mine = shown(person)
    assert mine.total == 3
    assert mine.number == 2 + 0  # one done before it; what was given back stands nowhere


def test_without_a_conversation_there_is_no_persona_to_choose() -> None:
    person = chatted()
    assignment = submission.current(person)
    assert assignment is not None
    options = submission.shown_to(assignment)
    seats = list(Seat.objects.filter(conversation=conversation_of(person)))
    assert form._personas(person, [], options) == {}
    assert set(form._personas(person, seats, options)) == set(options.choices["persona"])


@pytest.mark.parametrize(("replies", "is_list"), [(9, False), (10, True), (11, True)])
def test_so_many_replies_are_a_list_whose_single_question_is_answered_by_keys(
    replies: int, is_list: bool
) -> None:
    found = shown(chatted())
    given = tuple(form.FormReply(key=f"r{n}", letter=str(n), text="Hi.") for n in range(replies))
    several = replace(found, replies=given)
    assert (several.is_list, several.steps) == (is_list, False)
    one = replace(several, rate=replace(found.rate, each=found.rate.each[:1]))
    assert (one.is_list, one.steps) == (is_list, is_list)
