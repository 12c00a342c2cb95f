"""Reading tables from CSV, Parquet, JSON Lines, or the zip that an export makes."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import pyarrow

from analysis.freed_memory import give_back
from analysis.tables import cell_values, defaults, fast_csv, personas, validation
from analysis.tables.campaign_record import (
    ANSWERS,
    PEOPLE,
    REPLIES,
    CampaignRecord,
    Manifest,
    is_as_frozen,
    manifest_of,
)
from analysis.tables.columns import REFUSE, Labels
from analysis.tables.file_bytes import (
    HashedZip,
    decoded,
    encoding_note,
    format_of,
    unknown_format,
    unpacked,
    unreadable,
)
from analysis.tables.invalid_rows import as_texts
from analysis.tables.schema import BadTable, Problem, Tables
from analysis.tables.several import joined
from analysis.tables.system_settings import with_settings

NAMES = ("ratings", "messages", "predictions")
STUDY = ("plan.json", "manifest.json", "participants.csv", "ratings_all.csv")
CALLS = "reply_events.csv"
MANIFEST = STUDY[1]
PARQUET, AS_TEXT = "ratings.parquet", "ratings.csv"  # of an export the same rows


def read(path: str | Path, *, labels: Labels = REFUSE, coded: bool = False) -> Tables:
    """Return the tables in the file at `path`; raise `BadTable` or `OSError` where it has none.

    Of ratings outside an export only four columns are needed; what was assumed of the others is
    in the `notes` of the tables. `labels` says how a reply is read that a rater called specific but
    not sensible. Where `coded`, names of ratings are categories, which take a tenth of the memory;
    else they are texts.
    """
    path = Path(path)
    if format_of(path.name) == "zip":
        return _read_zip(path.name, path.read_bytes(), labels)
    frame, notes = _file(path, coded)
    kind = _kind(frame)
    if kind != "ratings":
        return _checked({kind: (path.name, as_texts(frame))})
    return _ratings(path, frame, notes, labels, coded)


def read_all(
    paths: Iterable[str | Path], *, labels: Labels = REFUSE, coded: bool = False
) -> Tables:
    """Return the tables of all files; of two files with the same table, the last is taken.

    Ratings and messages of exports with other campaigns are joined. Raises what `read` raises.
    """
    found, exports = Tables(), list[Tables]()
    for path in paths:
        tables = read(path, labels=labels, coded=coded)
        if format_of(Path(path).name) == "zip" and tables.ratings is not None:
            exports.append(tables)
            notes = tuple(note for each in exports for note in each.notes)
            tables = replace(joined(exports), notes=notes)
            found = replace(found, study=None)
        there = {k: v for k, v in vars(tables).items() if v is not None and k != "notes"}
        found = replace(found, **there)
        if tables.ratings is not None:
            found = replace(found, notes=tables.notes)
    return found


def _file(path: Path, coded: bool) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the cells of a file and what is unusual about it; its bytes are not kept."""
    content = [unpacked(path.name, path.read_bytes())]
    notes = _notes_on_file(path.name, content[0])
    # Taken from here, so that the reader is the last to hold them.
    return _read_frame(path.name, content.pop(), coded), notes


def _ratings(
    path: Path, frame: pd.DataFrame, of_file: Sequence[str], labels: Labels, coded: bool
) -> Tables:
    completed = defaults.completed(frame, path.name)
    notes = (*of_file, *completed.notes)
    if completed.frame.empty:
        right = "a row for each answer, below the header"
        raise BadTable(path.name, [Problem(None, "number of rows", "0", right)], notes=notes)
    try:
        tables = _checked({"ratings": (path.name, completed.frame)}, labels, coded)
    except BadTable as error:
        raise BadTable(error.name, error.problems, error.rows, notes) from None
    return replace(tables, notes=notes)


def _notes_on_file(name: str, content: bytes) -> tuple[str, ...]:
    """Return what is unusual about a CSV: its encoding, and what separates its cells."""
    if format_of(name) != "csv":
        return ()
    unusual = encoding_note(content)
    text = decoded(name, content if unusual else _two_lines(content))
    header = text[fast_csv.marked(text) :].partition("\n")[0]
    return (*unusual, *fast_csv.unusual(header))


def _two_lines(content: bytes) -> bytes:
    """Return the header, and the line before it that may name what separates cells."""
    first = content.find(b"\n") + 1
    return content[: (content.find(b"\n", first) + 1) or len(content)]


