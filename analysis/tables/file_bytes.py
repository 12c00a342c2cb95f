"""Bytes of a file: unpacked, and as text, or refused with what to do about it.

Apart because this is about how programs save files, and `reading` about the tables in them.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Any

from analysis.tables.schema import BadTable, Problem

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json lines",
    ".zip": "zip",
}
GZIP = ".gz"
AS_CSV = "save the table as “CSV UTF-8” (in Excel: Save as, CSV UTF-8) and give that file"
# Workbooks and the files of statistics programs are not read: the programs that write them all
# write CSV too.
BY_OTHERS = {
    ".xlsx": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".ods": "a workbook",
    ".numbers": "a workbook",
    ".sav": "an SPSS file",
    ".dta": "a Stata file",
    ".rds": "an R file",
    ".html": "a web page",
}
WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
PACKED = b"PK\x03\x04"


class HashedZip(zipfile.ZipFile):
    """A zip that knows the SHA-256 of each file that was read of it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.read_files: dict[str, str] = {}

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        content = super().read(name, pwd)
        self.read_files[str(getattr(name, "filename", name))] = hashlib.sha256(content).hexdigest()
        return content

    def look_through(self, name: str) -> None:
        """Take the checksum of a file that is not kept."""
        with self.open(name) as file:
            self.read_files[name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def format_of(name: str) -> str | None:
    """Return the format of a file by its name, of a packed one that of what is packed."""
    path = PurePosixPath(name)
    if path.suffix.lower() == GZIP:
        path = PurePosixPath(path.stem)
    return FORMATS.get(path.suffix.lower())


def unpacked(name: str, content: bytes) -> bytes:
    """Return the content of a file whose name ends in .gz, or that of any other as it is.

    Raises `BadTable` where it is damaged.
    """
    if PurePosixPath(name).suffix.lower() != GZIP:
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(name, "a whole gzip file", str(error)) from error


def decoded(name: str, content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 or UTF-32 where it begins by saying so.

    Raises `BadTable` with what to do for any other.
    """
    if content.startswith(PACKED):
        raise unreadable(
            name, f"text; {AS_CSV}", "it is a zip or an Excel workbook by another name"
        )
    wide = next((code for mark, code in WIDE.items() if content.startswith(mark)), None)
    try:
        return content.decode(wide or "utf-8-sig")
    except UnicodeDecodeError as error:
        if wide or b"\x00" in content[:200]:
            raise unreadable(name, f"text in UTF-8; {AS_CSV}", str(error)) from error
        line = content.count(b"\n", 0, error.start) + 1
        why = f"byte {content[error.start]:#x} in line {line}; it may be Latin-1 or Windows-1252"
        raise unreadable(name, f"text in UTF-8; {AS_CSV}", why) from error


def encoding_note(content: bytes) -> tuple[str, ...]:
    """Return a sentence about the encoding where it is not UTF-8."""
    wide = next((code for mark, code in WIDE.items() if content.startswith(mark)), None)
    return (f"The file is in {wide.upper()}.",) if wide else ()


def unknown_format(name: str) -> BadTable:
    """Return the refusal of a file of no format that is read, with what to do."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in BY_OTHERS:
        return BadTable(name, [Problem(None, "file type", BY_OTHERS[suffix], f"CSV: {AS_CSV}")])
    right = "one of " + " ".join(sorted({*FORMATS, GZIP}))
    return BadTable(name, [Problem(None, "file type", suffix or "no ending", right)])


def unreadable(name: str, right: str, why: str) -> BadTable:
    """Return the refusal of a file whose content is not what its name says."""
    return BadTable(name, [Problem(None, "content", f"unreadable ({why})", right)])
