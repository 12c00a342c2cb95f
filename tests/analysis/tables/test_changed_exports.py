"""An export that was changed by hand is refused with the place, or read with a caution."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from analysis import BadTable, Tables, read
from analysis.tables.campaign_record import (
    ANSWERS,
    PEOPLE,
    REPLIES,
    Manifest,
    ManifestFile,
    PlannedCampaign,
    RecordedAmendment,
)
from analysis.tables.personas import PersonaLine
from analysis.tables.reading import read_all
from tests.analysis.examples import raw

PLAN = {"systems": [{"name": "s", "bot": "parrot", "options": {}}], "contact": "Zoë <z@x.org>"}
FROZEN = hashlib.sha256(
    json.dumps(PLAN, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
).hexdigest()
ROWS = raw([{"value": 1}, {"value": 2}])


def files(**changes: object) -> dict[str, bytes]:
    """Return the files of a small export, with some that stand in place of those by these names."""
    people = pd.DataFrame([dict.fromkeys(PEOPLE, "s")])
    answers = pd.DataFrame([dict.fromkeys(ANSWERS, "s")])
    replies = pd.DataFrame([{"system": "s", **dict.fromkeys(REPLIES[1:], 1)}])
    parquet = io.BytesIO()
    ROWS.to_parquet(parquet)
    made: dict[str, object] = {
        "plan.json": json.dumps(PLAN, indent=1),
        "participants.csv": people.to_csv(index=False),
        "ratings_all.csv": answers.to_csv(index=False),
        "reply_events.csv": replies.to_csv(index=False),
        "ratings.csv": ROWS.to_csv(index=False),
        "ratings.parquet": parquet.getvalue(),
        "personas.jsonl": json.dumps({"persona": "1", "sentences": ["I bake."], "split": "a"})
        + "\n",
    }
    made |= {name: each for name, each in changes.items() if name in made}
    return {
        name: each if isinstance(each, bytes) else str(each).encode() for name, each in made.items()
    }


def manifest(of: dict[str, bytes], **changes: object) -> dict[str, object]:
    known = {name: {"sha256": hashlib.sha256(each).hexdigest()} for name, each in of.items()}
    return {"files": known, "plan_sha256": FROZEN, "schema": 2, **changes}


def zipped(folder: Path, of: dict[str, bytes], told: object = None, name: str = "e.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest(of) if told is None else told))
        for member, content in of.items():
            archive.writestr(member, content)
    return folder / name


def test_an_export_as_it_was_written_has_no_note(tmp_path: Path) -> None:
    found = read(zipped(tmp_path, files()))
    assert found.notes == ()
    assert found.study is not None
    assert (found.study.plan, found.study.plan_sha256) == (PLAN, FROZEN)


@pytest.mark.parametrize(
    "name", ["participants.csv", "ratings_all.csv", "reply_events.csv", "personas.jsonl"]
)
def test_a_file_that_was_changed_is_named(name: str, tmp_path: Path) -> None:
    made = files()
    told = manifest(made)
    made[name] += made[name].splitlines(keepends=True)[-1]
    found = read(zipped(tmp_path, made, told))
    assert found.notes == (f"e.zip: {name} is not as exported: the manifest has another SHA-256.",)


def test_ratings_that_were_changed_are_not_those_that_are_read(tmp_path: Path) -> None:
    # Whoever takes a rater out of ratings.csv has to learn that it is in ratings.parquet still.
    made = files()
    told = manifest(made)
    made["ratings.csv"] = ROWS[:1].to_csv(index=False).encode()
    found = read(zipped(tmp_path, made, told))
    (note,) = found.notes
    assert "ratings.csv is not as exported" in note
    assert note.endswith("Ratings are those of ratings.parquet.")
    assert found.ratings is not None
    assert len(found.ratings) == len(ROWS)
    del made["ratings.parquet"]
    found = read(zipped(tmp_path, made, told))
    assert "parquet" not in found.notes[0]
    assert found.ratings is not None
    assert len(found.ratings) == 1


def test_notes_of_several_exports_are_all_told(tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        made = files()
        told = manifest(made)
        rows = ROWS.assign(campaign=name, answer=[f"{name}{k}" for k in range(len(ROWS))])
        made["ratings.csv"] = rows.to_csv(index=False).encode()
        del made["ratings.parquet"]
        paths.append(zipped(tmp_path, made, told, f"{name}.zip"))
    found: Tables = read_all(paths)
    assert [note.split(":")[0] for note in found.notes] == ["one.zip", "two.zip"]


@pytest.mark.parametrize("where", ["", "one"])
def test_a_plan_that_is_not_the_frozen_one_is_refused(where: str, tmp_path: Path) -> None:
    changed = json.dumps(PLAN | {"contact": "somebody else"})
    made = files(**{"plan.json": changed})
    told = manifest(made)
    if where:
        made[f"{where}/plan.json"] = made.pop("plan.json")
        told |= {"plan_sha256": None, "campaigns": [{"campaign": where, "plan_sha256": FROZEN}]}
    with pytest.raises(BadTable, match=rf"plan\.json: 1 problem(?s:.)*{FROZEN}"):
        read(zipped(tmp_path, made, told))
    made = {name: json.dumps(PLAN).encode() if "plan" in name else x for name, x in made.items()}
    assert read(zipped(tmp_path, made, told)).ratings is not None


FIELDS = [
    field
    for shape in (Manifest, ManifestFile, PlannedCampaign, RecordedAmendment)
    for field in shape.__annotations__
]


def placed(field: str, wrong: object) -> dict[str, object]:
    """Return the part of a manifest that has this value where the field stands."""
    if field in Manifest.__annotations__:
        return {field: wrong}
    if field == "sha256":
        return {"files": {"ratings.csv": {field: wrong}}}
    return {"amendments": [{field: wrong}]} if field == "text" else {"campaigns": [{field: wrong}]}


@pytest.mark.parametrize("field", FIELDS)
def test_a_manifest_of_other_types_is_refused_with_the_field(field: str, tmp_path: Path) -> None:
    made = files()
    told = manifest(made) | placed(field, 7.5)  # which no field may be
    with pytest.raises(BadTable, match=rf"manifest\.json(?s:.)*{field}"):
        read(zipped(tmp_path, made, told))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *(("participants.csv", each) for each in PEOPLE),
        *(("ratings_all.csv", each) for each in ANSWERS),
        *(("reply_events.csv", each) for each in REPLIES),
    ],
)
def test_a_column_that_is_missing_is_named_with_its_file(
    name: str, column: str, tmp_path: Path
) -> None:
    table = pd.read_csv(io.BytesIO(files()[name])).drop(columns=column).to_csv(index=False)
    made = files(**{name: table})
    with pytest.raises(BadTable, match=rf"{name}(?s:.)*without {column}"):
        read(zipped(tmp_path, made))


def test_calls_that_are_no_numbers_are_all_listed(tmp_path: Path) -> None:
    table = pd.DataFrame([{"system": "s", **dict.fromkeys(REPLIES[1:], "1")}] * 3)
    table.loc[1, "calls"], table.loc[2, "failed"] = "many", ""
    made = files(**{"reply_events.csv": table.to_csv(index=False)})
    with pytest.raises(BadTable) as refused:
        read(zipped(tmp_path, made))
    assert [(each.row, each.field, each.value) for each in refused.value.problems] == [
        (2, "calls", "many"),
        (3, "failed", ""),
    ]


@pytest.mark.parametrize("field", PersonaLine.__annotations__)
@pytest.mark.parametrize("wrong", [None, True, {"a": 1}])
def test_a_persona_of_other_types_is_told_with_its_line(
    field: str, wrong: Any, tmp_path: Path
) -> None:
    line = {"persona": "1", "sentences": ["I bake."]}
    lines = [json.dumps(line), json.dumps(line | {field: wrong}), json.dumps(cast(object, wrong))]
    made = files(**{"personas.jsonl": "\n".join(lines)})
    with pytest.raises(BadTable) as refused:
        read(zipped(tmp_path, made))
    assert [each.row for each in refused.value.problems] == [2, 3]