def _read_zip(name: str, content: bytes, labels: Labels) -> Tables:
    found: dict[str, tuple[str, pd.DataFrame]] = {}
    try:
        with HashedZip(io.BytesIO(content)) as archive:
            for member in _members(archive.namelist()):
                kind = PurePosixPath(member).stem
                found.setdefault(kind, (member, _read_frame(member, archive.read(member))))
            described, manifest = _personas(archive), _manifest(archive)
            plans = _plans(archive, manifest)
            study = _study(archive, plans, manifest)
            changed = _changed(name, archive, manifest)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise unreadable(name, "a zip", str(error)) from error
    if not found:
        right = "an export with ratings.csv, ratings.parquet or ratings.jsonl in it"
        raise BadTable(name, [Problem(None, "contents", "without any table", right)])
    tables = replace(_checked(found, labels), study=study, notes=changed)
    if tables.ratings is not None and plans:
        tables = replace(tables, ratings=with_settings(tables.ratings, plans))
    if tables.messages is None or not described:
        return tables
    return replace(tables, messages=personas.described(tables.messages, described))


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in archive.namelist():
        return {}
    try:
        return manifest_of(_json(archive, MANIFEST))
    except ValueError as error:
        raise unreadable(MANIFEST, "the manifest of an export", str(error)) from error


def _study(
    archive: zipfile.ZipFile, plans: Mapping[str, dict[str, Any]], manifest: Manifest
) -> CampaignRecord | None:
    """Return what an export tells of its campaign; None where it is no export of ours."""
    if not {*STUDY} <= {*archive.namelist()}:
        return None
    people, answers = _record(archive, STUDY[2], PEOPLE), _record(archive, STUDY[3], ANSWERS)
    replies = pd.DataFrame(columns=list(REPLIES))
    if CALLS in archive.namelist():  # which exports of former versions have not
        replies = _counts(CALLS, _record(archive, CALLS, REPLIES))
    return CampaignRecord(
        plan=plans[""],
        plan_sha256=manifest.get("plan_sha256") or "",
        state=manifest.get("state", ""),
        people=people,
        answers=answers,
        replies=replies,
        withdrew=manifest.get("withdrew"),
        outcomes=manifest.get("outcomes", {}),
        amendments=[each["text"] for each in manifest.get("amendments", ())],
        datasheet=manifest.get("datasheet", {}),
    )


