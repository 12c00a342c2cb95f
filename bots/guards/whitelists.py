"""Whitelists: the only replies a ranker may give, chosen by rule and then reviewed by people.

Source: the ASAPP paper of NLP4CONVAI 2019, section 5: the most frequent responses after ignoring
case, punctuation and white space; or the most frequent one of each k-means cluster of their
encodings; at random is for evaluation only. Review (keep, edit, drop) is in its text without
detail; the files are our own: JSON Lines or CSV with text, count, decision and edited.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from bots.guards.filters import safe
from bots.line_files import BadLine, InvalidData, read_lines, text_of
from bots.text.tokens import key

if TYPE_CHECKING:
    import numpy as np

Method = Literal["frequency", "clustering", "random"]
Decision = Literal["keep", "edit", "drop"]
DECISIONS: tuple[str, ...] = get_args(Decision)
COLUMNS = ("text", "count", "decision", "edited")
Encode: TypeAlias = "Callable[[Sequence[str]], np.ndarray]"


@dataclass(frozen=True)
class WhitelistEntry:
    """A response with its count, and the reviewer's decision."""

    text: str
    count: int
    decision: Decision = "keep"
    edited: str = ""

    @property
    def reply(self) -> str | None:
        """The reply to serve, or None."""
        return {"keep": self.text, "edit": self.edited, "drop": None}[self.decision]


def count(texts: Iterable[str]) -> list[WhitelistEntry]:
    """Count responses that differ only in case, punctuation or white space as one.

    The most frequent come first, each as it is most often written; ties in their order. Those not
    fit to be served are proposed to be dropped.
    """
    written: dict[str, Counter[str]] = {}
    for text in texts:
        if key(text):
            written.setdefault(key(text), Counter())[text.strip()] += 1
    entries = [_entry(forms) for forms in written.values()]
    return sorted(entries, key=lambda entry: -entry.count)


def _entry(forms: Counter[str]) -> WhitelistEntry:
    [(text, _)] = forms.most_common(1)
    return WhitelistEntry(text, forms.total(), "keep" if safe(text) else "drop")


def frequency(entries: Sequence[WhitelistEntry], size: int) -> list[WhitelistEntry]:
    """Return the most frequent responses."""
    return list(entries[:size])


def at_random(entries: Sequence[WhitelistEntry], size: int, seed: int) -> list[WhitelistEntry]:
    """Return responses drawn at random, each once; the more frequent are not preferred."""
    indices = Random(seed).sample(range(len(entries)), min(size, len(entries)))  # noqa: S311
    return [entries[index] for index in sorted(indices)]


def clustering(
    entries: Sequence[WhitelistEntry], size: int, encode: Encode, seed: int
) -> list[WhitelistEntry]:
    """Return the most frequent response of each cluster of encodings."""
    # They take a second, and only this needs them.
    import numpy as np
    from sklearn.cluster import KMeans

    if size >= len(entries):
        return list(entries)
    vectors = np.asarray(encode([entry.text for entry in entries]), dtype=np.float32)
    weights = np.array([entry.count for entry in entries], dtype=np.float32)
    found = KMeans(size, n_init=1, random_state=seed).fit_predict(vectors, sample_weight=weights)
    first: dict[int, WhitelistEntry] = {}
    for cluster, entry in zip(found.tolist(), entries, strict=True):
        first.setdefault(cluster, entry)
    return sorted(first.values(), key=lambda entry: -entry.count)


def replies(entries: Iterable[WhitelistEntry]) -> tuple[str, ...]:
    """Return the replies to serve, each once."""
    found: dict[str, str] = {}
    for entry in entries:
        if entry.reply is not None:
            found.setdefault(key(entry.reply), entry.reply)
    return tuple(found.values())


def stamp(path: Path) -> tuple[int, int]:
    """Return a stamp that changes when the file is edited.

    Raises InvalidData if it cannot be read.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise InvalidData([f"{path}: cannot be read ({error.strerror})"]) from error
    return found.st_mtime_ns, found.st_size


def read_whitelist(path: Path) -> list[WhitelistEntry]:
    """Read a whitelist, reviewed or not; a file that keeps nothing is refused.

    Raises InvalidData, naming everything wrong with the file.
    """
    entries = (read_csv if _is_csv(path) else read_json)(read_lines(path), str(path))
    if not replies(entries):
        raise InvalidData([f"{path}: keeps no reply"])
    return entries


def write(entries: Sequence[WhitelistEntry], path: Path) -> None:
    """Write a whitelist, as CSV or as JSON Lines by the file's name."""
    path.write_text(to_csv(entries) if _is_csv(path) else to_json(entries), "utf-8")


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def to_json(entries: Iterable[WhitelistEntry]) -> str:
    """Return a JSON Lines file."""
    return "".join(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in entries)


def to_csv(entries: Iterable[WhitelistEntry]) -> str:
    """Return a CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(entry) for entry in entries)
    return file.getvalue()


def read_json(lines: Sequence[str], name: str) -> list[WhitelistEntry]:
    """Read the lines of a JSON Lines file, or name everything that is wrong with them."""
    return _parsed(((number, line) for number, line in enumerate(lines, 1) if line.strip()), name)


def read_csv(lines: Sequence[str], name: str) -> list[WhitelistEntry]:
    """Read the lines of a CSV file, or name everything that is wrong with them.

    Raises InvalidData.
    """
    reader = csv.DictReader(lines)
    missing = [column for column in COLUMNS[:2] if column not in (reader.fieldnames or ())]
    if missing:
        raise InvalidData([f"{name}: the first line must name the columns {', '.join(COLUMNS)}"])
    return _parsed(((reader.line_num, record) for record in reader), name)


def _parsed(rows: Iterable[tuple[int, Any]], name: str) -> list[WhitelistEntry]:
    entries, problems = [], []
    for number, row in rows:
        try:
            entries.append(parse(_record(row) if isinstance(row, str) else row))
        except BadLine as problem:
            problems.append(f"{name}, line {number}: {problem}")
    if not entries and not problems:
        problems.append(f"{name}: no records")
    if problems:
        raise InvalidData(problems)
    return entries


def _record(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not JSON ({error})") from error
    if not isinstance(record, dict):
        raise BadLine(f"must be an object, is {line[:40]!r}")
    return record


def parse(record: Mapping[str, Any]) -> WhitelistEntry:
    """Return the entry that a record describes, or raise BadLine."""
    text, times = text_of(record, "text"), str(record.get("count", "")).strip()
    if not times.isdecimal():
        raise BadLine(f"count is {times!r}, but must be a whole number")
    decision = str(record.get("decision") or "keep").strip().lower()
    if decision not in DECISIONS:
        raise BadLine(f"decision is {decision!r}, but must be one of {', '.join(DECISIONS)}")
    edited = str(record.get("edited") or "").strip()
    if decision == "edit" and not key(edited):
        raise BadLine("decision is edit, but edited is empty")
    return WhitelistEntry(text, int(times), cast(Decision, decision), edited)
