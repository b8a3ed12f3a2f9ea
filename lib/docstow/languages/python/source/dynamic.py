"""Names that a module gives on demand, where they can be read.

This room knows ``lazy_loader.attach`` and the ``__getattr__`` that compares with written names,
in the module itself or made by a function of another.
Other loaders are code, and stay unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.languages.python.source.signature__readers_python_signature import dotted, literal


def attached(tree: ast.Module, name: str) -> Mapping[str, tuple[str, str]]:
    """Names that a package's ``__init__`` loads lazily: module and name in it (or nothing).

    Empty where there is no such call, or where a part of it is not written out.
    """
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and dotted(call.func) in {
            "lazy.attach",
            "lazy_loader.attach",
        }:
            return _names(call, name)
    return {}


def _names(call: ast.Call, name: str) -> Mapping[str, tuple[str, str]]:
    given = dict(zip(("name", "submodules", "submod_attrs"), call.args, strict=False))
    given |= {each.arg or "**": each.value for each in call.keywords}
    try:
        modules = ast.literal_eval(given["submodules"]) if "submodules" in given else ()
        attributes = ast.literal_eval(given["submod_attrs"]) if "submod_attrs" in given else {}
        found = {each: (f"{name}.{each}", "") for each in modules or ()}
        for module, names in (attributes or {}).items():
            found |= {each: (f"{name}.{module}", each) for each in names}
    except (ValueError, TypeError, AttributeError, SyntaxError):
        return {}
    return found


@dataclass(frozen=True, slots=True)
class Answered:
    """What a module's ``__getattr__`` answers for; all else raises ``AttributeError``.

    Attributes:
        names: as they are written.
        makers: functions whose result is asked for the others, as they are named in the module.
    """

    names: frozenset[str] = frozenset()
    makers: tuple[str, ...] = ()


def compared(tree: ast.Module) -> Answered | None:
    """What a module's ``__getattr__`` answers for; None where it may answer for more."""
    found = [
        each
        for each in _statements(tree.body)
        if getattr(each, "name", "") == "__getattr__" or "__getattr__" in _bound(each)
    ]
    if len(found) != 1:
        return None
    if isinstance(found[0], ast.FunctionDef):
        return _Reading(tree).function(found[0])
    maker = _made_by(found[0])
    return Answered(makers=(maker,)) if maker else None


