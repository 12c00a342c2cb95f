"""Pseudonyms and withdrawal: the words go, the pay stays (S14, R21, G21).

Long because each kind of row that a withdrawal touches has a test.
"""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.core import serializers, signing
from django.db import connection
from pytest_django import Settings

from tests.factories import NOW, make_campaign, make_participation, make_staff
from tests.webapp.services import rated, written
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    send_message,
    start,
)
from tests.webapp.services.third import came, chatted, labeling
from tests.webapp.services.written import of_replies, write
from webapp.models import (
    AdmissionTry,
    Assignment,
    AuditEntry,
    Campaign,
    CompletionCode,
    Conversation,
    Event,
    ExternalId,
    Flag,
    Item,
    Participation,
    Persona,
    ProblemReport,
    QuotaCell,
    Rating,
    Receipt,
    ReplyCall,
    ReplyJob,
    ServiceCall,
    StoredResult,
)
from webapp.services.conversation import chat
from webapp.services.ops import sweeper
from webapp.services.participation import enrolment, privacy, stopping, study_info
from webapp.services.rating import submission
from webapp.services.rules import access, events, identity, payment, refusals
from webapp.services.writing import decisions

pytestmark = pytest.mark.django_db
CANARY = "canary-4711"


def everything() -> str:
    """Every row of the application as text."""
    models = apps.get_app_config("webapp").get_models()
    return json.dumps(
        [serializers.serialize("json", model._default_manager.all()) for model in models]
    )


def test_a_pseudonym_depends_on_the_key_the_campaign_the_platform_and_the_id() -> None:
    first, second = make_campaign(), make_campaign()
    names = [
        identity.pseudonym(first, "mturk", "A1"),
        identity.pseudonym(second, "mturk", "A1"),
        identity.pseudonym(first, "prolific", "A1"),
        identity.pseudonym(first, "mturk", "A2"),
        identity.pseudonym(first, "mturk", "A1", "another key"),
    ]
    assert len(set(names)) == 5
    assert identity.pseudonym(first, "mturk", "A1") == names[0]


def test_old_links_stay_valid_after_the_key_was_changed(settings: Settings) -> None:
    campaign = make_campaign()
    person = join(campaign, "A1")
    token = privacy.withdraw_token(person)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next key, long enough to be one " * 2
    assert join(campaign, "A1") == person
    assert privacy.holder(token) == person
    assert join(campaign, "A2").pseudonym == identity.pseudonym(campaign, "prolific", "A2")


@pytest.mark.parametrize("token", ["", "1", "x:y:z"])
def test_a_link_that_was_not_signed_here_is_refused(token: str) -> None:
    with pytest.raises(privacy.BadToken):
        privacy.withdraw(token=token, now=NOW)


def finished() -> tuple[Participation, CompletionCode]:
    """Return somebody who chatted with a parrot, rated it and was paid."""
    campaign = make_campaign()
    person = start(campaign, CANARY)
    conversation = conversation_of(person)
    send_message(person, f"I am {CANARY}")
    conversation.refresh_from_db()
    bot_says(conversation, f"you are {CANARY}")
    with pytest.raises(refusals.Refused):
        send_message(person, f"{CANARY} " * 20)
    type(conversation).objects.filter(pk=conversation.pk).update(minimum=1)
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(9))
    partner = conversation.seats.get(side=1).persona
    assert partner is not None
    answers = dict.fromkeys(("p.fluency", "p.engagingness", "p.consistency"), "3")
    code = submission.submit(
        person=person, answers=answers | {"p.persona": partner.key}, now=after(99)
    )
    assert code is not None
    return person, code


def test_withdrawing_deletes_every_word_and_leaves_the_pay() -> None:
    person, code = finished()
    assert CANARY in everything()
    withdrawn = privacy.withdraw(token=privacy.withdraw_token(person), now=after(200))
    assert CANARY not in everything()
    assert withdrawn.code == code
    assert withdrawn.person.withdrawn_at == after(200)
    assert not Rating.objects.exists()
    assert not ExternalId.objects.exists()
    cell = QuotaCell.objects.get()
    assert (cell.completed, cell.reserved) == (0, 0)
    again = privacy.withdraw(token=privacy.withdraw_token(person), now=after(300))
    assert again.code == code
    assert again.person.withdrawn_at == after(200)


