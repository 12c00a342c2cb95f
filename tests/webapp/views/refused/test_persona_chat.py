"""PC-P3 and PC-P4 on pages: long and copied messages, too few turns, answers off the scale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bots.datasets import campaign_export
from tests.factories import NOW
from tests.webapp.services.people import pair
from tests.webapp.views.visiting import Visit, campaign_of, good_answers, rating_visit
from webapp.models import Campaign, Participation, Rating
from webapp.services.conversation import updates
from webapp.services.data import exports

pytestmark = pytest.mark.django_db
PAIRS = 24
LEAST = {12, 14, 16}  # messages of both: 6, 7 or 8 turns each
OF_A_BOT = re.compile(r"\b(chat)?bots?\b|computer|program|machine|artificial|\bmodels?\b", re.I)


def people(**changes: Any) -> Campaign:
    """Return a campaign of people who chat as characters, as long as the protocol has it."""
    wanted: dict[str, Any] = {"systems": {"humans": "people"}, "target": 100, "personas": 60}
    return campaign_of("convai2_hidden_chats", **wanted | changes)


def met(campaign: Campaign) -> list[Visit]:
    """Return two people in a conversation; who begins comes first."""
    two = [Visit(campaign), Visit(campaign)]
    for each in two:
        each.join()
        each.post("start")
    for each in two:
        each.post("meet")
    return sorted(two, key=lambda each: status(each)["turn"] != "you")


def status(visit: Visit) -> dict[str, Any]:
    frames = visit.get("frames?version=2&after=0").json()["frames"]
    return next(frame for frame in frames if frame["type"] == "status")


def writes(visit: Visit, text: str) -> dict[str, Any]:
    (answer,) = visit.send(type="message", id=str(uuid4()), text=text)
    return answer


def least(person: Participation) -> int:
    """Return the least messages that the page is told of."""
    frames = updates.conversation_updates(person=person, after=0, now=NOW)
    return int(next(frame["minimum"] for frame in frames if frame["type"] == "status"))


def test_every_minimum_of_6_to_8_turns_is_drawn_and_no_other() -> None:
    campaign = people()
    drawn = {least(pair(campaign)[0]) for _ in range(PAIRS - 1)}
    assert {status(met(campaign)[0])["minimum"], *drawn} == LEAST


def test_a_message_before_the_minimum_nobody_may_finish_and_then_they_may(tmp_path: Path) -> None:
    campaign = people()
    two = met(campaign)
    least = status(two[0])["minimum"]
    for number in range(least):
        who = two[number % 2]
        assert status(who)["may_finish"] is False
        who.send(type="finish", id=str(uuid4()))
        assert who.get().context["screen"].name == "chat"
        assert writes(who, f"We met {number} owls by the lake.")["type"] == "ack"
    assert status(two[0])["may_finish"] is True
    two[0].send(type="finish", id=str(uuid4()))
    assert [each.get().context["screen"].name for each in two] == ["ended"] * 2
    export = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    (dialogue,) = campaign_export.read(str(export))
    texts = [f"We met {number} owls by the lake." for number in range(least)]
    assert [turn.text for turn in dialogue.turns] == texts


@pytest.mark.parametrize(("words", "answer"), [(14, "ack"), (15, "ack"), (16, "refused")])
def test_a_message_has_at_most_15_words(words: int, answer: str) -> None:
    first, second = met(people())
    found = writes(first, " ".join(["owl"] * words))
    assert found["type"] == answer
    assert ("at most 15 words" in found.get("notice", "")) is (answer == "refused")
    assert status(second)["messages"] == (answer == "ack")


def test_a_sentence_of_ones_own_character_is_refused_and_ones_own_words_are_not() -> None:
    first, second = met(people())
    own, other = _characters(first), _characters(second)
    assert (len(own), len(other), own & other) == (5, 5, set())
    for sentence in own:
        assert writes(first, f"Well, {sentence}")["type"] == "refused"
    assert status(second)["messages"] == 0
    assert writes(first, "There is a ship of mine at the pier.")["type"] == "ack"


def _characters(visit: Visit) -> set[str]:
    """Return the sentences of the character that somebody is shown."""
    return set(re.findall(r"I own boat number \d+[a-e]\.", visit.get().content.decode()))


# --- a bot that nobody is told of -----------------------------------------------------------------


def test_no_page_and_no_frame_says_bot_until_the_work_is_done() -> None:
    visit = rating_visit()
    visit.get("status")
    visit.get("frames?version=2&after=0")
    visit.post("rate", {"p.fluency": "9"})
    form = visit.get()
    found = [match.group() for text in visit.told if (match := OF_A_BOT.search(shown(text)))]
    assert found == []
    end = visit.post("rate", good_answers(form)).content.decode()
    assert OF_A_BOT.search(shown(end)), "what is looked for can be found"
    assert "may have been a computer program" in end


def shown(text: str) -> str:
    """Return what is sent, without addresses of files and of pages."""
    return re.sub(r'(?:src|href|action|content)="[^"]*"', "", text)


def test_the_four_questions_stand_in_the_papers_order() -> None:
    page = rating_visit().get()
    wanted = ["fluency", "engagingness", "consistency", "persona"]
    assert [field.name for field in page.context["fields"]] == [f"p.{name}" for name in wanted]
    at = [page.content.decode().index(f'name="p.{name}"') for name in wanted]
    assert at == sorted(at)


@pytest.mark.parametrize("value", ["0", "1", "5", "6", "3.5", "", "b"])
@pytest.mark.parametrize("question", ["fluency", "engagingness", "consistency"])
def test_an_answer_off_the_scale_is_refused_and_nothing_is_stored(
    question: str, value: str
) -> None:
    visit = rating_visit()
    answers = good_answers(visit.get()) | {f"p.{question}": value}
    page = visit.post("rate", answers)
    good = value in ("1", "5")
    assert (page.status_code, Rating.objects.count()) == ((200, 4) if good else (422, 0))


def test_people_are_asked_in_the_words_that_bots_are_rated_by() -> None:
    campaign = people_who_rate()
    two = met(campaign)
    for number in range(2):
        writes(two[number], f"We met {number} owls by the lake.")
    two[0].send(type="finish", id=str(uuid4()))
    asked = [each for each in two if each.get().context["screen"].name == "rate"]
    assert len(asked) == 1, "one rates the other"
    of_people, of_bots = _questions(asked[0]), _questions(rating_visit())
    assert [name for name, _, _ in of_people] == [
        "p.fluency", "p.engagingness", "p.consistency", "p.persona"
    ]  # fmt: skip
    assert of_people == of_bots
    done = asked[0].post("rate", good_answers(asked[0].get()))
    assert (done.status_code, Rating.objects.count()) == (200, 4)


def people_who_rate() -> Campaign:
    systems = {"humans": "people"}
    return campaign_of("personachat_human", systems=systems, changes={"chat.minimum": [2]})


def _questions(visit: Visit) -> list[tuple[str, str, list[str]]]:
    """Return name, words and labels of each question on the page; those of characters are drawn."""
    found = []
    for each in visit.get().context["fields"]:
        labels = [str(option) for option in each.answer.options]
        is_drawn = each.name == "p.persona"
        found.append((each.name, str(each.question), [] if is_drawn else labels))
    return found
