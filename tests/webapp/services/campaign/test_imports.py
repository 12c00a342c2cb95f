"""Imports: every row error is shown, and nothing is stored while there is one."""

import json

import pytest

from tests.factories import NOW, make_campaign, make_staff
from webapp.models import AuditEntry, Campaign, Persona
from webapp.services.campaign import contexts_import, personas_import
from webapp.services.staff_forms import pasted
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
FIVE = [f"I like the number {word} a lot." for word in ("one", "two", "three", "four", "five")]


def draft(protocol: str = "personachat_bot") -> Campaign:
    return make_campaign(protocol, state=Campaign.State.DRAFT, personas=0)


def line(**changes: object) -> str:
    return json.dumps({"id": "a", "sentences": FIVE} | changes)


def only_error(text: str) -> str:
    found = personas_import.preview(campaign=draft(), text=text)
    assert not found.good
    return found.bad[0].error


def test_personas_of_json_lines_are_stored_in_the_pool() -> None:
    campaign = draft()
    text = line() + "\r\n\r\n" + line(id="b", sentences=FIVE[::-1], revised=FIVE, split="train")
    assert personas_import.preview(campaign=campaign, text=text).good
    assert not Persona.objects.exists()
    assert personas_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW) == 2
    rows = {row.key: row for row in campaign.personas.all()}
    assert (rows["a"].split, rows["b"].split) == ("test", "train")
    assert rows["b"].revised == FIVE


def test_plain_text_has_a_blank_line_between_personas() -> None:
    found = personas_import.preview(
        campaign=draft(), text="\n".join(FIVE) + "\n\n\n" + "\n".join(FIVE[::-1]) + "\n"
    )
    assert [row.number for row in found.rows] == [1, 8]
    assert found.good
    assert found.rows[0].value is not None
    assert found.rows[0].value.sentences == tuple(FIVE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{not json", "not JSON"),
        ("[1]", "must be an object"),
        (line(id=""), "id is"),
        (line(id="x" * 41), "1 to 40 characters"),
        (line(sentences="I am one text."), "list of texts"),
        (line(sentences=[*FIVE[:4], 5]), "list of texts"),
        (line(sentences=FIVE[:3]), "has 3 sentences"),
        (line(sentences=[*FIVE[:4], "Too short"]), "“Too short” has 2 words"),
        (line(sentences=[*FIVE[:4], "no " * 16]), "has 16 words"),
        (line(revised=FIVE[:4]), "one for each of the 5"),
        (line(split="a very long split"), "at most 10"),
        (line(sentences=[*FIVE[:4], "I \ud800 am odd."]), "cannot be stored"),
        (line(sentences=[*FIVE[:4], "I \0 am odd."]), "cannot be stored"),
        (line() + "\n" + line(sentences=FIVE[::-1]), "is there already: line 1"),
        (line() + "\n" + line(id="b"), "is there already: line 1"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_each_row_error_says_what_is_wrong(text: str, said: str) -> None:
    assert said in only_error(text)


def test_four_sentences_are_allowed_as_a_departure() -> None:
    found = personas_import.preview(campaign=draft(), text=line(sentences=FIVE[:4]))
    assert found.good
    assert found.notes[0].note == "4 sentences; the source has 5"


@pytest.mark.parametrize(("count", "right"), [(3, False), (4, True), (10, True), (11, False)])
def test_a_persona_has_four_to_ten_sentences(count: int, right: bool) -> None:
    sentences = [f"I have {number} old cats." for number in range(count)]
    found = personas_import.preview(campaign=draft(), text=line(sentences=sentences))
    assert found.good == right
    if not right:
        assert "it must have 5 (or 4 to 10)" in found.bad[0].error


@pytest.mark.parametrize("field", ["sentences", "shared"])
@pytest.mark.parametrize(
    ("lines", "letters", "right"), [(40, 200, True), (41, 9, False), (1, 201, False)]
)
def test_a_sheet_has_at_most_forty_lines_of_200_characters(
    field: str, lines: int, letters: int, right: bool
) -> None:
    sheet = {"id": "a", "name": "Ann", "group": "one", field: ["x" * letters] * lines}
    campaign = draft("student_advisor")
    found = personas_import.preview(campaign=campaign, text=json.dumps(sheet))
    assert found.good == right
    if not right:
        assert found.bad[0].error == f"{field} must have at most 40 texts of 200 characters"


def test_an_import_is_logged_with_its_number() -> None:
    campaign = draft()
    personas_import.store(campaign=campaign, text=line(), by=make_staff(), now=NOW)
    entry = AuditEntry.objects.latest("number")
    assert (entry.action, entry.detail["count"]) == ("personas imported", 1)


def test_one_bad_row_keeps_all_out() -> None:
    campaign = draft()
    text = line() + "\n" + line(id="b", sentences=["No."])
    with pytest.raises(Invalid):
        personas_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW)
    assert not campaign.personas.exists()


def test_an_import_done_twice_is_refused_the_second_time() -> None:
    campaign = draft()
    personas_import.store(campaign=campaign, text=line(), by=make_staff(), now=NOW)
    found = personas_import.preview(campaign=campaign, text=line())
    assert found.bad[0].error == "is there already: in this campaign"


@pytest.mark.parametrize(
    ("text", "said"),
    [("  \n ", "empty"), ("x" * 1_000_001, "900 kB"), ("{}\n" * 2001, "2000 rows")],
)
def test_too_much_or_nothing_is_refused_as_a_whole(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        personas_import.preview(campaign=draft(), text=text)


def test_a_file_must_be_utf8() -> None:
    assert pasted.decode("\ufeffé".encode()) == "é"
    with pytest.raises(Invalid, match="UTF-8"):
        pasted.decode(b"\xff\xfe")


def test_the_bundled_personas_and_contexts_are_right() -> None:
    campaign = draft()
    found = personas_import.preview(campaign=campaign, text=personas_import.bundled(campaign))
    assert found.good
    assert len(found.rows) >= 4
    static = draft("meena_static")
    assert contexts_import.preview(campaign=static, text=contexts_import.bundled()).good


def test_contexts_are_stored_once() -> None:
    campaign = draft("meena_static")
    text = '{"id": "c1", "messages": ["Hi.", "Hello!"]}\n{"id": 2, "messages": ["Tea?"]}'
    assert contexts_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW) == 2
    assert list(campaign.contexts.values_list("key", flat=True)) == ["c1", "2"]
    again = contexts_import.preview(campaign=campaign, text=text)
    assert len(again.bad) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "c", "messages": []}', "1 to 3"),
        ('{"id": "c", "messages": ["1", "2", "3", "4"]}', "1 to 3"),
        ('{"id": "c", "messages": ["%s"]}' % ("x" * 4001), "4000 characters"),
        ('{"messages": ["Hi."]}', "id is"),
    ],
)
def test_each_context_error_says_what_is_wrong(text: str, said: str) -> None:
    found = contexts_import.preview(campaign=draft("meena_static"), text=text)
    assert said in found.bad[0].error


def test_personas_in_a_script_without_blanks_are_imported() -> None:
    sentences = [
        "私は犬が好きです。",
        "海の近くに住んでいます。",
        "毎朝コーヒーを飲みます。",
        "兄が二人います。",
    ]
    draft = make_campaign(state=Campaign.State.DRAFT, personas=0)
    found = personas_import.preview(campaign=draft, text="\n".join(sentences))
    assert found.good, found.bad
    short = personas_import.preview(campaign=draft, text="\n".join(["犬。", *sentences]))
    assert "“犬。” has 1 word; it must have 3 to 15" in short.bad[0].error