def _record(archive: zipfile.ZipFile, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return a table of an export's record, which has these columns. Raises `BadTable`."""
    found = _read_frame(name, archive.read(name))
    if lacking := [column for column in columns if column not in found]:
        raise unreadable(name, "an export's columns", f"without {', '.join(lacking)}")
    return found


def _counts(name: str, found: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of each system as numbers. Raises `BadTable` with every other cell."""
    counts: pd.DataFrame = found.drop(columns="system").apply(pd.to_numeric, errors="coerce")
    problems = [
        Problem(
            row + 1, str(counts.columns[at]), str(found[counts.columns[at]].iloc[row]), "a number"
        )
        for row, at in zip(*counts.isna().to_numpy().nonzero(), strict=True)
    ]
    if problems:
        raise BadTable(name, problems, len(found))
    return counts.assign(system=found["system"])


def _plans(archive: zipfile.ZipFile, manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Return the plans of an export, of several campaigns by the folder of each's name.

    Raises `BadTable` for one that is not as it was frozen.
    """
    members = [PurePosixPath(name) for name in archive.namelist()]
    planned = manifest.get("campaigns", [])
    frozen = {each.get("campaign", ""): each.get("plan_sha256") for each in planned}
    frozen[""] = manifest.get("plan_sha256")
    found = {
        str(member.parent.name): _json(archive, str(member))
        for member in members
        if member.name == STUDY[0] and len(member.parts) <= 2
    }
    for folder, plan in found.items():
        sha256 = frozen.get(folder)
        if sha256 and not is_as_frozen(plan, sha256):
            right = f"the plan that was frozen, of SHA-256 {sha256}"
            raise unreadable(str(PurePosixPath(folder, STUDY[0])), right, "it was changed since")
    return found


def _changed(name: str, archive: HashedZip, manifest: Manifest) -> tuple[str, ...]:
    """Return a sentence with the files that are not as exported, of those that are read here."""
    written = {of: each["sha256"] for of, each in manifest.get("files", {}).items()}
    has_both = PARQUET in archive.read_files and AS_TEXT in archive.namelist()
    if has_both:
        archive.look_through(AS_TEXT)
    changed = [of for of, sha256 in archive.read_files.items() if written.get(of, sha256) != sha256]
    if not changed:
        return ()
    files = f"{changed[0]} is" if len(changed) == 1 else f"{', '.join(sorted(changed))} are"
    note = f"{name}: {files} not as exported: the manifest has another SHA-256."
    return (note + f" Ratings are those of {PARQUET}." * (has_both and AS_TEXT in changed),)


def _json(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        found = json.loads(decoded(name, archive.read(name)))
    except (ValueError, RecursionError) as error:
        raise unreadable(name, "JSON", str(error)) from error
    if found is None:
        return {}  # a plan that was never frozen
    if not isinstance(found, dict):
        raise unreadable(name, "a JSON object", f"a {type(found).__name__}")
    return found


def _personas(archive: zipfile.ZipFile) -> personas.Described:
    if personas.FILE not in archive.namelist():
        return {}
    return personas.read_personas(
        personas.FILE, decoded(personas.FILE, archive.read(personas.FILE))
    )


def _members(names: Iterable[str]) -> list[str]:
    """Return the tables among `names`, Parquet first: it keeps the types that text loses."""
    order = (".parquet", ".jsonl", ".ndjson", ".json", ".csv")
    tables = [name for name in names if PurePosixPath(name).stem in NAMES]
    known = [name for name in tables if PurePosixPath(name).suffix.lower() in order]
    return sorted(known, key=lambda name: order.index(PurePosixPath(name).suffix.lower()))


def _checked(
    frames: dict[str, tuple[str, pd.DataFrame]], labels: Labels = REFUSE, coded: bool = False
) -> Tables:
    def named(kind: str) -> tuple[pd.DataFrame, str]:
        name, frame = frames[kind]
        return frame, name

    return Tables(
        ratings=(
            validation.rating_table(*named("ratings"), labels, coded=coded)
            if "ratings" in frames
            else None
        ),
        messages=validation.message_table(*named("messages")) if "messages" in frames else None,
        predictions=(
            validation.prediction_table(*named("predictions")) if "predictions" in frames else None
        ),
    )


def _kind(frame: pd.DataFrame) -> str:
    for name in ("message", "prediction"):
        if name in frame.columns and "rater" not in frame.columns:
            return name + "s"
    return "ratings"


def _read_frame(name: str, content: bytes, coded: bool = False) -> pd.DataFrame:
    kind = format_of(name)
    if kind == "csv":
        cells = fast_csv.plain(content, coded=coded)
        if cells is None:
            return _read_csv(name, decoded(name, content))
        del content
        found = fast_csv.frame(cells)
        del cells
        give_back(len(found))
        return found
    if kind == "json lines":
        return _read_json_lines(name, decoded(name, content))
    if kind == "parquet":
        return _read_parquet(name, content)
    raise unknown_format(name)


def _read_csv(name: str, content: str) -> pd.DataFrame:
    content = content[fast_csv.marked(content) :]
    try:
        parted = fast_csv.separator(content)
        rows_of_cells = csv.reader(io.StringIO(content, newline=""), strict=True, delimiter=parted)
        lines = [line for line in rows_of_cells if line]
    except csv.Error as error:
        raise unreadable(name, "CSV with quotes as in RFC 4180", str(error)) from error
    if not lines:
        raise unreadable(name, "a CSV with a header", "the file is empty")
    header, *rows = lines
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        right = "a name of its own for each column"
        raise BadTable(name, [Problem(None, "column", f"{each!r} twice", right) for each in twice])
    problems = [
        Problem(number, "number of fields", str(len(row)), f"{len(header)}, as in the header")
        for number, row in enumerate(rows, start=1)
        if len(row) != len(header)
    ]
    if problems:
        raise BadTable(name, problems, len(rows))
    unguarded = [[cell_values.unguarded(cell) for cell in row] for row in rows]
    return pd.DataFrame(unguarded, columns=header, dtype="str")


def _read_json_lines(name: str, content: str) -> pd.DataFrame:
    # Not splitlines: a message may hold a line separator of Unicode, which JSON leaves as it is.
    lines = [line for line in content.split("\n") if line.strip()]
    records: list[dict[str, object]] = []
    problems: list[Problem] = []
    for row, line in enumerate(lines, start=1):
        try:
            record = json.loads(line, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(row, "line", f"not JSON ({error})", "one JSON object"))
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            problems.append(Problem(row, "line", f"a JSON {type(record).__name__}", "an object"))
    if problems:
        raise BadTable(name, problems, len(lines))
    return pd.DataFrame.from_records(records).astype(object)


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(
            name for name, count in Counter(name for name, _ in pairs).items() if count > 1
        )
        raise ValueError(f"{twice!r} twice")
    return found


def _read_parquet(name: str, content: bytes) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable(name, "Parquet", str(error)) from error
