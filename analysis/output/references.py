"""References of a report: what its text cites, as a numbered list and as BibTeX.

Apart because the list is of the whole text, and the file of sources is not code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pandas as pd

from analysis.report import Report, Section, many

FILE = Path(__file__).with_name("sources.json")
NAME = r"[A-Z][^\W\d_]+(?:[’'-][^\W\d_]+)*"
# As papers cite: Holm 1979; Korn & Graubard 1998; Cameron, Gelbach & Miller 2011; Ji et al. 2022.
CITATION = re.compile(rf"\b{NAME}(?:(?:, {NAME})*,? & {NAME}| et al\.)? \d{{4}}\b")
# A month before a year, or a name of something else, is no citation.
NO_NAMES = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December) "
)
KEY = "references"
ABOUT = ("cited", "kind")  # of an entry, and no field of BibTeX


class UnknownSource(LookupError):
    """A citation is of nothing in the file of sources."""


@cache
def sources() -> Mapping[str, Mapping[str, str]]:
    """Return every source by how it is cited, in order of that."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {each["cited"]: each for each in sorted(entries, key=lambda each: str(each["cited"]))}


def citations(text: str) -> list[str]:
    """Return the citations of a text, each once, as they are written."""
    found = dict.fromkeys(each.group() for each in CITATION.finditer(" ".join(text.split())))
    return [each for each in found if not NO_NAMES.match(each)]


def cited(texts: Iterable[str]) -> list[Mapping[str, str]]:
    """Return the known sources that some texts cite, in order of name."""
    found = {each for text in texts for each in citations(text)}
    return [entry for name, entry in sources().items() if name in found]


def section(texts: Iterable[str]) -> Iterator[Section]:
    """Yield the numbered list of what some texts cite, where they cite anything."""
    entries = cited(texts)
    if entries:
        rows = [(f"[{k}]", written(each)) for k, each in enumerate(entries, start=1)]
        frame = pd.DataFrame(rows, columns=["no.", "source"])
        title = f"References: {many(len(entries), 'source')}"
        yield Section(title, frame, key=KEY, appendix=True)


def texts_of(sections: Iterable[Section], *more: Iterable[str]) -> list[str]:
    """Return what the notes of sections and other paragraphs say."""
    return [*(each.note for each in sections), *(text for texts in more for text in texts)]


def bibtex(report: Report) -> str:
    """Return the entries of BibTeX of what a report cites; none where it cites nothing."""
    texts = texts_of(report.sections, report.methods, report.cautions, report.findings)
    return "\n".join(_entry(each) for each in cited(texts))


def written(entry: Mapping[str, str]) -> str:
    """Return a source as a reference list has it."""
    where = entry.get("journal") or entry.get("booktitle") or entry.get("publisher")
    parts = [where or entry["howpublished"]]
    parts += [entry["volume"]] if "volume" in entry else []
    parts += [entry["pages"].replace("--", "–")] if "pages" in entry else []
    edition = f" ({entry['edition']} edition)" if "edition" in entry else ""
    end = "" if entry["title"].endswith("?") else "."
    title = f"{entry['title']}{edition}{end}"
    return f"{_people(entry['author'])} ({entry['year']}). {title} {', '.join(parts)}."


def _people(names: str) -> str:
    people = names.split(" and ")
    return people[0] if len(people) == 1 else f"{'; '.join(people[:-1])} & {people[-1]}"


def _entry(entry: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{_escaped(value)}}}," for name, value in _fields(entry)]
    key = re.sub(r"[^a-z0-9]+", "-", entry["cited"].lower()).strip("-")
    return "\n".join([f"@{entry['kind']}{{{key},", *lines, "}", ""])


def _fields(entry: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in entry.items():
        if name not in ABOUT:
            # Braces keep the capitals of a title as they are.
            yield name, f"{{{value}}}" if name == "title" else value


def _escaped(text: str) -> str:
    return text.replace("&", r"\&")
