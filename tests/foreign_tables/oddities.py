"""Tables with an oddity each, as people make them."""

from __future__ import annotations

import gzip

from tests.foreign_tables.made import GOOD, HEAD, REFUSED, SEMICOLONS, TOLD, Foreign, rows, votes

SCALED = HEAD + ",scale_low,scale_high\nr1,a,q,5,1,5\nr2,b,q,4,1,5\n"
DIRECTED = HEAD + ",better\nr1,a,q,5,{}\nr2,b,q,4,{}\n"
PLACED = HEAD + ",place\nr1,a,q,5,{}\nr2,b,q,4,1\n"
LABELED = (
    "rater,system,question,value,item\n"
    + "r1,a,sensible,0,i\nr1,a,specific,1,i\nr2,b,sensible,1,j\nr2,b,specific,1,j\n"
)
UNEQUAL = votes("a" * 10 + "b" * 40, [1, 2, 3, 4, 5] * 10)
ADAPTED = rows(
    [f"r{k}" for k in range(80)],
    "ab" * 20 + "b" * 36 + "a" * 4,
    ["q"] * 80,
    [1, 2, 3, 4, 5, 4, 3, 2] * 10,
    range(80),
    header=HEAD + ",given_at",
)
TWO_SCALES = votes("abab" * 3, [1, 80, 2, 35, 3, 100, 4, 60, 5, 20, 4, 90])

