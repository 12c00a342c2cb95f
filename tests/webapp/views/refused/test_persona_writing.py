"""PC-P1 and PC-P2 on pages: sentences too long or too short, copied words, and authors."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_staff
from tests.webapp.services.written import SENTENCES, draft_of, of_personas, opened, used
from tests.webapp.views.visiting import Visit
from webapp import notices
from webapp.models import Campaign, Contribution
from webapp.services.writing import decisions

pytestmark = pytest.mark.django_db
FORD, BASKETBALL = "My father worked for Ford.", "I like basketball"


def began(campaign: Campaign) -> Visit:
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    return visit


def typed(visit: Visit, *texts: str) -> dict[str, str]:
    names = [field.name for field in visit.get().context["fields"]]
    return dict(zip(names, texts, strict=True))


def wrote(campaign: Campaign, *texts: str) -> Visit:
    """Return somebody who wrote a persona, which staff accepted."""
    author = began(campaign)
    assert author.post("write", typed(author, *texts)).context["screen"].end.code
    pks = list(decisions.of_campaign(campaign).values_list("pk", flat=True))
    decisions.accept(campaign=campaign, pks=pks, by=make_staff(), now=NOW)
    return author


def revising(source: Campaign) -> Campaign:
    """Return an open campaign that revises what was accepted in another."""
    return opened(used(source, draft_of("personachat_revisions")))


@pytest.mark.parametrize(
    ("words", "refused"), [(2, True), (3, False), (14, False), (15, False), (16, True)]
)
def test_a_sentence_has_3_to_15_words(words: int, refused: bool) -> None:
    visit = began(of_personas())
    text = " ".join(["I", *["really"] * (words - 2), "paint."])
    page = visit.post("write", typed(visit, *SENTENCES[:4], text))
    complaint = f"Write 3 to 15 words; this sentence has {words} words."
    assert (page.status_code, complaint in page.content.decode()) == (
        (422, True) if refused else (200, False)
    )
    stored = [row.texts for row in Contribution.objects.all()]
    assert stored == ([] if refused else [[*SENTENCES[:4], text]])


def test_a_persona_of_four_sentences_is_refused() -> None:
    visit = began(of_personas())
    page = visit.post("write", typed(visit, *SENTENCES[:4], " "))
    assert (page.status_code, Contribution.objects.count()) == (422, 0)


@pytest.mark.parametrize(
    ("original", "text", "copied"),
    [
        (BASKETBALL, "I am a big fan of Michael Jordan", ""),
        (BASKETBALL, "I am good at basketball", "basketball"),
        (FORD, "My dad worked in the car industry", ""),
        (FORD, "My dad was employed by Ford.", "Ford"),
    ],
)
def test_the_papers_four_examples_come_out_as_it_says(
    original: str, text: str, copied: str
) -> None:
    source = of_personas()
    wrote(source, original, *SENTENCES[1:])
    visit = began(revising(source))
    page = visit.post("write", typed(visit, text))
    shown = page.content.decode()
    if copied:
        assert (page.status_code, f"“{copied}”" in shown) == (422, True)
        assert "4 more sentences after this one" in shown
    else:
        assert page.status_code == 200
        assert "3 more sentences after this one" in shown


def test_who_wrote_a_persona_cannot_revise_it_and_others_can() -> None:
    source = of_personas()
    author = wrote(source, *SENTENCES)
    campaign = revising(source)
    again, same_browser = Visit(campaign), Visit(campaign)
    again.name = author.name
    assert notices.text("wrote") not in again.join().content.decode(), "a link proves nobody"
    same_browser.client, same_browser.name = author.client, author.name
    assert notices.text("wrote") in same_browser.join().content.decode()
    assert not campaign.participations.exists()
    assert began(campaign).get().context["screen"].name == "write"
