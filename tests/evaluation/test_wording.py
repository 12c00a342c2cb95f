"""What protocols show is what their sources print, to the letter, and cited where it stands."""

from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path

import pytest

from evaluation import Draw, Gate, Likert, MaxWords, Protocol, Source, Words, YesNo, ours
from evaluation.registry import get_protocol, protocol_names
from evaluation.words import texts, words_of
from tests.evaluation import wording
from tests.evaluation.wording import PRINTED, STATED, PrintedWords

protocols = pytest.mark.parametrize(
    "protocol", [get_protocol(n) for n in protocol_names()], ids=protocol_names()
)
printed = pytest.mark.parametrize("name", sorted(PRINTED))
ABBREVIATIONS = {
    "§": "section ",
    "app. ": "appendix ",
    "fig. ": "figure ",
    "A.2": "appendix A.2",
    "tables 4-6": "table 4, table 5, table 6",
}


@protocols
def test_the_words_of_the_source_are_shown_to_the_letter(protocol: Protocol) -> None:
    assert wording.wording_faults(protocol) == []


@protocols
def test_citations_name_the_section_that_states_the_thing(protocol: Protocol) -> None:
    assert wording.citation_faults(protocol) == []


@printed
def test_one_changed_letter_is_refused(name: str) -> None:
    rows = PRINTED[name]
    for field, words in words_of(get_protocol(name)):
        assert wording.other_words(rows, field, words) == []
        spots = [i for m in re.finditer("«[^»]+»", words.marked) for i in range(*m.span())]
        for spot in spots or range(len(words) if words.quoted else 0):
            letter = words.marked[spot]
            if letter in "«»":
                continue
            changed = words.marked[:spot] + ("x" if letter != "x" else "y")
            changed += words.marked[spot + 1 :]
            other = Words(changed, tag=words.tag, where=words.where, quoted=words.quoted)
            assert wording.other_words(rows, field, other), other


@printed
def test_words_that_are_no_longer_marked_are_missed(name: str) -> None:
    """A paraphrase of ours in place of the source's words is found by what is lacking."""
    protocol = get_protocol(name)
    bare = dataclasses.replace(protocol, instructions=(), steps=())
    assert len(wording.wording_faults(bare)) == len(PRINTED[name])


@printed
def test_another_section_is_refused(name: str) -> None:
    """Also one that the paper has: five raters in section 2.2 were such a citation."""
    protocol = get_protocol(name)
    sections = {each for row in PRINTED[name] for each in row.where} | {"section 2.2", "table 9"}
    for setting, source in protocol.sources.items():
        if source.tag != "D":
            for section in sections - wording.cited(STATED[name][setting]):
                wrong = {**protocol.sources, setting: Source(source.tag, f"{section}: so it is")}
                faults = wording.citation_faults(dataclasses.replace(protocol, sources=wrong))
                assert [fault.partition(":")[0] for fault in faults] == [setting]
    for field, words in words_of(protocol):
        if words.exact:
            other = Words(words.marked, tag=words.tag, where="table 9", quoted=words.quoted)
            (fault,) = wording.other_words(PRINTED[name], field, other)
            assert fault.startswith(f"{field}: where is")


@pytest.mark.parametrize("where", ["section 3.3", "section 9", "the paper"])
def test_a_paraphrase_cites_a_section_that_is_known_for_the_paper(where: str) -> None:
    protocol = get_protocol("personachat_bot")
    told = (Words("You will chat.", tag="S", where=where), ours("Have fun."))
    faults = wording.citation_faults(dataclasses.replace(protocol, instructions=told))
    assert [fault.partition(":")[0] for fault in faults] == (
        [] if where == "section 3.3" else ["instructions.1"]
    )


def test_another_tag_or_quotation_is_refused() -> None:
    rows = PRINTED["meena_interactive"]
    released = Words("Hi!", tag="R", where="section 2.3", quoted=True)
    assert wording.other_words(rows, "chat.opening", released) == ["chat.opening: tag is R, not S"]
    unquoted = Words("«Hi!»", tag="S", where="section 2.3")
    (fault,) = wording.other_words(rows, "chat.opening", unquoted)
    assert fault == "chat.opening: quoted is False, not True"
    assert wording.other_words(rows, "chat.told", released), "at its own field only"


def test_the_four_measures_are_named_in_the_papers_order() -> None:
    after = get_protocol("personachat_bot").after
    assert after is not None
    names = [words.exact[0] for field, words in words_of(after) if field.endswith(".text")]
    assert names == ["Fluency", "Engagingness", "Consistency", "Profile Detection"]


# --- the oracle itself ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def specified(shared_data: Path) -> str:
    """The specification of protocols, from which the oracle is copied."""
    path = shared_data.parent / "spec" / "protocols.md"
    if not path.is_file():
        pytest.skip("no file shared/spec/protocols.md beside the repository")
    return path.read_text(encoding="utf-8")