def test_who_withdrew_is_not_let_in_again() -> None:
    campaign = make_campaign()
    person, secret = enrolment.join(
        campaign=campaign, platform="link", external_id="x", language="en", now=NOW
    )
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(1))
    with pytest.raises(access.NotFound):
        access.participation(campaign.slug, secret)


def test_withdrawing_in_the_middle_of_a_chat_stops_first_and_pays_what_is_owed() -> None:
    person = start(make_campaign(least_work=1))
    send_message(person, CANARY)
    withdrawn = privacy.withdraw(token=privacy.withdraw_token(person), now=after(5))
    assert (withdrawn.person.outcome, withdrawn.code is not None) == ("QUIT", True)
    assert CANARY not in everything()


def test_a_partners_words_stay() -> None:
    first, second = pair(
        make_campaign(
            "personachat_human", systems={"humans": "people"}, changes={"rate.sides": "both"}
        )
    )
    send_message(first, "hello from first")
    send_message(second, "hello from second")
    stopping.stop(person=first, now=after(9))
    privacy.withdraw(token=privacy.withdraw_token(first), now=after(10))
    texts = [event.content["text"] for event in Event.objects.filter(kind="message")]
    assert texts == ["", "hello from second"]
    second.refresh_from_db()
    assert second.state == "RATING"
    assert payment.code_of(second) is None


@pytest.mark.django_db(transaction=True)
def test_the_words_are_gone_from_the_files_too() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the files of a PostgreSQL server are its own: see its vacuum")
    file = Path(str(connection.settings_dict["NAME"]))
    person = start(make_campaign())
    send_message(person, "canary words of mine")
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(5))
    files = [one for one in file.parent.glob(f"{file.name}*") if one.is_file()]
    assert file in files
    assert not [one.name for one in files if b"canary words" in one.read_bytes()]


def finish_pair() -> tuple[Participation, Participation, Conversation]:
    """Return two people whose conversation is finished, and that one."""
    first, second = pair(
        make_campaign(
            "personachat_human", systems={"humans": "people"}, changes={"rate.sides": "both"}
        )
    )
    send_message(first, "hello from first")
    send_message(second, "hello from second")
    room = conversation_of(first)
    Conversation.objects.update(minimum=1)
    chat.finish(person=first, client_id=uuid.uuid4(), now=after(9))
    return first, second, room


def withdraw(person: Participation, seconds: float = 100) -> privacy.Withdrawn:
    return privacy.withdraw(token=privacy.withdraw_token(person), now=after(seconds))


def test_only_the_persona_of_who_withdrew_goes_back_where_both_were_people() -> None:
    first, second, room = finish_pair()
    withdraw(first)
    taken = {seat.participation_id: seat.persona for seat in room.seats.all()}
    mine, theirs = taken[first.pk], taken[second.pk]
    assert mine is not None
    assert theirs is not None
    assert (mine.taken, theirs.taken) == (0, 1)


def test_both_personas_go_back_where_the_partner_was_a_bot() -> None:
    person, _ = finished()
    assert sorted(Persona.objects.values_list("taken", flat=True))[-2:] == [1, 1]
    withdraw(person, 200)
    assert not Persona.objects.filter(taken__gt=0).exists()


def test_a_persona_that_went_back_when_the_chat_broke_off_does_not_go_back_twice() -> None:
    person = start(make_campaign())
    send_message(person, "hello")
    stopping.stop(person=person, now=after(5))
    Persona.objects.update(taken=1)  # somebody else has them now
    withdraw(person)
    assert set(Persona.objects.values_list("taken", flat=True)) == {1}


