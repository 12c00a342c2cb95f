"""ME-P3, who judges: five people a message, none of whom took part in the conversation.

Long because all tests need the same ended campaign.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.metrics.ssa import ssa
from tests.factories import NOW, make_campaign, make_participation, make_staff
from tests.webapp.services.people import after, join
from tests.webapp.services.third import MESSAGES, came, chatted, judge, judge_all, labeling
from tests.webapp.services.written import (
    SENTENCES,
    accepted,
    draft_of,
    of_personas,
    of_replies,
    opened,
    used,
)
from webapp.models import (
    Assignment,
    Campaign,
    ExternalId,
    Item,
    Rating,
    Seat,
)
from webapp.services.data import answers, conversation_records, tables
from webapp.services.monitoring import campaign_list, monitor, transcripts
from webapp.services.ops import sweeper
from webapp.services.participation import consents, enrolment, stopping
from webapp.services.rating import form as rating_form
from webapp.services.rating import items, judged_conversations, third_parties
from webapp.services.rules import access, identity

pytestmark = pytest.mark.django_db


def test_who_chatted_is_refused_and_leaves_no_trace() -> None:
    campaign = labeling(chatted(2))
    before = ExternalId.objects.count()
    for name in ("p0", "p1", "p2", "p3"):
        with pytest.raises(consents.Closed) as refused:
            join(campaign, name)
        assert refused.value.notice == "took_part"
    assert campaign.participations.count() == 0
    assert ExternalId.objects.count() == before
    assert came(campaign, "stranger").state == "RATING"


def test_who_chatted_elsewhere_may_judge() -> None:
    source = chatted()
    chatted(1, first=5)
    assert came(labeling(source), "p10").state == "RATING"


def test_without_an_id_nobody_can_be_told_from_those_who_chatted() -> None:
    campaign = labeling(chatted())
    with pytest.raises(consents.Closed) as refused:
        enrolment.join(campaign=campaign, platform="", external_id="", language="en", now=NOW)
    assert refused.value.notice == "needs_id"


def test_the_browser_of_somebody_who_chatted_is_known() -> None:
    source = chatted()
    campaign = labeling(source)
    secret = access.new_secret()
    source.participations.filter(pk=source.participations.earliest("pk").pk).update(
        secret_hash=access.secret_hash(secret)
    )
    who: dict[str, Any] = {
        "campaign": campaign,
        "platform": "prolific",
        "external_id": "another name",
    }
    assert third_parties.refusal(**who, secrets=[secret]) == "took_part"
    assert third_parties.refusal(**who, secrets=["of another campaign"]) == ""


def test_the_query_that_gives_out_items_leaves_own_conversations_out() -> None:
    """Even somebody who came in by mistake is not given what they took part in."""
    source = chatted(2)
    campaign = labeling(source)
    intruder = join(campaign, "stranger")
    ExternalId.objects.filter(participation=intruder).update(value="p0")
    own = Seat.objects.get(participation__external__value="p0", participation__campaign=source)
    given = items.assign(person=intruder, now=NOW)
    assert len(given) == MESSAGES
    assert own.conversation_id not in {one.item.conversation_id for one in given}


def test_who_cannot_be_told_any_more_is_given_nothing() -> None:
    campaign = labeling(chatted())
    person = join(campaign, "stranger")
    ExternalId.objects.filter(participation=person).delete()
    assert items.assign(person=person, now=NOW) == []
    assert enrolment.start(person=person, now=NOW).outcome == "FULL"


def test_ids_that_were_purged_where_people_chatted_are_still_known() -> None:
    source = chatted()
    campaign = labeling(source)
    ExternalId.objects.filter(participation__campaign=source).delete()
    with pytest.raises(consents.Closed, match="took_part"):
        join(campaign, "p1")


def test_a_rater_sees_the_messages_so_far_and_no_names() -> None:
    source = chatted()
    campaign = labeling(source)
    person = came(campaign, "stranger")
    for number in range(3):
        form = rating_form.of(person)
        assert form is not None
        assert (form.number, form.total, form.of_context) == (number + 1, MESSAGES, True)
        assert [line.text for line in form.lines] == [
            f"Line {place} of p0 and p1." for place in range(number + 1)
        ]
        assert [line.judged for line in form.lines] == [False] * number + [True]
        speakers = ["Speaker A", "Speaker B", "Speaker A"]
        assert [line.who for line in form.lines] == speakers[: number + 1]
        judge(person)


def test_a_message_stays_open_until_five_have_judged_it_and_closes_then() -> None:
    campaign = labeling(chatted())
    for number in range(5):
        assert places_left(campaign) == 5 - number
        person = judge_all(campaign, f"rater{number}")
        assert (person.outcome, person.code.kind) == ("COMPLETED", "FULL")
        assert sweeper.tick(after(10))["complete"] == (number == 4)
    assert {(item.completed, item.reserved) for item in campaign.items.all()} == {(5, 0)}
    campaign.refresh_from_db()
    assert campaign.state == "CLOSED"
    assert Assignment.objects.filter(state="DONE").count() == 5 * MESSAGES
    assert Rating.objects.count() == 2 * 5 * MESSAGES
    with pytest.raises(consents.Closed):
        join(campaign, "a sixth")


def places_left(campaign: Campaign) -> int:
    """Return how many votes the messages still want, the same number for each."""
    (left,) = {item.free for item in campaign.items.all()}
    return left


def test_who_leaves_gives_back_what_they_did_not_judge() -> None:
    campaign = labeling(chatted())
    person = came(campaign, "stranger")
    judge(person)
    stopping.stop(person=person, now=after(30))
    votes = sorted((item.completed, item.reserved) for item in campaign.items.all())
    assert votes == [(0, 0)] * (MESSAGES - 1) + [(1, 0)]
    following = came(campaign, "next")
    form = rating_form.of(following)
    assert form is not None
    assert len(form.lines) == 1


def test_batches_go_on_where_the_last_one_ended() -> None:
    campaign = labeling(chatted(messages=14), **{"rate.batch": 5})
    seqs = [
        [
            one.item.candidates.get().seq or 0
            for one in items.assign(person=join(campaign, name), now=NOW)
        ]
        for name in ("ann", "bob", "cid")
    ]
    assert seqs == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], sorted(seqs[2])]
    assert {11, 12, 13, 14} < set(seqs[2])


def test_the_majority_of_five_makes_the_human_row() -> None:
    """Three of five say sensible everywhere, two of five specific: 100 %, 0 %, SSA 50 %."""
    campaign = labeling(chatted())
    for number in range(5):
        judge_all(campaign, f"rater{number}", int(number < 3), int(number < 2))
    found = ssa(tables.ratings(campaign)).set_index("metric")
    assert set(found["system"]) == {"human"}
    assert set(found["n"]) == {MESSAGES}
    assert set(found["open_items"]) == {0}
    assert found["estimate"].to_dict() == {"sensibleness": 1.0, "specificity": 0.0, "ssa": 0.5}


def test_with_four_votes_every_message_is_open() -> None:
    campaign = labeling(chatted())
    for number in range(4):
        judge_all(campaign, f"rater{number}")
    found = ssa(tables.ratings(campaign))
    assert set(found["evaluation"]) == {"interactive"}, "of a conversation, whoever labels it"
    assert set(found["votes"]) == {5}
    assert set(found["open_items"]) == {MESSAGES}
    assert found["estimate"].isna().all()


def test_votes_name_the_conversation_and_message_and_stand_by_themselves() -> None:
    source = chatted()
    campaign = labeling(source)
    person = came(campaign, "stranger")
    judge(person)
    stopping.stop(person=person, now=after(30))
    rows = tables.ratings(campaign)
    conversation = source.conversations.get()
    assert set(rows["item"]) == {f"{conversation.pk}:1"}
    assert set(rows["conversation"]) == {str(conversation.pk)}
    assert {row.held_in for row in answers.answer_rows(campaign)} == {source.pk}
    conversation.excluded = "spam"
    conversation.save()
    assert tables.ratings(campaign).empty


def test_the_chats_own_export_and_page_do_not_mix_with_the_votes() -> None:
    source = chatted()
    campaign = labeling(source)
    judge_all(campaign, "stranger")
    assert [record["judged"] for record in conversation_records.conversations(source)] == [[]]
    assert tables.ratings(source).empty
    lines = transcripts.transcript(source.conversations.get()).lines
    said = [line for line in lines if line.kind == "message"]
    assert [answer.value for answer in said[0].answers] == ["Yes", "No"]


def test_progress_is_counted_in_votes() -> None:
    campaign = labeling(chatted())
    judge_all(campaign, "stranger")
    (row,) = monitor.live(campaign, NOW).progress
    assert (row.name, row.completed, row.target) == ("human", MESSAGES, 5 * MESSAGES)
    lines = {line.campaign.pk: line for line in campaign_list.lines(make_staff(), None)}
    assert (lines[campaign.pk].completed, lines[campaign.pk].target) == (MESSAGES, 5 * MESSAGES)


def test_whether_a_campaign_has_the_messages_of_others_judged() -> None:
    assert third_parties.judges(labeling(chatted()))
    for protocol in ("meena_static", "meena_interactive", "personachat_bot", "meena_human"):
        assert not third_parties.judges(make_campaign(protocol, personas=0))


def test_the_messages_to_judge_are_those_of_the_campaign() -> None:
    source, other = chatted(), chatted(1, first=5)
    for campaign in (source, other):
        found = judged_conversations.messages_of(campaign)
        assert set(found.values_list("conversation__campaign", flat=True)) == {campaign.pk}
    held_in = labeling(source).items.values_list("conversation__campaign", flat=True)
    assert set(held_in) == {source.pk}


def test_a_campaign_that_judges_nobody_refuses_nobody() -> None:
    campaign = chatted()
    who: dict[str, Any] = {"campaign": campaign, "platform": "volunteer", "external_id": "p0"}
    assert third_parties.refusal(**who) == ""


def test_who_chatted_in_a_campaign_that_is_not_judged_here_may_judge() -> None:
    """Neither their id nor the cookie of their browser counts against them."""
    campaign, elsewhere = labeling(chatted()), chatted(1, first=5)
    secret = access.new_secret()
    elsewhere.participations.filter(external__value="p10").update(
        secret_hash=access.secret_hash(secret)
    )
    who: dict[str, Any] = {"campaign": campaign, "platform": "prolific", "external_id": "p10"}
    assert third_parties.refusal(**who, secrets=[secret]) == ""
    labeling(elsewhere)
    assert third_parties.refusal(**who, secrets=[secret]) == ""


def test_somebody_who_was_in_a_judged_campaign_without_a_seat_may_judge() -> None:
    source = chatted()
    join_closed = make_participation(
        source, pseudonym=identity.pseudonym(source, "prolific", "waited in vain")
    )
    assert not join_closed.seats.exists()
    campaign = labeling(source)
    who: dict[str, Any] = {
        "campaign": campaign,
        "platform": "prolific",
        "external_id": "waited in vain",
    }
    assert third_parties.refusal(**who) == ""


def test_who_came_without_an_id_is_given_nothing_to_judge() -> None:
    """Even by mistake: a volunteer cannot be told from those who chatted."""
    campaign = labeling(chatted())
    person = join(campaign, "stranger")
    everything = items.open_items(campaign)
    assert third_parties.open_to(everything, person).count() == MESSAGES
    ExternalId.objects.filter(participation=person).update(platform=identity.VOLUNTEER)
    assert not third_parties.open_to(everything, person).exists()


def test_the_id_of_a_panel_is_not_that_of_another() -> None:
    campaign = labeling(chatted())
    who: dict[str, Any] = {"campaign": campaign, "external_id": "p0"}
    assert third_parties.refusal(**who, platform="prolific") == "took_part"
    assert third_parties.refusal(**who, platform="mturk") == ""


def test_names_are_looked_for_where_judged_conversations_were_held_only() -> None:
    """A name is computed per campaign: those that nothing is judged of here are left out."""
    campaign = labeling(chatted())
    person = join(campaign, "stranger")
    labeling(chatted(1, first=5))
    with CaptureQueriesContext(connection) as queries:
        assert third_parties.open_to(items.open_items(campaign), person).exists()
    (last,) = [query["sql"] for query in queries if "pseudonym" in query["sql"]]
    assert last.count(identity.pseudonym(campaign, "prolific", "stranger")) == 0
    (inside,) = re.findall(r'"pseudonym" IN \(([^)]*)\)', last)
    assert len(inside.split(",")) == 1


def test_a_batch_of_messages_has_those_with_the_fewest_votes_in_the_order_they_were_said() -> None:
    campaign = labeling(chatted(messages=6), **{"rate.batch": 3})
    rows = list(campaign.items.order_by("order"))
    for item, (reserved, completed) in zip(
        rows, [(0, 2), (1, 0), (2, 0), (0, 1), (0, 0), (1, 1)], strict=True
    ):
        type(item).objects.filter(pk=item.pk).update(reserved=reserved, completed=completed)
    given = items.assign(person=join(campaign, "stranger"), now=NOW)
    assert [one.item_id for one in given] == [rows[1].pk, rows[3].pk, rows[4].pk]


def own_texts(campaign: Campaign, author: str) -> list[str]:
    """Return the items that an author, who came in unseen, may not have."""
    person = join(campaign, f"{author}, unseen")
    ExternalId.objects.filter(participation=person).update(value=author)
    rules = dict(third_parties.closed_to(Item.objects.filter(campaign=campaign), person))
    return list(rules[third_parties.OWN_TEXT].values_list("key", flat=True))


def test_an_author_s_own_are_the_items_of_what_they_wrote_alone() -> None:
    source = of_personas(**{"write.sentences": len(SENTENCES)})
    rows = [
        accepted(source, name, *SENTENCES[:4], f"I am {name} today.") for name in ("ann", "bob")
    ]
    revised = opened(used(source, draft_of("personachat_revisions")))
    for row, name in zip(rows, ("ann", "bob"), strict=True):
        (key,) = own_texts(revised, name)
        assert revised.items.filter(key=key, persona__written=row).exists()
    replies = of_replies(**{"write.batch": 1})
    for name in ("ann", "bob"):
        accepted(replies, name, f"Very well, says {name}.")
    judged = opened(used(replies, draft_of("meena_static", **{"rate.votes": 1})))
    assert judged.items.count() == 2
    for name in ("ann", "bob"):
        (key,) = own_texts(judged, name)
        said = judged.items.get(key=key).candidates.get().conversation.events.latest("seq")
        assert said.content["text"] == f"Very well, says {name}."


def test_who_wrote_what_is_judged_is_refused_and_nobody_else() -> None:
    other = of_replies(**{"write.batch": 1})
    accepted(other, "bob", "So-so.")  # which is not judged here
    source = of_replies(**{"write.batch": 1})
    accepted(source, "ann", "Very well.")
    campaign = opened(used(source, draft_of("meena_static", **{"rate.votes": 1})))
    secret = access.new_secret()
    source.participations.update(secret_hash=access.secret_hash(secret))
    for name, secrets, notice in (
        ("ann", [], "wrote"),
        ("bob", [], ""),
        ("bob", [secret], "wrote"),
        ("bob", [access.new_secret()], ""),
    ):
        found = third_parties.refusal(
            campaign=campaign, platform="prolific", external_id=name, secrets=secrets
        )
        assert found == notice


def test_who_wrote_what_is_revised_is_refused_and_nobody_else() -> None:
    campaigns = {}
    for name in ("ann", "bob"):
        source = of_personas(**{"write.sentences": len(SENTENCES)})
        accepted(source, name, *SENTENCES)
        campaigns[name] = opened(used(source, draft_of("personachat_revisions")))
    for name, campaign in campaigns.items():
        for who in campaigns:
            found = third_parties.refusal(campaign=campaign, platform="prolific", external_id=who)
            assert found == ("wrote" if who == name else "")
