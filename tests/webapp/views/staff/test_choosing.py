"""The page where a protocol is chosen: all of it follows from the protocols' files."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from evaluation import Protocol
from evaluation.registry import get_protocol, protocol_names
from webapp.services.monitoring import offers
from webapp.services.participation import samples

protocols = pytest.mark.parametrize(
    "protocol", [get_protocol(n) for n in protocol_names()], ids=protocol_names()
)


@pytest.fixture
def page(ann: Client) -> str:
    return unescape(ann.get("/campaigns/new/").content.decode())


@pytest.mark.django_db
def test_every_question_is_shown_with_its_scale_and_cannot_be_filled_in(page: str) -> None:
    """Each input is in a disabled fieldset, under a name of its own."""
    sample = re.compile('<fieldset class="sample" disabled>(.*?)</fieldset>\n    \n', re.S)
    inside, outside = "".join(sample.findall(page)), sample.sub("", page)
    assert not re.search(r"<(input|textarea|select)", outside.partition("<main")[2])
    for name in protocol_names():
        for group in samples.question_groups(get_protocol(name)):
            assert f"<h4>{group.judged}</h4>" in page
            for question in group.form.rate.questions:
                assert question.text in inside
                shown = question.form_field(group.form.shown, group.form.personas)
                words = [option.word for option in shown.options if option.word]
                assert all(word in inside for word in words)
                is_of_all = question in group.form.rate.together
                first, together = group.form.shown.candidates[0], group.form.shown.together
                candidate = together if is_of_all else first
                assert inside.count(f'id="{candidate}-{question.name}"') == 1
                inputs = inside.count(f'name="{candidate}.{question.name}"')
                inputs += inside.count(f'data-untouched="{candidate}.{question.name}"')
                assert inputs - 1 == (len(shown.options) or 1)  # data-name is the other one


@pytest.mark.django_db
def test_what_a_paper_names_without_a_procedure_is_listed_and_cannot_be_chosen(page: str) -> None:
    """NL-P13 has no questions and no scale; it is no protocol."""
    (entry,) = re.findall(r"<p[^>]*>Named in a paper without a procedure: (.*?)</p>", page)
    assert entry.startswith("Ruuh's labeling of chat quality by experts")
    assert "href" not in entry


@pytest.mark.django_db
def test_the_page_is_for_people(page: str) -> None:
    """No code, no backtick, and a sentence per protocol, what it gives, a way to use it."""
    text = re.sub(r"<[^>]*>", " ", page.partition("<main")[2])
    assert "`" not in text
    assert not re.search(r"\b[a-z]+_[a-z_]+\b", text)
    for offer in offers.offers(AnonymousUser()):
        assert offer.about in page
        assert all(f"<li>{result}</li>" in page for result in offer.results)
        assert f'href="/campaigns/new/{offer.protocol.name}/"' in page


@protocols
def test_a_protocol_gives_something_for_each_of_its_questions(protocol: Protocol) -> None:
    found = " ".join(offers.results(protocol))
    asked = [question for rate in protocol.rates for question in rate.questions]
    for question in asked:
        if question.level != "text" and question.personas_beside() is None:
            assert question.name.replace("_", " ") in found
    assert ("in words" in found) == any(question.level == "text" for question in asked)
    assert ("is preferred" in found) == any(one.compares == "together" for one in asked)
    assert ("is ranked" in found) == any(one.compares == "each" for one in asked)
    asks_who = any(question.personas_beside() is not None for question in asked)
    assert ("character is recognized" in found) == asks_who
    assert ("raters of an item" in found) == any(rate.votes > 1 for rate in protocol.rates)


@pytest.mark.django_db
def test_every_protocol_stands_under_one_heading_that_says_what_people_do(page: str) -> None:
    shipped = [offers.find(name) for name in protocol_names()]
    found = [(heading, offer) for heading, group in offers.grouped(offers.offers(AnonymousUser()))
             for offer in group]  # fmt: skip
    assert sorted(offer.protocol.title for _, offer in found) == sorted(
        one.title for one in shipped if one is not None
    )
    of = {offer.protocol.name: heading for heading, offer in found}
    assert of["personachat_bot"] == "People chat, and rate"
    assert of["meena_human"] == "People chat; what they write is what counts"
    assert of["meena_third_party"] == "People judge conversations that are over"
    assert of["coherency_pairs"] == of["reply_ranking"] == "People compare or rank replies"
    assert of["meena_replies"] == of["personachat_personas"] == "People write"
    assert of["meena_static"] == of["reply_grades"] == "People judge replies"
    for heading, offer in found:
        start = page.rindex("<h2 id=", 0, page.index(f">{offer.protocol.title}</h3>"))
        assert f">{heading}</h2>" in page[start : start + 100]


@protocols
def test_a_sample_has_what_its_questions_need(protocol: Protocol) -> None:
    """Characters to choose from differ and have sentences; the last message is the one judged."""
    for rate in protocol.rates:
        form = samples.rating_form(rate)
        for question in rate.each:
            options = question.form_field(form.shown, form.personas).options
            if (beside := question.personas_beside()) is not None:
                assert len({option.lines for option in options}) == beside + 1
        if rate.over == "speakers":
            shown = [reply.lines for reply in form.replies] or [form.lines]
            assert all(len({line.who for line in lines if line.judged}) == 1 for lines in shown)
            continue
        is_judged = rate.is_shared and rate.show == "one" and rate.over != "conversation"
        assert [line.judged for line in form.lines].count(True) == int(is_judged)
        if form.lines:
            assert form.lines[-1].judged == is_judged
        most = rate.messages[1] if rate.over == "contexts" else 2
        assert len({line.who for line in form.lines}) == min(2, most + is_judged)
        assert len({reply.text for reply in form.replies}) == len(form.replies)
