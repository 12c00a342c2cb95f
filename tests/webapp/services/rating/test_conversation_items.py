"""X-P1: which conversations stand side by side, what raters see of them, and what is exported."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from analysis import get_report, read
from tests.factories import NOW, make_campaign
from tests.webapp.services.judged import chats_campaign, judge
from tests.webapp.services.people import start
from webapp.models import Assignment, Campaign, Candidate, Item
from webapp.services.campaign import checklist, launch, transcripts_import
from webapp.services.data import assignment_rules, exports, tables
from webapp.services.rating import conversation_items, form, submission
from webapp.services.rating.context_items import draw

pytestmark = pytest.mark.django_db
PROTOCOL = "acute_eval"
NO_CONTROLS = {"onboarding"}  # the rule that is broken here: no pair has a known answer


def talks(count: int, word: str) -> list[list[str]]:
    return [["Hi!", f"{word} {number}.", "Well.", f"More {word}."] for number in range(count)]


def campaign_of(good: int = 3, bad: int = 2, people: int = 0, **changes: object) -> Campaign:
    chats = {"good": talks(good, "Yes"), "bad": talks(bad, "No")}
    chats |= {"human": talks(people, "Maybe")} if people else {}
    return chats_campaign(PROTOCOL, chats, **changes)


def prefer_good(question: str, context: str, names: tuple[str, ...], number: int) -> str:
    return "good" if question == "preferred" else f"Reason {number}."


def test_every_conversation_stands_beside_one_of_each_other_system() -> None:
    campaign = campaign_of(good=3, bad=2, people=1)
    assert Counter(
        tuple(sorted(each.system.name for each in item.candidates.all()))
        for item in Item.objects.all()
    ) == {("bad", "good"): 3, ("good", "human"): 3, ("bad", "human"): 2}
    shown = set(Candidate.objects.values_list("conversation", flat=True))
    assert shown == set(campaign.conversations.values_list("pk", flat=True))
    assert conversation_items.make(campaign) == 0
    assert conversation_items.planned(campaign) == 8
    Candidate.objects.all().delete()
    Item.objects.all().delete()
    assert conversation_items.make(campaign) == 8
    assert conversation_items.planned(make_campaign("meena_interactive", personas=0)) == 0


def test_only_pairs_with_the_first_system_if_that_is_set() -> None:
    campaign_of(people=1, with_first=True)
    assert all(item.candidates.filter(system__name="good").exists() for item in Item.objects.all())


def test_a_page_shows_both_conversations_whole_and_one_speaker_of_each() -> None:
    person = start(campaign_of())
    page = form.of(person)
    assert page is not None
    assert page.is_of_chats
    assert page.lines == ()
    assert [reply.letter for reply in page.replies] == ["1", "2"]
    assert {reply.key.partition("n")[2] for reply in page.replies} == {"1", "2"}
    for number, reply in enumerate(page.replies, start=1):
        assert [line.judged for line in reply.lines] == [False, True, False, True]
        assert {line.who for line in reply.lines if line.judged} == {f"Speaker {number}"}
        assert [line.side for line in reply.lines] == ["you", "partner"] * 2
        assert reply.lines[0].text == "Hi!"
    assert page.total == 3


def test_of_a_conversation_that_is_judged_alone_the_speaker_is_marked() -> None:
    campaign_of()
    for candidate in Candidate.objects.all()[:2]:
        lines = form._lines([candidate], None)
        assert [line.judged for line in lines] == [False, True, False, True]


def test_other_protocols_make_no_items_of_whole_conversations() -> None:
    campaign = campaign_of()
    Candidate.objects.all().delete()
    Item.objects.all().delete()
    Campaign.objects.filter(pk=campaign.pk).update(protocol="meena_third_party", changes={})
    assert conversation_items.make(Campaign.objects.get(pk=campaign.pk)) == 0


def test_either_of_two_people_may_be_the_one_judged() -> None:
    campaign_of(good=12, bad=1, people=12)
    sides = Candidate.objects.filter(system__name="human").values_list("side", flat=True)
    assert set(sides) == {0, 1}
    others = Candidate.objects.exclude(system__name="human").values_list("side", flat=True)
    assert set(others) == {1}


def test_which_of_two_conversations_is_made_first_is_drawn() -> None:
    """Their numbers tell nothing of the systems."""
    campaign_of(good=20, bad=20)
    first = {item.candidates.earliest("pk").system.name for item in Item.objects.all()}
    assert first == {"good", "bad"}


def test_sides_are_drawn_and_a_unit_has_five_pages_of_other_conversations() -> None:
    campaign = campaign_of(good=20, bad=20)
    first = Counter[str]()
    for _ in range(6):
        person = start(campaign)
        held = Assignment.objects.filter(participation=person)
        assert held.count() == 5
        read_of = Counter(held.values_list("item__candidates__conversation", flat=True))
        assert set(read_of.values()) == {1}
        keys = [each.shown[0] for each in held]
        first.update(Candidate.objects.filter(key__in=keys).values_list("system__name", flat=True))
    assert set(first) == {"good", "bad"}


def test_answers_are_pairs_in_the_export_and_the_binomial_test_is_of_them(tmp_path: Path) -> None:
    campaign = campaign_of(good=5, bad=5)
    judge(campaign, 3, prefer_good)
    rows = tables.ratings(campaign)
    ranks = rows[rows["question"] == "preferred"]
    assert set(zip(ranks["system"], ranks["value"], strict=True)) == {("good", 1), ("bad", 2)}
    assert set(ranks["votes"]) == {3}
    assert set(ranks.groupby("item")["rater"].nunique()) == {3}
    assert set(rows["excluded"]) == {""}
    assert {each.rule for each in assignment_rules.of_campaign(campaign).broken} == NO_CONTROLS
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    assert {each.rule for each in assignment_rules.of_export(path).broken} == NO_CONTROLS
    with zipfile.ZipFile(path) as archive:
        said = list(csv.DictReader(io.StringIO(archive.read("messages.csv").decode())))
        told = [json.loads(line) for line in archive.read("conversations.jsonl").splitlines()]
    assert len(said) == 40
    assert {len(each["judged"]) for each in told} == {1}
    report = get_report("acute_eval")(read(path).ratings)
    row = report.sections[0].frame.iloc[0]
    assert (row["system"], row["other system"], row["judgments"]) == ("good", "bad", 15)
    assert row["win fraction"] == 1.0
    assert row["p"] == pytest.approx(2 * 0.5**15)
    assert row["stars"] == "***"


def test_a_launch_needs_conversations_of_two_systems() -> None:
    campaign = chats_campaign(PROTOCOL, {"good": talks(2, "Yes")})
    Campaign.objects.filter(pk=campaign.pk).update(state="DRAFT")
    campaign.refresh_from_db()
    red = [check.name for check in checklist.checklist(campaign, NOW) if not check.ok]
    assert "Conversations to judge" in red
    assert len(launch.plan_of(campaign)["messages"]) == 8
    assert transcripts_import.takes(campaign)


def test_who_stops_gives_the_pages_back() -> None:
    campaign = campaign_of(good=1, bad=1, votes=1)
    person = start(campaign)
    assert submission.current(person) is not None
    assert Item.objects.get().reserved == 1


def test_the_order_of_items_is_drawn_by_the_campaigns_seed() -> None:
    campaign = campaign_of(good=6, bad=6)
    found = dict(campaign.items.values_list("key", "order"))
    assert found == {key: draw(campaign, key, "order").getrandbits(31) for key in found}
    assert sorted(found, key=lambda key: found[key]) != sorted(found)


def test_a_rater_reads_no_conversation_twice_where_there_are_others() -> None:
    campaign = campaign_of(good=4, bad=4, people=4, batch=5)
    for _ in range(2):
        held = Assignment.objects.filter(participation=start(campaign)).order_by("place")[:3]
        shown = Candidate.objects.filter(item__in=[each.item_id for each in held])
        assert len(set(shown.values_list("conversation", flat=True))) == 6


def test_where_no_pairs_are_shown_there_are_no_controls() -> None:
    assert conversation_items.controls(make_campaign(personas=0)) == 0


def test_where_no_conversations_of_others_are_judged_none_are_made() -> None:
    assert conversation_items.make(make_campaign(personas=0)) == 0
