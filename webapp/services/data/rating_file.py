"""The files of ratings, from one look at the answers, a part of them in memory at a time.

Rows are laid down in a temporary file of Arrow batches, from which each file is written: so all of
them are of one look, and how many answers count is known before the first. Only what a datasheet is
told of (`judged`) grows with the answers.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import compute, ipc

from analysis import RatingTable
from analysis.freed_memory import give_back
from analysis.tables.columns import BETTER_COLUMN, RATING_COLUMNS, SCALE_COLUMNS
from analysis.tables.schema import VOTES_COLUMN
from webapp.services.data import csv_format, tables
from webapp.services.data.answers import AnswerRow
from webapp.services.data.tables import Row

CHUNK = 1_000  # rows in memory at once
GROUP = 50_000  # rows of a row group of Parquet
ARROW = {"int64": pa.int64(), "float64": pa.float64(), "str": pa.large_string()}
TEXT = "text"  # beside `value`, where an answer is a text: a column has one type
# What a datasheet is told of: who judged what, how, and what is set aside.
JUDGED = (*RATING_COLUMNS, BETTER_COLUMN, *SCALE_COLUMNS, VOTES_COLUMN, "excluded", "flags")


@contextmanager
def laid_down(
    rows: Iterable[Row], columns: Sequence[str], folder: Path
) -> Iterator[LaidDownRatings]:
    """Lay rows of ratings down in a nameless file of the folder, for as long as they are read."""
    with tempfile.TemporaryFile(dir=folder) as file:
        yield LaidDownRatings(file, rows, columns)


class LaidDownRatings:
    """Rows of ratings on the disk: `count` of them, of which `kept` are not set aside."""

    def __init__(self, file: IO[bytes], rows: Iterable[Row], columns: Sequence[str]) -> None:
        self.columns = list(columns)
        self.types = tables.types_of(columns, AnswerRow)
        self.count, self.kept, self.has_texts = 0, 0, False
        self.file = file
        fields = {name: ARROW.get(kind, pa.float64()) for name, kind in self.types.items()}
        schema = pa.schema(fields | {TEXT: pa.large_string()})
        options = ipc.IpcWriteOptions(compression="lz4")
        with ipc.new_stream(file, schema, options=options) as writer:
            for some in _parts(rows):
                writer.write_batch(self._batch(some, schema))

    def _batch(self, rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
        values = [row["value"] for row in rows]
        texts = [each if isinstance(each, str) else None for each in values]
        self.count += len(rows)
        self.kept += sum(not row["excluded"] for row in rows)
        self.has_texts |= any(each is not None for each in texts)
        cells = {name: [row[name] for row in rows] for name in self.columns} | {TEXT: texts}
        cells["value"] = [None if isinstance(each, str) else float(each) for each in values]
        # From pandas: what is not a number is missing.
        columns = [pa.array(cells[each.name], each.type, from_pandas=True) for each in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _batches(self, *, is_whole: bool, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield what was laid down; unless whole, without what is set aside."""
        self.file.seek(0)
        with ipc.open_stream(self.file) as reader:
            for batch in reader:
                some = batch.select([*columns, TEXT]) if columns else batch
                is_kept = compute.equal(batch["excluded"], "")
                yield some if is_whole else some.filter(is_kept)

    def rows(self, *, is_whole: bool) -> Iterator[tuple[Any, ...]]:
        """Yield the cells of each row, an answer as a number or as the text that it is."""
        at = self.columns.index("value")
        for batch in self._batches(is_whole=is_whole):
            *cells, texts = (column.to_pylist() for column in batch.columns)
            cells[at] = _either(cells[at], texts)
            yield from zip(*cells, strict=True)

    def parquet(self, stream: io.BufferedIOBase) -> int:
        """Write the rows that count in row groups, and return how many there are.

        A column of a file has one type: where some answers are texts, all are.
        """
        kind = {"value": "str" if self.has_texts else "float64"}
        empty = pd.DataFrame(columns=self.columns).astype(self.types | kind)
        schema = pa.Schema.from_pandas(empty, preserve_index=False)
        with pq.ParquetWriter(pa.PythonFile(stream, "w"), schema) as writer:
            for group in self._groups(schema):
                writer.write_table(group, row_group_size=GROUP)
        return self.kept

    def _groups(self, schema: pa.Schema) -> Iterator[pa.Table]:
        group: list[pa.RecordBatch] = []
        for batch in self._batches(is_whole=False):
            group.append(self._one_type(batch, schema))
            if sum(map(len, group)) + CHUNK > GROUP:
                yield pa.Table.from_batches(group, schema)
                group = []
        yield pa.Table.from_batches(group, schema)

    def _one_type(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        texts = columns.pop(TEXT)
        if self.has_texts:
            both = _either(columns["value"].to_pylist(), texts.to_pylist())
            columns["value"] = [
                each if isinstance(each, str) else csv_format.cell(each) for each in both
            ]
        return pa.RecordBatch.from_pydict(columns, schema)

    def judged(self, campaign: str = "") -> RatingTable:
        """Return who judged what, names as categories; of one campaign, where it is named."""
        found = (
            batch if not campaign else batch.filter(compute.equal(batch["campaign"], campaign))
            for batch in self._batches(is_whole=True, columns=JUDGED)
        )
        coded = [self._coded(batch) for batch in found if len(batch)]
        if not coded:
            empty = {name: pd.Series(dtype=self.types[name]) for name in JUDGED}
            return RatingTable(pd.DataFrame(empty))
        whole = pa.concat_tables(coded).unify_dictionaries()
        coded.clear()  # it holds a dictionary of each batch
        frame = whole.to_pandas(split_blocks=True, self_destruct=True)
        del whole  # its memory went to the frame
        give_back(self.count)
        if self.has_texts:
            texts = frame.pop(TEXT).astype(object)
            frame["value"] = frame["value"].astype(object).where(texts.isna(), texts)
        for name in frame.select_dtypes("category"):
            frame[name] = frame[name].cat.reorder_categories(sorted(frame[name].cat.categories))
        return RatingTable(cast(pd.DataFrame, frame))

    def _coded(self, batch: pa.RecordBatch) -> pa.Table:
        """Return a batch with a dictionary for each column of names, none where each differs."""
        whole = pa.Table.from_batches([batch])
        if not self.has_texts:
            whole = whole.drop_columns([TEXT])
        for at, name in enumerate(whole.column_names):
            if self.types.get(name) == "str" and name != "answer":
                whole = whole.set_column(at, name, whole[name].dictionary_encode())
        return whole


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    return iter(lambda: list(islice(source, CHUNK)), [])


def _either(numbers: Sequence[Any], texts: Sequence[Any]) -> list[Any]:
    both = zip(numbers, texts, strict=True)
    return [number if text is None else text for number, text in both]
