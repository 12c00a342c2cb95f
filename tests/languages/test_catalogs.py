"""Catalogs: complete, up to date with the sources, compiled, and readable by Django."""

from __future__ import annotations

import polib
import pytest
from django.utils.translation import ngettext, override

from evaluation.sentences import counted, sentence
from tests.languages import catalogs
from tests.languages.extraction import messages
from webapp import languages, notices

COMMAND = "update the catalogs with `python -m tests.languages`, then translate what it lists"


def test_there_are_four_besides_english_and_one_is_written_from_right_to_left() -> None:
    assert len(catalogs.codes()) >= 4
    assert "rtl" in {languages.direction(code) for code in catalogs.codes()}


@pytest.mark.parametrize("code", catalogs.codes())
def test_a_catalog_has_every_text_of_the_sources_and_no_other(code: str) -> None:
    wanted = {(message.text, message.plural) for message in messages()}
    found = {(entry.msgid, entry.msgid_plural) for entry in catalogs.read(code)}
    assert sorted(wanted - found) == [], f"{code} lacks these; {COMMAND}"
    assert sorted(found - wanted) == [], f"{code} has these, which are gone; {COMMAND}"


@pytest.mark.parametrize("code", catalogs.codes())
def test_every_text_is_translated_in_every_form(code: str) -> None:
    wrong = [each for entry in catalogs.read(code) for each in catalogs.complaints(entry, code)]
    assert wrong == [], COMMAND
    assert catalogs.read(code).metadata["Plural-Forms"] == catalogs.PLURAL_FORMS[code]


@pytest.mark.parametrize("code", catalogs.codes())
def test_what_is_compiled_is_what_is_written(code: str) -> None:
    path = catalogs.path_of(code)
    compiled = path.with_suffix(".mo").read_bytes()
    assert compiled == catalogs.read(code).to_binary(), COMMAND


def test_a_complaint_names_what_is_wrong() -> None:
    right = polib.POEntry(msgid="%(count)s of {most}", msgstr="{most}: %(count)s")
    empty = polib.POEntry(msgid="Send", msgstr=" ")
    lost = polib.POEntry(msgid="Paid %(pay)s", msgstr="Bezahlt")
    fuzzy = polib.POEntry(msgid="Send", msgstr="Senden", flags=["fuzzy"])
    few = polib.POEntry(msgid="a", msgid_plural="b", msgstr_plural={0: "c", 1: "d"})
    assert list(catalogs.complaints(right, "de")) == []
    assert list(catalogs.complaints(empty, "de")) == ["de: 'Send' is not translated"]
    assert list(catalogs.complaints(lost, "de")) == ["de: 'Paid %(pay)s' differs in %(pay)s"]
    assert list(catalogs.complaints(fuzzy, "de")) == ["de: 'Send' is fuzzy"]
    assert list(catalogs.complaints(few, "ar")) == [
        "ar: 'a' has forms [0, 1]; it needs [0, 1, 2, 3, 4, 5]"
    ]


@pytest.mark.parametrize("code", catalogs.codes())
def test_every_form_of_a_counted_text_is_one_that_some_number_takes(code: str) -> None:
    with override(code):
        forms = {ngettext("%(count)d word", "%(count)d words", n) for n in range(200)}
    entry = catalogs.read(code).find("%(count)d word")
    assert entry is not None
    assert forms == set(entry.msgstr_plural.values())


def test_sentences_are_put_together_in_the_language_of_the_page() -> None:
    complaint = sentence(
        "Please use at most %(limit)s; this message has %(words)d.",
        limit=counted("%(count)d word", "%(count)d words", 1),
        words=3,
    )
    assert complaint == "Please use at most 1 word; this message has 3."
    with override("de"):
        german = languages.localized(complaint)
    assert german == "Bitte verwenden Sie höchstens 1 Wort; diese Nachricht hat 3."
    assert notices.text_in("es", "too_few", count=2).startswith(
        "Continúe, por favor: hacen falta 2"
    )
    assert notices.text_in("en", "too_few", count=1).endswith(
        "1 more message is needed before you can finish."
    )


@pytest.mark.parametrize(
    ("allowed", "chosen", "accepted", "shown"),
    [
        (["en"], "", "de", "en"),
        (["de"], "", "", "de"),
        (["en", "de"], "", "de-AT,en;q=0.5", "de"),
        (["en", "de"], "", "en;q=0.5,DE;q=0.9", "de"),
        (["en", "de"], "en", "de", "en"),
        (["en", "de"], "fr", "fr", "en"),
        (["ar", "de"], "", "*", "ar"),
        ([], "", "de", "en"),
    ],
)
def test_the_language_is_one_that_the_campaign_allows(
    allowed: list[str], chosen: str, accepted: str, shown: str
) -> None:
    assert languages.pick(allowed, chosen=chosen, accepted=accepted) == shown