def test_withdrawing_touches_no_other_conversation_person_or_campaign() -> None:
    """S14: of all the rows those of one person change, whatever the others hold."""
    for _ in range(2):
        other, code = finished()
    ReplyJob.objects.update(text="a reply", error="an error")
    for flagged in Participation.objects.all():
        for room in (None, conversation_of(flagged)):
            Flag.objects.create(
                campaign=flagged.campaign,
                participation=None if room else flagged,
                conversation=room,
                kind="quick",
                detail="odd",
            )
    kept = conversation_of(other)
    mine = Participation.objects.exclude(pk=other.pk).get()
    words = list(kept.events.values_list("content", flat=True))
    withdrawn = withdraw(mine, 200)
    assert withdrawn.person == mine
    assert list(kept.events.values_list("content", flat=True)) == words
    assert payment.code_of(other) == code
    assert set(Flag.objects.filter(detail="odd").values_list("participation", "conversation")) == {
        (other.pk, None),
        (None, kept.pk),
    }
    assert set(ReplyJob.objects.filter(conversation=kept).values_list("text", "error")) == {
        ("a reply", "an error")
    }
    gone = ReplyJob.objects.exclude(conversation=kept)
    assert set(gone.values_list("text", "error")) == {("", "")}
    assert ExternalId.objects.get().participation == other
    assert Rating.objects.filter(assignment__participation=other).count() == 4
    cells = QuotaCell.objects.filter(system__campaign=other.campaign)
    assert [cell.completed for cell in cells] == [1]
    other.refresh_from_db()
    assert other.withdrawn_at is None
    entry = AuditEntry.objects.get(action="withdrawn")
    assert (entry.campaign, entry.actor) == (mine.campaign, f"participation {mine.pk}")


def test_withdrawing_leaves_what_others_tried_reported_and_have_receipts_of() -> None:
    """S14."""
    (mine, _), (other, _) = finished(), finished()
    for each in (mine, other):
        about = {"step": "quiz", "number": 1, "wrong": ["b"], "passed": False, "made_at": NOW}
        AdmissionTry.objects.create(participation=each, answers={"a": "mine"}, **about)
        ProblemReport.objects.create(participation=each, step="RATING", text="odd", made_at=NOW)
        assert Receipt.objects.filter(participation=each).exclude(salt="").exists()
    withdraw(mine, 200)
    tries = AdmissionTry.objects.order_by("pk").values_list("answers", "wrong")
    assert list(tries) == [({}, []), ({"a": "mine"}, ["b"])]
    assert ProblemReport.objects.get().participation == other
    with_salt = Receipt.objects.exclude(salt="").values_list("participation", flat=True)
    assert set(with_salt) == {other.pk}


def test_what_is_blanked_keeps_its_shape_and_says_that_it_was_withdrawn() -> None:
    """R33: the log stays whole, in order, with nothing in it to be read."""
    person, _ = finished()
    withdraw(person, 200)
    contents = list(conversation_of(person).events.values_list("content", flat=True))
    gone = {"withdrawn": True}
    assert contents == [
        {"text": ""} | gone,
        {"text": ""} | gone,
        {"refused": "", "complaint": ""} | gone,
        {"state": "finished"} | gone,
    ]


def test_the_partners_entries_are_not_marked_as_withdrawn() -> None:
    first, _, room = finish_pair()
    Flag.objects.create(campaign=first.campaign, conversation=room, kind="quick", detail="odd")
    withdraw(first)
    marked = {one.content["text"]: "withdrawn" in one.content for one in events.messages(room)}
    assert marked == {"": True, "hello from second": False}
    assert Flag.objects.get(conversation=room).detail == "odd"


def test_the_vote_of_who_withdrew_is_wanted_again_and_the_draft_is_gone() -> None:
    person, _ = finished()
    item = Item.objects.get()
    assert (item.completed, item.reserved) == (1, 0)
    Assignment.objects.update(draft={"p.fluency": "3"})
    withdraw(person, 200)
    item.refresh_from_db()
    assert (item.completed, item.reserved) == (0, 0)
    assert Assignment.objects.get().draft == {}


def test_a_form_that_was_given_back_is_not_counted_down_when_its_rater_withdraws() -> None:
    first, second, _ = finish_pair()
    stopping.give_away(person=first, now=after(3600))
    Item.objects.update(target=2, completed=1)  # by somebody else
    withdraw(first, 4000)
    assert set(Item.objects.values_list("completed", flat=True)) == {1}
    assert Participation.objects.get(pk=second.pk).state == "RATING"


@pytest.mark.parametrize(("outcome", "completed"), [("COMPLETED", 0), ("QUIT", 1), ("FAILED", 1)])
def test_the_place_of_who_withdrew_is_free_again_if_it_had_counted(
    outcome: str, completed: int
) -> None:
    campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"}, personas=0)
    QuotaCell.objects.update(completed=1)
    alpha, beta = campaign.systems.all()
    person, _ = rated.chatted(campaign, alpha, outcome=outcome)
    withdraw(person)
    assert QuotaCell.objects.get(system=alpha).completed == completed
    assert QuotaCell.objects.get(system=beta).completed == 1


