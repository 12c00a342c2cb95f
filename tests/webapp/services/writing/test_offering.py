"""PC-P1, PC-P2, ME-P5: what people write is checked, kept, stored once and decided about."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from evaluation import InvalidAnswers
from tests.factories import NOW, make_staff
from tests.webapp.services.written import (
    REVISED,
    SENTENCES,
    accepted,
    came,
    draft_of,
    fields,
    filled,
    of_personas,
    of_replies,
    opened,
    used,
    write,
)
from webapp.models import Campaign, Contribution, Item, Participation
from webapp.services.conversation import allocation
from webapp.services.participation import consents, stopping
from webapp.services.rules import access
from webapp.services.writing import decisions, form, offering

pytestmark = pytest.mark.django_db
State = Contribution.State
TWO = ("I ran far today.", "She reads.")


def words(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count))


def test_five_sentences_are_stored_with_author_and_split() -> None:
    campaign = of_personas()
    person = came(campaign, "ann")
    row = write(person, *SENTENCES)
    assert row.texts == list(SENTENCES)
    assert row.assignment.participation == person
    assert row.assignment.item.split in ("train", "valid", "test")
    assert (row.state, person.state, person.outcome) == ("OFFERED", "ENDED", "COMPLETED")
    assert person.code.kind == "FULL"


def test_splits_are_drawn_before_anybody_writes_as_many_as_the_paper_has() -> None:
    campaign = opened(draft_of("personachat_personas"))
    counts = Counter(campaign.items.values_list("split", flat=True))
    assert counts == {"train": 955, "valid": 100, "test": 100}
    first = campaign.items.order_by("pk").values_list("split", flat=True)[:200]
    assert len(set(first)) == 3  # in an order that is drawn


@pytest.mark.parametrize("count", [2, 16])
def test_a_sentence_outside_the_limits_is_refused_by_its_field(count: int) -> None:
    person = came(of_personas(), "ann")
    texts = (*SENTENCES[:2], words(count), *SENTENCES[3:])
    with pytest.raises(InvalidAnswers) as refusal:
        write(person, *texts)
    about = f"Write 3 to 15 words; this sentence has {count} words."
    assert refusal.value.problems == {fields(person)[2]: about}
    assert not Contribution.objects.exists()


@pytest.mark.parametrize("count", [3, 15])
def test_a_sentence_at_the_limits_is_accepted(count: int) -> None:
    row = write(came(of_personas(), "ann"), *SENTENCES[:4], words(count))
    assert row.texts[4] == words(count)


def test_all_sentences_are_needed_and_no_two_alike() -> None:
    person = came(of_personas(), "ann")
    with pytest.raises(InvalidAnswers) as refusal:
        write(person, *SENTENCES[:3], SENTENCES[0], " ")
    names = fields(person)
    assert set(refusal.value.problems) == {names[3], names[4]}
    assert "stands there already" in refusal.value.problems[names[3]]


def test_a_repeat_stores_nothing_and_gives_the_same_code() -> None:
    person = came(of_personas(), "ann")
    answers = filled(person, *SENTENCES)
    first = offering.submit(person=person, answers=answers, now=NOW)
    again = offering.submit(person=person, answers=answers, now=NOW)
    assert first == again is not None
    assert Contribution.objects.count() == 1
    assert Item.objects.get(assignments__contribution__isnull=False).completed == 1


def test_a_form_of_the_batch_that_is_sent_again_does_not_fill_the_next() -> None:
    person = came(of_replies(), "ann")
    answers = filled(person, "It is fine.")
    for _ in range(2):
        assert offering.submit(person=person, answers=answers, now=NOW) is None
    assert Contribution.objects.count() == 1
    assert fields(person)[0] not in answers
    assert write(person, "So is this.").texts == ["So is this."]
    assert person.state == Participation.State.ENDED


def test_a_draft_is_kept_and_one_of_another_form_is_not() -> None:
    person = came(of_personas(), "ann")
    name = fields(person)[1]
    assert offering.save_draft(person=person, answers={name: "I like"}, now=NOW)
    assert not offering.save_draft(person=person, answers={"w0.1": "I like"}, now=NOW)
    found = form.of(person)
    assert found is not None
    assert found.draft == {name: "I like"}


# --- revisions --------------------------------------------------------------------------------


def revising(*texts: str) -> Campaign:
    source = of_personas(**{"write.sentences": len(texts)})
    accepted(source, "author", *texts)
    return opened(used(source, draft_of("personachat_revisions")))


def test_one_sentence_after_another_is_asked_for_with_the_count_left() -> None:
    person = came(revising(*SENTENCES), "ben")
    for number, text in enumerate(REVISED):
        found = form.of(person)
        assert found is not None
        assert [field.original for field in found.fields] == [SENTENCES[number]]
        assert [each.original for each in found.sentences] == list(SENTENCES)
        assert [each.text for each in found.sentences if each.text] == list(REVISED[:number])
        assert found.left == 4 - number
        answers = {found.fields[0].name: text}
        offering.submit(person=person, answers=answers, now=NOW)
        offering.submit(person=person, answers=answers, now=NOW)
    row = Contribution.objects.get(assignment__participation=person)
    assert row.texts == list(REVISED)
    assert [(pair.original, pair.text) for pair in decisions.pairs(row)] == list(
        zip(SENTENCES, REVISED, strict=True)
    )


def test_a_copied_word_is_named_until_there_is_none() -> None:
    person = came(revising("My father worked for Ford.", *SENTENCES[:1]), "ben")
    name = fields(person)[0]
    with pytest.raises(InvalidAnswers) as refusal:
        offering.submit(person=person, answers={name: "My dad was employed by Ford."}, now=NOW)
    assert "“ford”" in refusal.value.problems[name]
    good = {name: "My dad worked in the car industry"}
    assert offering.submit(person=person, answers=good, now=NOW) is None
    found = form.of(person)
    assert found is not None
    assert found.left == 0


def test_a_late_draft_does_not_change_a_sentence_that_was_sent() -> None:
    person = came(revising(*SENTENCES[:2]), "ben")
    first, second = fields(person)
    offering.submit(person=person, answers={first: REVISED[0]}, now=NOW)
    assert not offering.save_draft(person=person, answers={first: "Late."}, now=NOW)
    assert offering.save_draft(person=person, answers={second: "The po"}, now=NOW)
    found = form.of(person)
    assert found is not None
    assert found.draft[first] == REVISED[0]
    assert found.draft[second] == "The po"


def test_an_author_does_not_revise_and_somebody_new_does() -> None:
    campaign = revising(*SENTENCES)
    with pytest.raises(consents.Closed) as refusal:
        came(campaign, "author")
    assert refusal.value.notice == "wrote"
    assert came(campaign, "ben").state == Participation.State.WRITING


def test_an_unfinished_set_goes_back_to_the_queue() -> None:
    campaign = revising(*SENTENCES)
    person = came(campaign, "ben")
    offering.submit(person=person, answers={fields(person)[0]: REVISED[0]}, now=NOW)
    assert not allocation.has_capacity(campaign)
    stopping.give_away(person=person, now=NOW + timedelta(minutes=31))
    assert not Contribution.objects.filter(assignment__item__campaign=campaign).exists()
    assert form.of(came(campaign, "cem")) is not None


# --- decisions --------------------------------------------------------------------------------


def test_what_is_refused_is_asked_of_somebody_else_and_pay_stays() -> None:
    campaign = of_personas(**{"write.count": 1, "write.valid": 0, "write.test": 0})
    row = write(came(campaign, "ann"), *SENTENCES)
    assert not allocation.has_capacity(campaign)
    assert not allocation.is_complete(campaign)  # until somebody has read it
    by = make_staff()
    for _ in range(2):
        decisions.refuse(campaign=campaign, pks=[row.pk], reason="Copied.", by=by, now=NOW)
    row.refresh_from_db()
    assert (row.state, row.reason) == (State.REFUSED, "Copied.")
    assert row.assignment.participation.code.kind == "FULL"
    assert allocation.has_capacity(campaign)
    accepted(campaign, "ben", *REVISED)
    assert allocation.is_complete(campaign)


def test_automatic_review_accepts_at_once() -> None:
    campaign = of_personas(**{"write.review": "automatic"})
    assert write(came(campaign, "ann"), *SENTENCES).state == State.ACCEPTED


def test_contributions_of_another_campaign_are_not_found() -> None:
    row = write(came(of_personas(), "ann"), *SENTENCES)
    with pytest.raises(access.NotFound):
        decisions.accept(campaign=of_personas(), pks=[row.pk], by=make_staff(), now=NOW)
    row.refresh_from_db()
    assert row.state == State.OFFERED
