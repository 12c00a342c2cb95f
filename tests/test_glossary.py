"""Words of the glossary: its last column names words that are no names in code.

Looked at is where a name is made, so that a name is reported once and a library's never is:
definitions, arguments, variables, attributes, URLs and their parameters, and frames.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
PACKAGES = ("webapp", "evaluation", "analysis", "bots")
FRAMES = ("webapp/sockets/", "webapp/services/conversation/")  # where dicts become frames
HARMLESS = (
    "given_up",
    "give_up",
    "decimal_places",
)  # English, or Django's, of which a word is part

# Names that are stored, or that pages drawn before version 2 know: module and name to the reason.
EXCEPTIONS = {
    ("analysis/metrics/questions_asked.py", "questions_asked"): "name of a metric",
    ("analysis/comparisons/preferences.py", "place"): "column of the RatingTable",
    ("analysis/metrics/order_effect.py", "NO_PLACE"): "where an item was shown",
    ("analysis/metrics/order_effect.py", "ONE_PLACE"): "where an item was shown",
    ("analysis/metrics/order_effect.py", "place"): "column of the RatingTable",
    ("analysis/simulation/campaigns.py", "place"): "column of the RatingTable",
    ("bots/writers/seq2seq.py", "asked"): "name of an array in weights",
    ("bots/zoo/chat_server.py", "told"): "option of a campaign's bot",
    ("bots/zoo/chat_server.py", "told_persona"): "option of a campaign's bot",
    ("bots/zoo/ppmi/__init__.py", "told"): "name of an array in weights",
    ("bots/zoo/ppmi/keywords.py", "places"): "name of an array in weights",
    ("bots/zoo/sentimental/sentimental.py", "told"): "name of an array in weights",
    ("evaluation/chat.py", "told"): "key of a stored plan and of its codebook",
    ("webapp/models/participation.py", "given_at"): "column",
    ("webapp/models/payment.py", "given_at"): "column",
    ("webapp/models/payment.py", "given_by"): "column",
    ("webapp/models/rating.py", "place"): "column: where an item is shown",
    ("webapp/models/whitelist.py", "place"): "column: the position of a reply in its list",
    ("webapp/services/data/answers.py", "place"): "column of the RatingTable",
    ("webapp/sockets/version_1.py", "say"): "type of version 1",
    ("static/outbox.js", "say"): "type of an item that a page of version 1 left in its outbox",
}


@cache
def banned() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that are no part of a name, and those that are no whole name."""
    parts: set[str] = set()
    whole: set[str] = set()
    for line in GLOSSARY:
        if line.startswith("|") and not line.startswith(("| word ", "|---")):
            for word in filter(None, re.split(r",\s*", line.split("|")[4].strip())):
                (whole if word.startswith("**") else parts).add(word.strip("*"))
    return frozenset(parts), frozenset(whole)


def is_banned(name: str) -> bool:
    """Tell whether a name, in snake or camel case, has a word that it may not have."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").strip("_")
    for phrase in HARMLESS:
        snake = re.sub(rf"(?<![a-z]){phrase}(?![a-z])", "", snake)
    parts, whole = banned()
    return snake in whole or not parts.isdisjoint(snake.split("_"))


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names that a module makes, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.MatchMapping(rest=str(name)):
                yield name, node.lineno


def names_of_urls(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names of addresses and of their parameters."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield from ((name, node.lineno) for name in re.findall(r"<\w+:(\w+)>", text))
            case ast.Call(func=ast.Name(id="path"), keywords=keywords):
                values = [each.value for each in keywords if each.arg == "name"]
                yield from ((str(ast.unparse(each)).strip("'"), node.lineno) for each in values)


def names_of_frames(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the types and the keys of frames; those of structs are attributes besides."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(keywords=keywords):
                tags = [each.value for each in keywords if each.arg == "tag"]
                yield from ((ast.literal_eval(tag), node.lineno) for tag in tags)
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    (_text(key), _text(value)) for key, value in zip(keys, values, strict=True)
                ]
                yield from ((key, node.lineno) for key, _ in pairs)
                yield from ((value, node.lineno) for key, value in pairs if key == "type")


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def names_of_script(text: str) -> Iterator[tuple[str, int]]:
    """Yield the identifiers of a script and its types of frames, with their lines."""
    for number, line in enumerate(text.splitlines(), start=1):
        code = re.sub(r"(?<![:\"'`])//.*", "", line)
        yield from ((name, number) for name in re.findall(r"type(?:: | === )\"(\w+)\"", code))
        bare = re.sub(r"\"[^\"]*\"", "", code)
        yield from ((name, number) for name in re.findall(r"[A-Za-z_]\w*", bare))


def modules() -> Iterator[tuple[str, Iterator[tuple[str, int]]]]:
    """Yield the product's modules and scripts, each with its names."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = path.relative_to(ROOT).as_posix()
            if "/migrations/" not in module:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                of_frames = names_of_frames(tree) if module.startswith(FRAMES) else ()
                yield module, chain(names(tree), names_of_urls(tree), of_frames)
    for path in sorted((ROOT / "static").glob("*.js")):
        yield f"static/{path.name}", names_of_script(path.read_text(encoding="utf-8"))