ODDITIES: list[Foreign] = [
    ("four columns", "r.csv", GOOD.encode(), TOLD, "dependence between ratings of one item is not"),
    ("semicolons", "r.csv", SEMICOLONS.encode(), TOLD, "separated by semicolons"),
    ("tabs", "r.tsv", GOOD.replace(",", "\t").encode(), TOLD, "separated by tabs"),
    ("tabs, named text", "r.txt", GOOD.replace(",", "\t").encode(), TOLD, "separated by tabs"),
    ("gzip", "r.csv.gz", gzip.compress(SEMICOLONS.encode()), TOLD, "separated by semicolons"),
    ("damaged gzip", "r.csv.gz", gzip.compress(GOOD.encode())[:-9], REFUSED, "a whole gzip file"),
    ("UTF-16", "r.csv", GOOD.encode("utf-16"), TOLD, "The file is in UTF-16"),
    ("UTF-8 with a mark", "r.csv", GOOD.encode("utf-8-sig"), TOLD, "taken for ordinal"),
    ("Latin-1", "r.csv", GOOD.replace("r3", "rené").encode("latin-1"), REFUSED, "CSV UTF-8"),
    ("Excel", "r.xlsx", b"PK\x03\x04", REFUSED, "save the table as “CSV UTF-8”"),
    ("Excel named CSV", "r.csv", b"PK\x03\x04rest", REFUSED, "an Excel workbook by another name"),
    ("SPSS", "r.sav", b"$FL2", REFUSED, "an SPSS file"),
    ("no ending", "ratings", GOOD.encode(), REFUSED, "file type is no ending"),
    ("nothing in it", "r.csv", b"", REFUSED, "the file is empty"),
    ("header only", "r.csv", HEAD.encode() + b"\n", REFUSED, "number of rows is 0"),
    ("no header", "r.csv", GOOD.partition("\n")[2].encode(), REFUSED, "rater is missing"),
    ("no question", "r.csv", GOOD.replace("question", "topic").encode(), REFUSED, "question is"),
    ("synonyms", "r.csv", b"worker,model,prompt,score\nx,a,q,1\ny,b,q,2\n", TOLD,
     "'worker' for rater"),
    ("a prompt beside a question", "r.csv",
     b"annotator,model,criterion,prompt,rating\nx,a,q,p1,1\ny,b,q,p1,2\n", TOLD,
     "'prompt' for item"),
    ("two words for one column", "r.csv", b"rater,system,question,score,rating\nx,a,q,1,2\n",
     REFUSED, "so name one of them value"),
    ("two columns of one name", "r.csv", b"rater,system,question,value,value\nx,a,q,1,2\n",
     REFUSED, "'value' twice"),
    ("one name twice but for case", "r.csv", b"rater,system,question,value,Value\nx,a,q,1,2\n",
     TOLD, "There are columns 'value' and 'Value'"),
    ("a key twice", "r.jsonl", b'{"rater": "x", "rater": "y"}\n', REFUSED, "'rater' twice"),
    ("a short row", "r.csv", GOOD.encode() + b"r9,a\n", REFUSED, "number of fields is 2"),
    ("a blank answer", "r.csv", GOOD.replace("r1,a,q,1", "r1,a,q,").encode(), REFUSED,
     "a question not answered has no row"),
    ("a decimal comma", "r.csv", SEMICOLONS.replace("q;1\n", "q;1,5\n").encode(), REFUSED,
     "1.5, with a point"),
    ("a word among numbers", "r.csv", GOOD.replace("q,1\n", "q,good\n").encode(), REFUSED,
     "a finite number"),
    ("NUL in a name", "r.csv", GOOD.replace("r1", "r\x001").encode(), REFUSED, "such as NUL"),
    ("a place in words", "r.csv", PLACED.format("first").encode(), REFUSED, "place is 'first'"),
    ("systems nearly alike", "r.csv", votes("aA" * 3, [1, 2, 3, 4, 5, 4]).encode(), TOLD,
     "systems that differ by blanks or case only are taken for different ones: 'A' and 'a'"),
    ("questions nearly alike", "r.csv", GOOD.replace("r1,a,q", "r1,a,Q ").encode(), TOLD,
     "questions that differ by blanks or case only"),
    ("answers nearly alike", "r.csv", votes("abab", ["Yes", "yes", "NO", "no"]).encode(), TOLD,
     "answers to q that differ by blanks or case only"),
    ("55 on 1 to 5", "r.csv", votes("ab" * 5, [1, 2, 3, 4, 5, 5, 4, 3, 2, 55]).encode(), TOLD,
     "55, in 1 row, is far from the other answers, 1 to 5"),
    ("9 on a given scale", "r.csv", SCALED.replace("b,q,4", "b,q,9").encode(), REFUSED,
     "value is 9; right would be a number from 1 to 5"),
    ("9 where the row gives no scale", "r.csv", SCALED.encode() + b"r3,a,q,9,,\n", REFUSED,
     "row 3: value is 9; right would be a number from 1 to 5"),
    ("one end of a scale", "r.csv", SCALED.replace("scale_high", "x").encode(), REFUSED,
     "both ends of the scale"),
    ("systems on different scales", "r.csv", TWO_SCALES.encode(), TOLD,
     "systems seem to be rated on different scales (a: 1 to 5; b: 20 to 100)"),
    ("a direction unknown", "r.csv", DIRECTED.format("up", "up").encode(), REFUSED,
     "better is 'up'; right would be high, low or none"),
    ("two directions", "r.csv", DIRECTED.format("low", "High").encode(), REFUSED,
     "better is 'high'; right would be 'low'"),
    ("all answers 4", "r.csv", votes("abab", [4] * 4).encode(), TOLD, "every answer is 4"),
    ("one system always 4", "r.csv", votes("abab", [4, 1, 4, 2]).encode(), TOLD,
     "every answer about a system is the same (a 4)"),
    ("a tie", "r.csv", votes("abab", [1, 2, 3, 2]).encode(), TOLD,
     "a and b have the same best mean, 2.00"),
    ("a rater per system", "r.csv",
     rows(["x", "x", "y", "y"], "aabb", ["q"] * 4, [1, 2, 3, 4]).encode(), TOLD,
     "a system was judged by one rater only (a by x, b by y)"),
    ("lost by quality", "r.csv", UNEQUAL.encode(), TOLD,
     "systems have different numbers of items (a 10, b 40;"),
    ("given to the leader", "r.csv", ADAPTED.encode(), TOLD,
     "systems were not given evenly over time (items in the first and the second half: a 20 and 4"),
    ("specific, not sensible", "r.csv", LABELED.encode(), REFUSED,
     "--labels zero or --labels as-given"),
]  # fmt: skip