def test_who_never_had_a_system_leaves_the_quota_alone() -> None:
    campaign = make_campaign(personas=0)
    QuotaCell.objects.update(completed=1)
    withdraw(make_participation(campaign, state="ENDED", outcome="COMPLETED"))
    assert QuotaCell.objects.get().completed == 1


@pytest.mark.parametrize(("days", "gone"), [(89, 0), (90, 0), (91, 1)])
def test_outside_ids_are_deleted_once_payment_has_long_closed(days: int, gone: int) -> None:
    """S14: ninety days after the end; those of a campaign that has not ended stay."""
    ended, running = make_campaign(personas=0), make_campaign(personas=0)
    join(running, "B1")
    join(ended, "A1")
    Campaign.objects.filter(pk=ended.pk).update(ended_at=NOW)
    assert privacy.purge_ids(now=NOW + timedelta(days=days)) == gone
    assert ExternalId.objects.filter(value="A1").count() == 1 - gone
    assert ExternalId.objects.filter(value="B1").exists()


def test_how_long_ids_are_kept_is_the_deployers_and_what_went_is_logged(settings: Settings) -> None:
    settings.KEEP_IDS_DAYS = 30
    campaign = make_campaign(personas=0, ended_at=NOW)
    join(campaign, "A1")
    join(campaign, "A2")
    assert privacy.purge_ids(now=NOW + timedelta(days=31)) == 2
    assert privacy.purge_ids(now=NOW + timedelta(days=31)) == 0
    (entry,) = AuditEntry.objects.filter(action="outside ids deleted")
    assert (entry.actor, entry.campaign, entry.detail) == ("sweeper", campaign, {"count": 2})


@pytest.mark.parametrize(("days", "is_kept"), [(59, True), (60, True), (61, False)])
def test_what_people_wrote_is_deleted_after_the_plans_days_and_their_pay_stays(
    days: int, is_kept: bool
) -> None:
    """S14: as if they withdrew; nothing of a campaign that keeps it, or that has not ended."""
    written = {}
    for name, keep, ended in (("old", 60, NOW), ("kept", None, NOW), ("running", 60, None)):
        campaign = make_campaign(keep_days=keep, target=4)
        person = start(campaign, name)
        send_message(person, f"A secret of {name}.")
        stopping.stop(person=person, now=after(60))
        Campaign.objects.filter(pk=campaign.pk).update(ended_at=ended)
        written[name] = person
    sweeper.tick(NOW + timedelta(days=days))
    texts = json.dumps([*Event.objects.values_list("content", flat=True)])
    assert ("A secret of old." in texts) == is_kept
    assert "A secret of kept." in texts
    assert "A secret of running." in texts
    old = Participation.objects.get(pk=written["old"].pk)
    assert (old.outcome, old.withdrawn_at is None) == ("QUIT", is_kept)
    entries = AuditEntry.objects.filter(action="retention over").values_list("detail", flat=True)
    assert [*entries] == ([] if is_kept else [{"participation": old.pk}])
    assert privacy.delete_overdue(now=NOW + timedelta(days=days)) == 0


def test_participants_read_how_long_what_they_write_is_kept() -> None:
    campaign = make_campaign(keep_days=60)
    keeping = study_info.of(campaign).keeping
    assert "deleted 90 days after" in keeping
    assert "deleted 60 days after" in keeping
    assert "write" not in study_info.of(make_campaign()).keeping


def test_a_link_of_nobody_is_refused_like_one_that_was_not_signed_here() -> None:
    person = join(make_campaign(personas=0))
    assert privacy.holder(privacy.withdraw_token(person)) == person
    person.pk = 10**6
    with pytest.raises(privacy.BadToken):
        privacy.holder(privacy.withdraw_token(person))
    with pytest.raises(privacy.BadToken):  # signed here, for something else
        privacy.holder(signing.dumps(person.pk, salt="another"))
    assert privacy.BadToken.notice == "bad_link"


