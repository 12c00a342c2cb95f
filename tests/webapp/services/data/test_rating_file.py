"""Files of ratings: whatever their number, laid down once and written in parts, the same rows."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.webapp.services import rated
from tests.webapp.services.data.test_exports import KINDS
from tests.webapp.services.data.test_texts import HARD, campaign_with
from tests.webapp.services.studies import make_study
from webapp.models import Campaign
from webapp.services.data import codebook, phases, rating_file, study_record, tables
from webapp.services.data.rating_file import LaidDownRatings
from webapp.services.data.tables import Row

COLUMNS = list(codebook.RATINGS)
MADE: dict[str, Callable[[], Campaign]] = KINDS | {
    "texts": lambda: campaign_with(HARD),
    "nothing": lambda: rated.personachat(each=0),
}


def rows(count: int, texts: Iterable[int] = (), aside: Iterable[int] = ()) -> Iterator[Row]:
    """Yield so many rows; of these numbers the answer is a text, or it is set aside."""
    texts, aside = set(texts), set(aside)
    for number in range(count):
        yield dict.fromkeys(COLUMNS, "") | {
            "answer": str(number),
            "rater": f"r{number % 7}",
            "system": "beta" if number % 2 else "alpha",
            "value": f"word {number}" if number in texts else number % 5,
            "place": number,
            "votes": 1,
            "scale_low": 1,
            "scale_high": 5.5,
            "excluded": "late" if number in aside else "",
        }


def written(made: LaidDownRatings) -> pq.ParquetFile:
    """Return the Parquet file of what counts."""
    stream = io.BytesIO()
    assert made.parquet(stream) == made.kept
    return pq.ParquetFile(io.BytesIO(stream.getvalue()))


@pytest.mark.parametrize("count", [0, 3, 4, 5, 11, 12, 13, 25])
def test_batches_and_row_groups_hold_every_row_once_in_order(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rating_file, "CHUNK", 4)
    monkeypatch.setattr(rating_file, "GROUP", 12)
    with rating_file.laid_down(rows(count), COLUMNS, tmp_path) as made:
        assert (made.count, made.kept) == (count, count)
        assert [row[0] for row in made.rows(is_whole=True)] == [str(n) for n in range(count)]
        file = written(made)
        assert file.read().column("place").to_pylist() == list(range(count))
        groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        assert all(size <= 12 for size in groups)
        assert len([size for size in groups if size]) == -(-count // 12)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("aside", "kept"), [((), 6), ((0,), 5), ((5,), 5), (range(6), 0)])
def test_what_is_set_aside_is_in_the_whole_alone(
    aside: Iterable[int], kept: int, tmp_path: Path
) -> None:
    with rating_file.laid_down(rows(6, aside=aside), COLUMNS, tmp_path) as made:
        names = [[row[0] for row in made.rows(is_whole=whole)] for whole in (False, True)]
        assert made.kept == kept
        assert made.count == len(names[1]) == 6
        assert names[0] == [each for each in names[1] if int(each) not in set(aside)]
        assert written(made).read().column("answer").to_pylist() == names[0]


def test_a_text_makes_all_answers_of_the_parquet_file_texts(tmp_path: Path) -> None:
    with rating_file.laid_down(rows(6, texts=[4]), COLUMNS, tmp_path) as made:
        values = [row[COLUMNS.index("value")] for row in made.rows(is_whole=True)]
        assert values == [0.0, 1.0, 2.0, 3.0, "word 4", 0.0]
        expected = ["0", "1", "2", "3", "word 4", "0"]
        assert written(made).read().column("value").to_pylist() == expected
        assert made.judged()["value"].tolist() == values


def test_names_are_categories_in_order_of_name(tmp_path: Path) -> None:
    with rating_file.laid_down(rows(9), COLUMNS, tmp_path) as made:
        frame = made.judged()
    assert list(frame["system"].cat.categories) == ["alpha", "beta"]
    assert frame["system"].tolist() == ["alpha", "beta"] * 4 + ["alpha"]
    assert frame["answer"].dtype == "str"
    assert frame["value"].dtype == np.float64


@pytest.mark.django_db
@pytest.mark.parametrize("kind", MADE)
def test_a_datasheet_says_the_same_of_them_as_of_the_table(kind: str, tmp_path: Path) -> None:
    campaign = MADE[kind]()
    whole = tables.ratings(campaign, include_excluded=True)
    rows_of = tables.rating_rows(campaign)
    with rating_file.laid_down(rows_of, COLUMNS, tmp_path) as found:
        judged = found.judged()
        assert study_record.heds_text(campaign, judged) == study_record.heds_text(campaign, whole)
        nobody = found.judged("campaign-0")
        assert nobody.empty
    columns = list(rating_file.JUDGED)
    plain = judged.astype({name: whole[name].dtype for name in columns})
    pd.testing.assert_frame_equal(plain[columns], whole[columns])


@pytest.mark.django_db
def test_of_a_study_each_campaign_has_its_own(tmp_path: Path) -> None:
    first, second = rated.personachat(each=2), campaign_with(HARD[:3])
    study = make_study(first, second)
    with rating_file.laid_down(phases.rating_rows(study), phases.RATINGS, tmp_path) as found:
        for campaign in (first, second):
            whole = tables.ratings(campaign, include_excluded=True)
            judged = found.judged(tables.name_of(campaign))
            assert judged["answer"].tolist() == whole["answer"].tolist()
            assert judged["value"].tolist() == whole["value"].tolist()


def test_python_objects_of_few_rows_live_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rating_file, "CHUNK", 500)
    peaks = []
    for count in (2_000, 20_000):
        tracemalloc.start()
        with rating_file.laid_down(rows(count), COLUMNS, tmp_path) as made:
            assert sum(1 for _ in made.rows(is_whole=True)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
