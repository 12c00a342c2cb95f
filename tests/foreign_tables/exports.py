"""Tables as survey tools, crowds, spreadsheets and programs export them, made byte by byte."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping

import pandas as pd

from tests.foreign_tables.made import GOOD, HEAD, REFUSED, SEMICOLONS, TOLD, Foreign, rows, votes

QUALTRICS = (
    "StartDate,EndDate,ResponseId,Q1_1,Q1_2\n"
    "Start Date,End Date,Response ID,How good is A?,How good is B?\n"
    '"{""ImportId"":""startDate""}",x,y,z,z\n'
    "2026-01-02 10:00:00,2026-01-02 10:05:00,R_1,4,5\n"
)
LIMESURVEY = "Response ID;Date submitted;G01Q01[a];G01Q01[b]\n1;2026-01-02 10:00:00;4;5\n"
PROLIFIC = "Submission id,Participant id,Status,Time taken\ns1,5f0,APPROVED,312\n"
MTURK = "HITId,WorkerId,Input.system,Answer.quality\nH1,W1,a,4\nH1,W2,a,5\nH2,W1,b,2\nH2,W2,b,3\n"
LABEL_STUDIO = json.dumps([{"id": 1, "annotations": [{"completed_by": 1}]}])
WIDE = "rater,item,a,b\nr1,i1,4,5\nr2,i1,3,4\n"
DOUBLED = HEAD + ",item\n" + "r1,a,q,4,i1\nr2,a,q,5,i1\nr1,a,q,4,i1\nr1,b,q,2,i2\n"


def archive(**members: str) -> bytes:
    """Return a zip with these members, dots written as two underscores."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "."), text)
    return made.getvalue()


def parquet() -> bytes:
    made = io.BytesIO()
    frame = pd.read_csv(io.StringIO(GOOD)).astype({"system": "category", "value": "int8"})
    frame.to_parquet(made)
    return made.getvalue()


