"""PM-P1 and NL-P11 on pages: who is not let in, whose sheet is shown to whom, and the topic."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.conversation.test_briefs import campaign_of as role_play_of
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, Conversation, Participation
from webapp.services.campaign import personas_import

pytestmark = pytest.mark.django_db
WATCHED = {"screening.watched": "1", "screening.episodes": "2", "try": "screening-1"}
TOPICS = ["food", "Harbor Street | the storm", "Night Shift | the crash"]
SHEETS = {
    "Student": (["Likes small classes.", "Wants no class before noon."], ["Took EECS 203."]),
    "Advisor": (["EECS 281 is on offer.", "EECS 370 is suggested."], ["Knows the catalog."]),
}


def content(visit: Visit) -> str:
    return str(visit.get().content.decode())


def screen(visit: Visit) -> str:
    return str(visit.get().context["screen"].name)


def let_in(campaign: Campaign, answers: dict[str, str] | None) -> Visit:
    visit = Visit(campaign)
    visit.join()
    if answers is not None:
        visit.post("answer", answers)
    visit.post("start")
    return visit


def met(campaign: Campaign, answers: dict[str, str] | None) -> list[Visit]:
    """Return two people who are in a conversation."""
    two = [let_in(campaign, answers) for _ in range(2)]
    for each in two:
        each.post("meet")
    assert [screen(each) for each in two] == ["chat", "chat"]
    return two


def writes(visit: Visit, text: str) -> Any:
    (answer,) = visit.send(type="message", id=str(uuid4()), text=text)
    return answer["type"]


# --- PM-P1 ----------------------------------------------------------------------------------------


def test_who_has_not_watched_the_series_is_not_let_in_and_who_has_is() -> None:
    campaign = role_play_of()
    no = let_in(campaign, {"screening.watched": "0", "try": "screening-1"})
    assert (screen(no), no.person.outcome) == ("ended", "SCREENED_OUT")
    unsaid = let_in(campaign, {"screening.watched": "1", "try": "screening-1"})
    assert screen(unsaid) == "admission", "it is asked how many episodes"
    nothing = let_in(campaign, {"try": "screening-1"})
    assert screen(nothing) == "admission"
    assert screen(let_in(campaign, WATCHED)) == "waiting"
    assert Participation.objects.filter(outcome="SCREENED_OUT").count() == 1


@pytest.mark.parametrize("talk", range(4))
def test_both_play_two_characters_of_one_series_and_open_on_one_topic(talk: int) -> None:
    campaign = role_play_of(changes={"chat.brief.topics": TOPICS})
    one, two = met(campaign, WATCHED)
    names = re.compile(r"Only (\w+ \d) knows secret (\d) of ([A-Z]\w+ [A-Z]\w+)\.")
    found = [set(names.findall(content(visit))) for visit in (one, two)]
    assert [len(each) for each in found] == [1, 1], "each reads the own lines only"
    (first,), (second,) = found
    assert first[0] != second[0]
    assert first[2] == second[2]
    topic = Conversation.objects.get().topic
    assert topic in {"food", {"Harbor Street": "the storm"}.get(first[2], "the crash")}
    for visit, other in ((one, second), (two, first)):
        page = content(visit)
        assert topic in page
        assert f"{other[0]} works at the harbor." in page


# --- NL-P11 ---------------------------------------------------------------------------------------


def advised() -> list[Visit]:
    """Return a student and an advisor in a conversation, the student first."""
    draft = make_campaign(
        "student_advisor", systems={"people": "people"}, personas=0, state="DRAFT", target=4
    )
    rows = [
        {"id": name, "name": name, "group": "case 1", "sentences": own, "shared": both}
        for name, (own, both) in SHEETS.items()
    ]
    text = "\n".join(map(json.dumps, rows))
    personas_import.store(campaign=draft, text=text, by=make_staff(), now=NOW)
    Campaign.objects.filter(pk=draft.pk).update(state="OPEN")
    two = met(Campaign.objects.get(pk=draft.pk), None)
    return sorted(two, key=lambda visit: SHEETS["Student"][0][0] not in content(visit))


def test_the_advisor_never_reads_what_only_the_student_knows_nor_the_student_the_advisors() -> None:
    student, advisor = advised()
    first = student if _turn(student) == "you" else advisor
    assert writes(first, "Which class is next?") == "ack"
    for visit, name, other in (
        (student, "Student", "Advisor"),
        (advisor, "Advisor", "Student"),
    ):
        page = content(visit)
        assert all(line in page for line in (*SHEETS[name][0], *SHEETS[other][1]))
        assert not [line for line in SHEETS[other][0] if any(line in told for told in visit.told)]


def _turn(visit: Visit) -> str:
    frames = visit.get("frames?version=2&after=0").json()["frames"]
    return str(next(frame for frame in frames if frame["type"] == "status")["turn"])
