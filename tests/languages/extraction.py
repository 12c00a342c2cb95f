"""Extraction: each text that goes through gettext in the sources, with the places it stands at."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.template.base import Node, NodeList, Template, Variable, VariableNode
from django.template.engine import Engine
from django.template.loader_tags import BlockNode
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from tests.languages.sources import ROOT, modules, templates

ONE = ("_", "gettext", "gettext_lazy", "sentence", "InvalidAnswer")  # their first value is a text
COUNTED = ("ngettext", "ngettext_lazy", "counted")  # their first two are


@dataclass(frozen=True, order=True)
class Message:
    """A text to translate; `plural` is its form for other numbers than one, "" without."""

    text: str
    plural: str = ""


def messages() -> dict[Message, list[str]]:
    """Return every text that participants may see, with the files it stands in."""
    found: dict[Message, set[str]] = defaultdict(set)
    for path in modules():
        for message in of_module(path):
            found[message].add(str(path.relative_to(ROOT)))
    for path in templates():
        for message in of_template(path):
            found[message].add(str(path.relative_to(ROOT)))
    return {message: sorted(found[message]) for message in sorted(found)}


def of_module(path: Path) -> Iterator[Message]:
    """Yield the texts of a module; the value of such a call has to be a text as it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and (name := called(node)) in ONE + COUNTED:
            texts = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            if name in ONE and texts:
                yield Message(str(texts[0]))
            elif name in COUNTED and len(texts) == 2:
                yield Message(str(texts[0]), str(texts[1]))


def called(call: ast.Call) -> str:
    """Return the name of what is called."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def of_template(path: Path) -> Iterator[Message]:
    """Yield the texts of a template."""
    for node in nodes(parsed(path).nodelist):
        if isinstance(node, BlockTranslateNode):
            singular, _ = node.render_token_list(node.singular)
            plural = node.render_token_list(node.plural)[0] if node.plural else ""
            yield Message(singular, plural)
        elif isinstance(node, TranslateNode):
            yield Message(str(node.filter_expression.var.literal))
        elif isinstance(node, VariableNode):
            variable = node.filter_expression.var
            if isinstance(variable, Variable) and variable.translate:
                yield Message(str(variable.literal))


def parsed(path: Path) -> Template:
    """Return a template as Django reads it."""
    return Template(path.read_text("utf-8"), engine=Engine.get_default())


def nodes(nodelist: NodeList) -> Iterator[Node]:
    """Yield the nodes of a template and those inside them, in their order."""
    for node in nodelist:
        if isinstance(node, BlockNode) and str(node.name).endswith("_class"):
            continue  # names of styles
        yield node
        for name in getattr(node, "child_nodelists", ()):
            if (inside := getattr(node, name, None)) is not None:
                yield from nodes(inside)
