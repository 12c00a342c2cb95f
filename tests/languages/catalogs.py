"""Catalogs: the .po of each language beside what the sources say, and the .mo made from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polib
from django.conf import settings

from tests.languages.extraction import Message, messages

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
PLURAL_FORMS = {  # of the languages that there are catalogs of, as gettext writes them
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5;",
    "de": "nplurals=2; plural=n != 1;",
    "es": "nplurals=2; plural=n != 1;",
    "fr": "nplurals=2; plural=n > 1;",
}


def codes() -> list[str]:
    """Return the languages that need a catalog."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def path_of(code: str) -> Path:
    """Return where the catalog of a language is."""
    return Path(settings.LOCALE_PATHS[0]) / code / "LC_MESSAGES" / "django.po"


def read(code: str) -> polib.POFile:
    """Return a catalog as it is stored; an empty one where there is none yet."""
    path = path_of(code)
    if path.exists():
        return polib.pofile(str(path), wrapwidth=98)
    found = polib.POFile(wrapwidth=98)
    found.metadata = {
        "Project-Id-Version": "Parley",
        "Language": code,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": PLURAL_FORMS[code],
    }
    return found


def updated(code: str) -> polib.POFile:
    """Return a catalog with exactly the texts of the sources; what was translated is kept."""
    known = {(entry.msgid, entry.msgid_plural): entry for entry in read(code)}
    fresh = read(code)
    fresh.clear()
    for message, places in messages().items():
        entry = known.get((message.text, message.plural)) or _blank(message, code)
        entry.occurrences = [(place, "") for place in places]
        fresh.append(entry)
    return fresh


def _blank(message: Message, code: str) -> polib.POEntry:
    if not message.plural:
        return polib.POEntry(msgid=message.text)
    forms = dict.fromkeys(range(forms_of(code)), "")
    return polib.POEntry(msgid=message.text, msgid_plural=message.plural, msgstr_plural=forms)


def forms_of(code: str) -> int:
    """Return how many forms a counted text has in a language."""
    return int(PLURAL_FORMS[code].partition("nplurals=")[2].partition(";")[0])


def save(code: str) -> list[str]:
    """Bring a catalog up to date and compile it; return what is still to translate."""
    catalog, path = updated(code), path_of(code)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{catalog}\n", "utf-8")
    path.with_suffix(".mo").write_bytes(catalog.to_binary())
    return [complaint for entry in catalog for complaint in complaints(entry, code)]


def complaints(entry: polib.POEntry, code: str) -> Iterator[str]:
    """Yield what is wrong with a translation."""
    forms = entry.msgstr_plural if entry.msgid_plural else {0: entry.msgstr}
    wanted = range(forms_of(code)) if entry.msgid_plural else [0]
    where = f"{code}: {entry.msgid!r}"
    if entry.fuzzy:
        yield f"{where} is fuzzy"
    if sorted(forms) != list(wanted):
        yield f"{where} has forms {sorted(forms)}; it needs {list(wanted)}"
    for number, text in forms.items():
        if not text.strip():
            yield f"{where} is not translated" + (f" (form {number})" if entry.msgid_plural else "")
        elif extra := _differing(entry, text, counts=len(forms) > 1):
            yield f"{where} differs in {', '.join(sorted(extra))}"
        elif not entry.msgid_plural and _edges(text) != _edges(entry.msgid):
            yield f"{where} begins or ends with other blanks"


def _differing(entry: polib.POEntry, text: str, *, counts: bool) -> set[str]:
    """Return the placeholders that one has and the other has not; a word may stand for a count."""
    source = set(PLACEHOLDER.findall(entry.msgid))
    found = set(PLACEHOLDER.findall(text))
    return found - source if counts else found ^ source


def _edges(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()