def makers(tree: ast.Module) -> Mapping[str, frozenset[str]]:
    """Functions of a module that make a ``__getattr__``, and the names that those answer for.

    A name may have the module's before it, with a colon between.
    """
    found = {}
    for node in tree.body:
        last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or not isinstance(last, ast.Return):
            continue
        inner = [each for each in node.body if getattr(each, "name", "") == dotted(last.value)]
        if len(inner) == 1 and isinstance(inner[0], ast.FunctionDef):
            answered = _Reading(tree).function(inner[0])
            if answered is not None and not answered.makers:
                found[node.name] = answered.names
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """A module's own statements, those of its branches too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, ()))


def _bound(node: ast.stmt) -> dict[str, ast.expr]:
    """The names that an assignment gives to a value."""
    if isinstance(node, ast.Assign):
        return {each.id: node.value for each in node.targets if isinstance(each, ast.Name)}
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        return {node.target.id: node.value}
    return {}


def _made_by(node: ast.stmt) -> str:
    """The function of ``name = function(__name__)``."""
    call = node.value if isinstance(node, ast.Assign) else None
    if isinstance(call, ast.Call) and [dotted(each) for each in call.args] == ["__name__"]:
        return dotted(call.func)
    return ""


class _Reading:
    """Follows a ``__getattr__`` for a name that is written nowhere in its file.

    Such a name is equal to nothing and in no table. Where that leads to ``AttributeError`` on
    every way, the written names are all that are answered for.
    """

    def __init__(self, tree: ast.Module) -> None:
        statements = list(_statements(tree.body))
        self._values = {name: given for each in statements for name, given in _bound(each).items()}
        self._makers = {name: _made_by(each) for each in statements for name in _bound(each)}
        for changed in _changed(tree):
            self._values.pop(changed, None)
        self._names: set[str] = set()
        self._delegates: set[str] = set()
        self._asked: set[str] = set()
        self._nothing: set[str] = set()
        self._own: set[str] = set()

    def function(self, node: ast.FunctionDef) -> Answered | None:
        if len(node.args.args) != 1:
            return None
        self._asked.add(node.args.args[0].arg)
        if not self._ends(node.body):
            return None
        return Answered(frozenset(self._names), tuple(sorted(self._delegates)))

    def _ends(self, body: Sequence[ast.stmt]) -> bool | None:
        """Whether statements end in an AttributeError or at a maker's function, or are passed.

        None: they may give something.
        """
        for node in body:
            ends: bool | None = False
            match node:
                case ast.Raise(exc=exc):
                    raised = exc.func if isinstance(exc, ast.Call) else exc
                    is_missing = dotted(raised).endswith(("AttributeError", "RemovedError"))
                    return True if is_missing else None
                case ast.Return():
                    return self._delegated(node.value)
                case ast.If():
                    ends = self._branch(node)
                case ast.Try(body=[ast.Assign(value=value)], handlers=[handler]):
                    names = self._key_of(value)
                    if names is None or dotted(handler.type) != "KeyError":
                        return None
                    self._names |= names
                    return self._ends(handler.body)
                case ast.Try(body=[ast.Return(value=ast.Subscript() as value)], handlers=[handler]):
                    names = self._key_of(value)
                    if names is None or dotted(handler.type) != "KeyError":
                        return None
                    self._names |= names
                    return self._ends(handler.body)
                case ast.Assign() | ast.AnnAssign():
                    self._assign(node)
                case ast.Import() | ast.ImportFrom() | ast.Expr() | ast.Global():
                    pass
                case _:
                    return None
            if ends is not False:
                return ends
        return False

    def _branch(self, node: ast.If) -> bool | None:
        holds = self._holds(node.test, answered=_returns(node.body))
        if holds is None:
            ways = {self._ends(node.body), self._ends(node.orelse)}
            return None if None in ways else all(ways)
        return self._ends(node.body if holds else node.orelse)

    def _delegated(self, value: ast.expr | None) -> bool | None:
        """True for ``return made(name)``, where another function has made ``made``."""
        match value:
            case ast.Call(func=function, args=[ast.Name(id=given)]) if given in self._asked:
                maker = self._makers.get(dotted(function), "")
                self._delegates.add(maker)
                return True if maker else None
        return None

    def _assign(self, node: ast.stmt) -> None:
        for name, value in _bound(node).items():
            for group in (self._asked, self._nothing, self._own):
                group.discard(name)
            self._values[name] = value
            if isinstance(value, ast.JoinedStr) and self._is_asked(value.values[-1]):
                self._asked.add(name)
            elif (names := self._key_of(value)) is not None:
                self._names |= names
                self._nothing.add(name)
            elif re.fullmatch(r"globals\(\)|sys\.modules\[\w+\]\.__dict__", ast.unparse(value)):
                self._own.add(name)

    def _is_asked(self, node: ast.expr) -> bool:
        return isinstance(node, ast.FormattedValue) and dotted(node.value) in self._asked

    def _key_of(self, node: ast.expr) -> set[str] | None:
        """The keys of a table that is asked for the name: ``table.get(name)``, ``table[name]``."""
        match node:
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[ast.Name(id=name)]):
                return self._written(table) if name in self._asked else None
            case ast.Subscript(value=table, slice=ast.Name(id=name)):
                return self._written(table) if name in self._asked else None
        return None

    def _written(self, node: ast.expr) -> set[str] | None:
        """The elements of a table; None where they are not all written out."""
        if ast.unparse(node) == "globals()":
            return set()
        table = self._values.get(dotted(node), node)
        if isinstance(table, ast.DictComp):
            return _made_keys(table)
        elements = getattr(table, "keys" if isinstance(table, ast.Dict) else "elts", None)
        if not isinstance(elements, list) or not all(each and literal(each) for each in elements):
            return None
        return {literal(each) for each in elements}

    def _holds(self, test: ast.expr, *, answered: bool) -> bool | None:
        """Whether a condition holds for a name that is written nowhere; None: it may."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self._holds(inner, answered=True)
                return None if holds is None else not holds
            case ast.Name(id=name):
                return False if name in self._nothing else None
            case ast.Compare(left=ast.Name(id=name), ops=[one], comparators=[other]):
                if name in self._nothing and isinstance(other, ast.Constant):
                    empty = other.value is None
                    kinds = {ast.Is: True, ast.IsNot: False}
                    return kinds.get(type(one)) if empty else None
                if name in self._asked:
                    return self._compares(one, other, answered=answered)
        return None

    def _compares(self, one: ast.cmpop, other: ast.expr, *, answered: bool) -> bool | None:
        if isinstance(one, (ast.Eq, ast.NotEq)):
            names = {literal(other)} if literal(other) else None
        elif dotted(other) in self._own:
            names = set()
        else:
            names = self._written(other)
        if names is None or not isinstance(one, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return None
        without = isinstance(one, (ast.NotEq, ast.NotIn))
        if answered or without:
            self._names |= names
        return without


def _made_keys(table: ast.DictComp) -> set[str] | None:
    """The keys of ``{f"module:{name}": … for name in ("a", "b")}``."""
    over = table.generators[0]
    names = [literal(each) for each in getattr(over.iter, "elts", ())]
    match table.key:
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), ast.FormattedValue(value=last)]):
            plain = len(table.generators) == 1 and not over.ifs and all(names)
            if plain and names and dotted(last) == dotted(over.target) != "":
                return {f"{first}{each}" for each in names}
    return None


def _returns(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may give a value."""
    return any(isinstance(each, ast.Return) for node in body for each in ast.walk(node))


def _changed(tree: ast.Module) -> set[str]:
    """Names of what gets more elements than are written out."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(
                value=ast.Name(id=name),
                attr="update" | "setdefault" | "add" | "append" | "extend" | "insert",
            ):
                found.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                found.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
    return found