def valued(*values: object) -> bytes:
    """Return ratings of two systems with these values."""
    return votes("ab" * (len(values) // 2), values).encode()


def lines(records: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


RECORDS = [dict(zip(HEAD.split(","), line.split(","), strict=True)) for line in GOOD.split()[1:]]

EXPORTS: list[Foreign] = [
    (
        "Qualtrics",
        "r.csv",
        QUALTRICS.encode(),
        REFUSED,
        "shape is 5 columns, no answers; right would be a row per answer",
    ),
    ("LimeSurvey", "r.csv", LIMESURVEY.encode(), REFUSED, "shape is 4 columns"),
    ("Prolific", "r.csv", PROLIFIC.encode(), REFUSED, "shape is 4 columns"),
    ("MTurk", "r.csv", MTURK.encode(), REFUSED, "shape is 4 columns"),
    ("Label Studio", "r.json", LABEL_STUDIO.encode(), REFUSED, "line is a JSON list"),
    ("a wide table", "r.csv", WIDE.encode(), REFUSED, "turn it first (in pandas: melt)"),
    (
        "rows twice",
        "r.csv",
        DOUBLED.encode(),
        REFUSED,
        "row 3: campaign, protocol, question, item, system, rater is",
    ),
    (
        "a row number in front",
        "r.csv",
        pd.read_csv(io.StringIO(GOOD)).to_csv().encode(),
        TOLD,
        "q taken for ordinal",
    ),
    (
        "a blank at the header's end",
        "r.csv",
        GOOD.replace("value\n", "value \n").encode(),
        TOLD,
        "'value ' for value",
    ),
    ("capitals", "r.csv", GOOD.replace(HEAD, HEAD.upper()).encode(), TOLD, "'RATER' for rater"),
    ("sep=; in front", "r.csv", ("sep=;\n" + SEMICOLONS).encode(), TOLD, "separated by semicolons"),
    ("bars", "r.csv", GOOD.replace(",", "|").encode(), TOLD, "separated by bars"),
    ("carriage returns", "r.csv", GOOD.replace("\n", "\r").encode(), TOLD, "q taken for ordinal"),
    ("blank lines", "r.csv", GOOD.replace("\n", "\n\n").encode(), TOLD, "q taken for ordinal"),
    (
        "commas at line ends",
        "r.csv",
        GOOD.replace("\n", ",\n").encode(),
        TOLD,
        "q taken for ordinal",
    ),
    (
        "a title in front",
        "r.csv",
        ("Results of the pilot\n" + GOOD).encode(),
        REFUSED,
        "number of fields is 4; right would be 1",
    ),
    (
        "a total at the end",
        "r.csv",
        (GOOD + "Mean,,,3.2\n").encode(),
        REFUSED,
        "row 7: question is blank",
    ),
    (
        "UTF-8 with a mark, semicolons",
        "r.csv",
        SEMICOLONS.encode("utf-8-sig"),
        TOLD,
        "separated by semicolons",
    ),
    ("UTF-32", "r.csv", GOOD.encode("utf-32"), TOLD, "The file is in UTF-32"),
    (
        "a web page",
        "r.csv",
        b"<!DOCTYPE html><html><table></table></html>",
        REFUSED,
        "rater is missing",
    ),
    (
        "an old Excel file",
        "r.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        REFUSED,
        "save the table as “CSV UTF-8”",
    ),
    ("OpenDocument", "r.ods", archive(content__xml="<x/>"), REFUSED, "file type is a workbook"),
    (
        "a workbook",
        "r.xlsx",
        archive(**{"xl/workbook__xml": "<x/>"}),
        REFUSED,
        "save the table as “CSV UTF-8”",
    ),
    (
        "a zip without a table",
        "r.zip",
        archive(notes__txt="x"),
        REFUSED,
        "contents is without any table",
    ),
    ("a table zipped by hand", "r.zip", archive(ratings__csv=GOOD), REFUSED, "item is missing"),
    ("a PDF", "r.pdf", b"%PDF-1.7", REFUSED, "file type is .pdf"),
    ("Parquet with categories", "r.parquet", parquet(), TOLD, "q taken for ordinal"),
    ("damaged Parquet", "r.parquet", parquet()[:-8], REFUSED, "content is unreadable"),
    ("JSON Lines", "r.jsonl", lines(RECORDS), TOLD, "q taken for ordinal"),
    (
        "a list in a cell",
        "r.jsonl",
        lines([{**RECORDS[0], "value": [1, 2]}]),
        REFUSED,
        "value is '[1, 2]'; right would be one answer",
    ),
    (
        "a key missing in one line",
        "r.jsonl",
        lines([{**RECORDS[0]}, {"rater": "x"}]),
        REFUSED,
        "row 2: system is blank",
    ),
    (
        "dates for answers",
        "r.csv",
        valued("2026-01-02", "2026-01-03"),
        TOLD,
        "'2026-01-02' is taken for a name",
    ),
    (
        "numbers turned into dates",
        "r.csv",
        valued(1, 2, 3, "04-May"),
        REFUSED,
        "row 4: value is '04-May'",
    ),
    ("NA for missing", "r.csv", valued(1, 2, 3, "NA"), REFUSED, "row 4: value is 'NA'"),
    (
        "-99 for missing",
        "r.csv",
        valued(*([1, 2, 3, 4, 5] * 4)[:19], -99),
        TOLD,
        "-99, in 1 row, is far from the other answers",
    ),
    (
        "infinity",
        "r.csv",
        valued(1, 2, 3, "inf"),
        REFUSED,
        "row 4: value is 'inf'; right would be a finite number",
    ),
    ("percents", "r.csv", valued("80%", "70%", "60%", "75%"), TOLD, "'80%' is taken for a name"),
    ("a formula", "r.csv", valued(1, 2, 3, "=A1+1"), REFUSED, "row 4: value is '=A1+1'"),
    ("a guarded name", "r.csv", GOOD.replace("r1", "'=r1").encode(), TOLD, "q taken for ordinal"),
    (
        "scale labels",
        "r.csv",
        valued("Agree", "Disagree", "Neutral", "Agree"),
        TOLD,
        "q taken for nominal",
    ),
    (
        "a number with its label",
        "r.csv",
        valued("4 - good", "2 - poor"),
        TOLD,
        "'4 - good' is taken for a name",
    ),
    (
        "true and false",
        "r.csv",
        valued("True", "False", "True", "True"),
        TOLD,
        "q taken for nominal",
    ),
    (
        "digits of Arabic",
        "r.csv",
        valued("٣", "٤", "٢", "٥"),
        TOLD,
        "2 to 5, the lowest and highest rating",
    ),
    ("one rating", "r.csv", (HEAD + "\nr1,a,q,4\n").encode(), TOLD, "only one rater (r1)"),
    (
        "one rater",
        "r.csv",
        rows(["x"] * 6, "ababab", ["q"] * 6, [1, 4, 2, 5, 3, 4]).encode(),
        TOLD,
        "only one rater (x)",
    ),
    ("one system", "r.csv", votes("aaaa", [1, 2, 3, 4]).encode(), TOLD, "only one system (a)"),
    (
        "a paragraph in quotes",
        "r.csv",
        GOOD.replace("r1,a", '"r\n1",a').encode(),
        TOLD,
        "q taken for ordinal",
    ),
    (
        "an open quote",
        "r.csv",
        GOOD.replace("r1,a", '"r1,a').encode(),
        REFUSED,
        "content is unreadable (unexpected end of data)",
    ),
    (
        "several answers in a cell",
        "r.csv",
        valued("1;2", "2", "3", "4"),
        REFUSED,
        "row 1: value is '1;2'",
    ),
]
