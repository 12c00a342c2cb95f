"""Guides on the pages of staff: found from where they help, safe, and true to the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.factories import make_campaign
from webapp.models import Campaign
from webapp.services.participation import screens
from webapp.services.rules import access
from webapp.services.staff_forms.fields import panel_address
from webapp.views.staff import guides

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]
NAMES = [guide.name for guide in guides.guides()]
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
# In the guides, but no words of a page: what is stressed.
STRESSED = {
    "bold",
    "Without the id everybody counts as a volunteer",
    "each person a code of their own",
    "one fixed code for a study",
    "Places",
    "Time",
    "not",
    "Open it before you quote anything.",
    "the same thing",
}


def test_the_guides_for_who_uses_it_come_first() -> None:
    assert NAMES[:4] == ["first_study", "prolific", "reading_the_report", "ratings_table"]
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == set(NAMES)
    assert guides.guides()[0].title == "Your first study in 10 minutes"
    assert all(guide.about for guide in guides.guides()[:4])


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_shown_with_links_and_pictures_that_lead_somewhere(
    ann: Client, name: str
) -> None:
    page = ann.get(f"/docs/{name}/").content.decode()
    article = page.partition("<article")[2].partition("</article>")[0]
    assert page.count("<h1") == 1
    ids = set(re.findall(r'id="([^"]+)"', article))
    for link in re.findall(r'href="([^"]+)"', article):
        path, _, anchor = link.partition("#")
        if path.startswith("/"):
            other = ann.get(path)
            assert other.status_code == 200, link
            assert not anchor or f'id="{anchor}"' in other.content.decode(), link
        elif not path:
            assert anchor in ids, link
    for picture in re.findall(r'src="([^"]+)"', article):
        assert finders.find(picture.removeprefix("/static/")), picture


@pytest.mark.parametrize("name", ["nothing", "../README", "FIRST_STUDY"])
def test_what_is_no_guide_is_not_found(name: str) -> None:
    with pytest.raises(access.NotFound):
        guides.text(name)


def test_an_address_of_no_guide_is_not_found(ann: Client) -> None:
    assert ann.get("/docs/nothing/").status_code == 404
    assert ann.get("/docs/../settings/").status_code == 404


def test_markup_and_scripts_of_a_page_are_not_run(
    tmp_path: Path,
) -> None:
    text = (
        "# Odd\n\nBe <script>alert(1)</script> [x](javascript:alert(2)) [y](../LICENSE)\n\n"
        "![p](http://elsewhere.example/p.png)\n\n<b onclick='x()'>bold</b>\n"
    )
    (tmp_path / "odd.md").write_text(text)
    html = guides.text("odd", tmp_path).html
    for bad in ("<script", 'href="javascript', "LICENSE", "<b ", "elsewhere.example"):
        assert bad not in html, html


@pytest.mark.parametrize(
    ("address", "guide"),
    [
        ("/campaigns/", "first_study"),
        ("/campaigns/{pk}/live/", "prolific"),
        ("/campaigns/{pk}/", "prolific"),
        ("/campaigns/{pk}/results/", "reading_the_report"),
    ],
)
def test_each_page_links_the_guide_that_helps_there(
    ann: Client, campaign: Campaign, address: str, guide: str
) -> None:
    page = ann.get(address.format(pk=campaign.pk)).content.decode()
    assert f'href="/docs/{guide}/"' in page


def test_the_launch_links_what_to_put_into_prolific(ann: Client, draft: Campaign) -> None:
    assert 'href="/docs/prolific/"' in ann.get(f"/campaigns/{draft.pk}/launch/").content.decode()


def test_the_empty_list_links_the_first_study(ann: Client) -> None:
    assert 'href="/docs/first_study/"' in ann.get("/campaigns/").content.decode()


def test_what_stands_in_bold_stands_on_a_page() -> None:
    """Buttons, fields and columns are named as the pages name them."""
    places = [*(ROOT / "templates").rglob("*.html")]
    for part in ("forms", "services", "views"):
        places += (ROOT / "webapp" / part).rglob("*.py")
    words = "\n".join(path.read_text(encoding="utf-8") for path in places)
    for name in ("first_study", "prolific", "reading_the_report"):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        named = set(BOLD.findall(text)) - STRESSED
        assert sorted(one for one in named if one not in words) == [], name


def test_what_is_said_of_prolific_s_codes_is_so() -> None:
    """The printed address brings everybody back with one code, and with their own behind it."""
    text = (ROOT / "docs" / "prolific.md").read_text(encoding="utf-8")
    (address,) = re.findall(r"https://app\.prolific\.com/submissions\S+?(?=`|\n)", text)
    back = screens.return_address(address, "ABCD-EFGH")
    assert back == "https://app.prolific.com/submissions/complete?cc=C1ABCDEF&own=ABCD-EFGH"
    assert make_campaign(return_url=address).return_url.count("cc=") == 1
    assert panel_address(address) == address
