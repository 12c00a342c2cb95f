"""Single-line mutants of a module: each changes one thing that a test ought to notice.

| kind | change |
|---|---|
| compare | `<` and `<=`, `==` and `!=`, `is`, `in` and their opposites; `__lt` and `__lte` |
| constant | a number one higher, one lower |
| logic | `and` and `or` swapped, a `not` removed |
| call | a call whose result nobody uses removed |
| raise | a `raise` removed |
| return | the value swapped for an empty one, for None, or for its opposite |
| query | a condition or a field of a query removed |

Options of `select_for_update` stay: the tests run on SQLite, which ignores them. Numbers inside
f-strings stay too, because Python 3.11 does not tell where they stand.

Long because the kinds of change share the walk through the tree.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
LOOKUPS = {"__lt": "__lte", "__lte": "__lt", "__gt": "__gte", "__gte": "__gt"}
QUERIES = {"Q", "create", "exclude", "filter", "get", "get_or_create", "move", "try_move", "update"}
CONDITIONS = {"exclude", "filter"}  # of which unnamed arguments are conditions as well
EMPTY = {
    "bool": ("not", "not"),
    "dict": ("{}", "{'mutant': None}"),
    "float": ("0.0", "1.0"),
    "int": ("0", "1"),
    "list": ("[]", "[None]"),
    "set": ("set()", "{None}"),
    "str": ("''", "'mutant'"),
    "tuple": ("()", "(None,)"),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Place = tuple[int, int]  # a line, and a column in bytes


@dataclass(frozen=True)
class Mutant:
    """One change of one module. `function` is "" for what runs when the module is imported."""

    module: str
    kind: str
    function: str
    line: int
    lines: tuple[int, int]  # of its statement, whose tests are to notice
    before: str
    after: str
    start: int  # in bytes of the source
    end: int
    text: str
    number: int = 0  # of several equal ones in a function

    @property
    def id(self) -> str:
        """Return a name that stays while the changed statement does, wherever it moves."""
        what = f"{self.kind}\0{self.before}\0{self.after}\0{self.number}"
        return f"{self.module}:{self.function}:{hashlib.sha256(what.encode()).hexdigest()[:8]}"

    def apply(self, source: str) -> str:
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()


def mutants(module: str, source: str) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    visitor = _Visitor(module, source)
    visitor.visit(ast.parse(source))
    equal: Counter[tuple[str, ...]] = Counter()
    found = []
    for one in sorted(visitor.found, key=lambda one: (one.start, one.end, one.text)):
        same = (one.function, one.kind, one.before, one.after)
        found.append(Mutant(**vars(one) | {"number": equal[same]}))
        equal[same] += 1
    return found


@dataclass
class _Visitor(ast.NodeVisitor):
    module: str
    source: str
    found: list[Mutant] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the classes and functions around
    function: list[Function] = field(default_factory=list)
    statement: ast.stmt | None = None

    def __post_init__(self) -> None:
        self.raw = self.source.encode()
        self.offsets = [0]
        for line in self.raw.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))

    # --- where we are

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        outer, self.statement = self.statement, node
        super().visit(node)
        self.statement = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_function(self, node: Function) -> None:
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        self.names.append(node.name)
        self.function.append(node)
        for statement in node.body:
            self.visit(statement)
        self.function.pop()
        self.names.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.names.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave f-strings alone."""

    # --- what can change

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[place] = OPPOSITES[type(operator)]()
            self._replace("compare", node, ast.unparse(changed))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            for step in (1, -1):
                self._replace("constant", node, f"{node.value + step}")

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._replace("logic", node, f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace("logic", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        called = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(called, ast.Call):
            self._replace("call", node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("raise", node, "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else ast.unparse(node.value)
        if value not in (None, "None"):
            for other in self._other_values(str(value)):
                self._replace("return", node, f"return {other}")
        self.generic_visit(node)

    def _other_values(self, value: str) -> Iterator[str]:
        returns = self.function[-1].returns if self.function else None
        name = ast.unparse(returns).split("[")[0] if returns else ""
        if " | None" in (ast.unparse(returns) if returns else "") or name not in EMPTY:
            yield "None"
        elif name == "bool":
            yield f"not ({value})"
        else:
            empty, full = EMPTY[name]
            yield full if value == empty else empty

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name == "select_for_update":
            return
        if name in QUERIES:
            self._thin_query(node, name)
        self.generic_visit(node)

    def _thin_query(self, node: ast.Call, name: str) -> None:
        for place, keyword in enumerate(node.keywords):
            changed = copy.deepcopy(node)
            del changed.keywords[place]
            self._replace("query", node, ast.unparse(changed))
            lookup = f"__{(keyword.arg or '').rpartition('__')[2]}"
            if lookup in LOOKUPS:
                changed = copy.deepcopy(node)
                changed.keywords[place].arg = (keyword.arg or "")[: -len(lookup)] + LOOKUPS[lookup]
                self._replace("compare", node, ast.unparse(changed))
        for place in range(len(node.args) if name in CONDITIONS else 0):
            changed = copy.deepcopy(node)
            del changed.args[place]
            self._replace("query", node, ast.unparse(changed))

    # --- keeping it

    def _offset(self, place: Place) -> int:
        return self.offsets[place[0] - 1] + place[1]

    def _replace(self, kind: str, node: ast.stmt | ast.expr, text: str) -> None:
        start = self._offset((node.lineno, node.col_offset))
        end = self._offset((node.end_lineno or 0, node.end_col_offset or 0))
        first, last = self._header()
        shown = [self.raw[first:start], self.raw[start:end], self.raw[end:last]]
        changed = [shown[0], text.encode(), shown[2]]
        self.found.append(
            Mutant(
                module=self.module,
                kind=kind,
                function=".".join(self.names) if self.function else "",
                line=node.lineno,
                lines=self._lines(first, last),
                before=_one_line(shown),
                after=_one_line(changed),
                start=start,
                end=end,
                text=text,
            )
        )

    def _header(self) -> tuple[int, int]:
        """Return where the statement stands, of a compound one only what precedes its body."""
        node = self.statement
        assert node is not None
        first = self._offset((node.lineno, node.col_offset))
        body: list[ast.stmt] = getattr(node, "body", [])
        if body:
            return first, self._offset((body[0].lineno, body[0].col_offset))
        return first, self._offset((node.end_lineno or 0, node.end_col_offset or 0))

    def _lines(self, first: int, last: int) -> tuple[int, int]:
        before, after = self.raw[:first].count(b"\n"), self.raw[: last - 1].rstrip().count(b"\n")
        return before + 1, after + 1


def _one_line(parts: list[bytes]) -> str:
    return " ".join(b"".join(parts).decode().split())