# What the papers of a protocol are called there, by the first word of its name.
PAPERS = {
    "personachat": ("PERSONA-CHAT",),
    "meena": ("MEENA",),
    "convai2": ("ConvAI2", "PERSONA-CHAT"),
    "nine": ("ConvAI2",),
    "persona": ("PERSONA-METRICS",),
    "role": ("PERSONA-METRICS",),
}
# Where words of released code are told, by the citation: from one heading to the next.
RELEASED = {
    "released evaluation code": ("### PC-P4", "### PC-P5"),
    "released task code": ("### CA-P1", "### CA-P2"),
    "released revision code": ("Worked examples for `no_nonstop_overlap`", "**Surprise**"),
    "released ParlAI code": ("### X-P1", "### X-P2"),
}


def cells(specified: str, name: str) -> list[tuple[str, str, set[str]]]:
    """Return kind, words and sections of each row of the papers of a protocol."""
    _, _, last = specified.partition("## 8. Words that are quoted by the sources")
    rows: list[list[str]] = []
    for paper in PAPERS.get(name.partition("_")[0], ("NLP4CONVAI",)):
        table = last.partition(f"### {paper}\n")[2].partition("\n### ")[0]
        lines = [line for line in table.splitlines() if line.startswith("| ")]
        rows += [line.strip()[1:-1].split(" | ") for line in lines[1:]]
    found = []
    before = ""
    for _, kind, words, where in rows:
        where = before = before if where.strip() == "same" else where
        for short, long in ABBREVIATIONS.items():
            where = where.replace(short, long)
        found.append((kind, words, wording.cited(where)))
    return found


def stands(row: PrintedWords, table: list[tuple[str, str, set[str]]]) -> bool:
    return any(
        row.words in words and row.where == where and ("Q" if row.quoted else "P") in kind
        for kind, words, where in table
    )


@printed
def test_every_row_stands_in_the_specification(name: str, specified: str) -> None:
    table = cells(specified, name)
    assert len(table) > 6
    for row in PRINTED[name]:
        if row.is_released:
            (place,) = row.where
            begin, end = RELEASED[place]
            assert row.words in specified.partition(begin)[2].partition(end)[0]
        else:
            assert stands(row, table), row


# --- words ------------------------------------------------------------------------------------


def test_words_are_a_text_that_is_copied_with_its_provenance() -> None:
    words = Words("Please «come in».", tag="S", where="section 1", quoted=True)
    assert words == "Please come in."
    assert type(str(words)) is str
    for each in (words, copy.copy(words), copy.deepcopy(words)):
        assert each == words
        assert (each.tag, each.where, each.quoted) == ("S", "section 1", True)
        assert each.exact == ("come in",)
    assert Words("Come in", tag="S", where="table 1", quoted=True).exact == ("Come in",)
    assert Words("Come in", tag="S", where="table 1").exact == (), "a paraphrase"


@pytest.mark.parametrize(
    ("text", "tag", "where", "quoted", "complaint"),
    [
        ("Hi", "X", "section 1", False, "tag “X” is none of S, R, D"),
        ("Hi", "S", " ", False, "where is empty"),
        ("«Hi", "S", "section 1", False, "a mark has no partner"),
        ("Hi»", "S", "section 1", False, "a mark has no partner"),
        ("«»", "S", "section 1", False, "a mark has no partner"),
        ("«Hi»", "D", "ours", False, "tag D has no source"),
        ("Hi", "D", "ours", True, "tag D has no source"),
    ],
)
def test_a_provenance_that_cannot_be_is_refused(
    text: str, tag: str, where: str, quoted: bool, complaint: str
) -> None:
    with pytest.raises(ValueError, match=f"words “{text}”: {complaint}"):
        Words(text, tag=tag, where=where, quoted=quoted)  # type: ignore[arg-type]


def test_every_shown_text_of_a_part_is_found_by_the_path_of_its_field() -> None:
    points = (ours("bad"), "", "good")
    likert = Likert(name="mood", text="How was it?", points=points, only_if=Gate("met"))
    met = YesNo(name="met", text="Did you meet?", yes="Aye", no="Nay")
    assert list(texts((met, likert, Draw((1,)), MaxWords(3), {"a": "b"}))) == [
        ("met.text", "Did you meet?"),
        ("met.yes", "Aye"),
        ("met.no", "Nay"),
        ("mood.text", "How was it?"),
        ("mood.points.1", "bad"),
        ("mood.points.3", "good"),
        ("5.a", "b"),
    ]
    found = dict(words_of((likert,)))
    assert (found["mood.text"].tag, found["mood.text"].where) == ("D", "ours")


def test_a_change_keeps_the_provenance_of_equal_words_only() -> None:
    protocol = get_protocol("meena_interactive")
    for value, tag in (("Hi!", "S"), ("Hello!", "D")):
        changed = dict(words_of(protocol.change({"chat.opening": value})))
        assert changed["chat.opening"] == value
        assert changed["chat.opening"].tag == tag