@cache
def found() -> dict[tuple[str, str], list[int]]:
    """Return the lines of the names that have a word too many, by module and name."""
    lines: dict[tuple[str, str], list[int]] = defaultdict(list)
    for module, made in modules():
        for name, line in made:
            if is_banned(name):
                lines[module, name].append(line)
    return lines


def test_names_have_no_word_that_the_glossary_keeps_out_of_code() -> None:
    wrong = {
        f"{module}:{lines[0]}: {name}"
        for (module, name), lines in found().items()
        if (module, name) not in EXCEPTIONS
    }
    assert not wrong, "a word of the last column of docs/glossary.md in: " + "; ".join(
        sorted(wrong)
    )


def test_every_exception_is_needed_and_has_a_reason() -> None:
    assert EXCEPTIONS.keys() <= found().keys()
    assert all(EXCEPTIONS.values())


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("_say_all", True),
        ("roomMade", True),
        ("NotAsked", True),
        ("is_given", True),
        ("given_up", False),
        ("decimal_places", False),
        ("displace", False),
        ("roommate", False),
        ("seen", True),
        ("_seen", True),
        ("tab_seen", False),
        ("data-talk", True),
    ],
)
def test_a_word_counts_as_a_part_of_a_name_and_not_of_a_word(name: str, verdict: bool) -> None:
    assert is_banned(name) == verdict


PYTHON = """
from a import b as talk
class Room(Frame, tag="say"):
    told: str
def news(asked, *given, **places):
    self.saying = {"unlabelled": 1, "type": "said", "other": "waited"}
    try: ...
    except Error as elsewhere: ...
path("c/<slug:slug>/<int:room>", view, name="judging")
read.talk, read(talk=1)
"""


def test_every_place_where_a_name_is_made_is_looked_at() -> None:
    tree = ast.parse(PYTHON)
    made = {name for name, _ in names(tree) if is_banned(name)}
    assert made == {
        "talk",
        "Room",
        "told",
        "news",
        "asked",
        "given",
        "places",
        "saying",
        "elsewhere",
    }
    assert {name for name, _ in names_of_urls(tree)} == {"slug", "room", "judging"}
    assert {name for name, _ in names_of_frames(tree)} == {
        *("say", "unlabelled", "type", "said", "other"),
    }


def test_identifiers_and_types_of_scripts_are_looked_at() -> None:
    script = 'roomMade = { told: "asked" }; // talk\nsend({ type: "say", text: "given" });'
    made = [name for name, _ in names_of_script(script) if is_banned(name)]
    assert made == ["roomMade", "told", "say"]


def test_the_glossary_names_every_word_once() -> None:
    rows = [line.split("|") for line in GLOSSARY if line.startswith("| ")]
    words = [word for row in rows for word in re.split(r",\s*", row[4].strip()) if word]
    assert len(words) == len(set(words))
    assert {len(row) for row in rows} == {6}