def test_nobody_goes_on_judging_the_messages_of_who_withdrew() -> None:
    """ME-P3: those forms are given back; who has nothing else left is done, and paid."""
    source = chatted()
    campaign = labeling(source)
    rater = came(campaign, "stranger")
    withdraw(source.participations.get(external__value="p0"), 700)
    rater.refresh_from_db()
    assert rater.outcome == "COMPLETED"
    assert set(rater.assignments.values_list("state", flat=True)) == {"RELEASED"}
    assert set(campaign.items.values_list("reserved", flat=True)) == {0}


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ({"text": "My name is Ada."}, {"text": "", "withdrawn": True}),
        (
            {"refused": "x", "complaint": "y", "state": "refused"},
            {"refused": "", "complaint": "", "state": "refused", "withdrawn": True},
        ),
        ({"notice": "crisis", "word": "die"}, {"withdrawn": True}),
        ({"notice": "slow"}, {"notice": "slow", "withdrawn": True}),
    ],
)
def test_what_was_written_goes_and_that_it_went_is_told(
    content: dict[str, object], left: dict[str, object]
) -> None:
    assert privacy._blank(content) == left


@pytest.mark.parametrize(
    ("days", "seconds", "over"),
    [(0, 0, False), (0, 1, True), (1, 86_400, False), (1, 86_401, True)],
)
def test_what_people_wrote_is_kept_for_so_many_days_after_the_end(
    days: int, seconds: float, over: bool
) -> None:
    campaign = make_campaign(keep_days=days, ended_at=NOW)
    assert privacy._is_over(campaign, after(seconds)) is over
    campaign.ended_at = None
    assert not privacy._is_over(campaign, after(seconds))


def test_what_a_chat_service_was_to_send_to_others_is_still_sent() -> None:
    campaign = make_campaign()
    people = [join(campaign) for _ in range(2)]
    namesake = join(campaign, "chat-1")  # of a panel
    for number, person in enumerate(people):
        ExternalId.objects.filter(participation=person).update(
            platform=identity.TELEGRAM, value=f"chat-{number}"
        )
        ServiceCall.objects.create(
            recipient=f"chat-{number}", method="sendMessage", content={"text": "Hi."}, due_at=NOW
        )
    for person in (people[0], namesake):
        privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    assert [call.recipient for call in ServiceCall.objects.all()] == ["chat-1"]


def test_what_was_computed_before_a_withdrawal_is_emptied() -> None:
    person, _ = finished()
    StoredResult.objects.create(
        subject=f"campaign-{person.campaign_id}", name="page", choice="all", content=b"x", answers=3
    )
    withdraw(person)
    found = StoredResult.objects.get()
    assert (found.content, found.answers, found.erasures) == (None, 0, 1)


def test_what_was_said_to_a_model_and_what_it_said_go_with_a_withdrawal() -> None:
    person, _ = finished()
    others, _ = finished()
    for one in (person, others):
        job = ReplyJob.objects.create(
            conversation=conversation_of(one), in_reply_to=99, bot="a", state="DONE", queued_at=NOW
        )
        ReplyCall.objects.create(
            job=job,
            number=1,
            attempt=1,
            outcome="SHOWN",
            raw=f'"{CANARY}"',
            prompt=f'["{CANARY}"]',
            error=CANARY,
            seed=1,
            seconds=1.0,
        )
    withdraw(person)
    left = ReplyCall.objects.filter(raw__contains=CANARY) | ReplyCall.objects.filter(
        prompt__contains=CANARY
    )
    assert {call.job.conversation for call in left} == {conversation_of(others)}
    assert ReplyCall.objects.filter(error=CANARY).count() == 1


@pytest.mark.parametrize("is_refused", [True, False])
def test_what_was_refused_had_been_taken_off_the_count_before(is_refused: bool) -> None:
    campaign = of_replies(**{"write.batch": 1})
    row = write(written.came(campaign, "ann"), "Very well.")
    item = row.assignment.item
    if is_refused:
        decisions.refuse(campaign=campaign, pks=[row.pk], reason="no", by=make_staff(), now=NOW)
    Item.objects.filter(pk=item.pk).update(completed=1)  # of somebody else, where it was refused
    withdraw(row.assignment.participation)
    item.refresh_from_db()
    assert item.completed == int(is_refused)


def test_of_so_many_at_once_what_they_wrote_is_deleted_and_of_the_others_next() -> None:
    campaign = make_campaign(keep_days=1, state="CLOSED", ended_at=NOW - timedelta(days=9))
    for _ in range(21):
        make_participation(campaign, state="ENDED", outcome="QUIT")
    assert [privacy.delete_overdue(now=NOW) for _ in range(3)] == [20, 1, 0]
