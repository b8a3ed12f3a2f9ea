"""Which class of a module of Cython a function returns, as declarations of C tell.

The result has a type of its own (``cdef Table wrap(...)``), or is a variable, an attribute or an
argument that has one, a new instance, or what another function of the module returns.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.cython_statements import (
    CLASS,
    PROPERTY,
    Statement,
    bodies,
    bracketed,
    split,
)
from docstow.text.python_ast import try_parse_expression

_FUNCTION = lazy_pattern(
    r"(?:async\s+)?(?:def|cpdef|cdef)\s+(?:(?:inline|api|public)\s+)*(?:([\w.]+)\s+)?(\w+)\s*\("
)
#: A variable, an attribute or an argument with a type: ``cdef readonly Table table = None``.
_DECLARED = lazy_pattern(
    r"(?:cdef\s+)?(?:(?:public|readonly)\s+)?([A-Za-z_]\w*)\s+([A-Za-z_]\w*)\b"
)
_MORE = lazy_pattern(r"\s*([A-Za-z_]\w*)")
_ASSIGNED = lazy_pattern(r"(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)
#: Variables that get values in other ways.
_REBOUND = lazy_pattern(
    r"for\s+(.+?)\s+in\b|.*\bas\s+(\w+)\s*:|([\w\s,()*]+,[\w\s,()*]*)=(?!=)", re.DOTALL
)
_RETURN = lazy_pattern(r"return\b\s*(.*)", re.DOTALL)
_CAUGHT = lazy_pattern(r"except\b.*\bas\s+(\w+)\s*:", re.DOTALL)
_CAST = lazy_pattern(r"<\s*(\w+)\s*\??>")
#: After these what a function returns is not what its own statements say.
_OTHERWISE = lazy_pattern(r"(?:async\s+)?def\b|class\b|.*\byield\b", re.DOTALL)
_NONE = "None"
#: Functions that return what others return, one after the other.
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class _Function:
    """A function: its declared type, its arguments and what is inside it."""

    kind: str
    arguments: str
    body: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class _Class:
    """A class: its bases, the types of its attributes, its methods."""

    bases: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    methods: dict[str, _Function] = field(default_factory=dict)


class Results:
    """What the functions of a module return.

    Args:
        statements: of the module and its declarations.
        imported: the names that C imports, of which classes begin with a capital.
    """

    def __init__(self, statements: Sequence[Statement], imported: Iterable[str]) -> None:
        self._classes: dict[str, _Class] = {
            each: _Class(()) for each in imported if each.lstrip("_")[:1].isupper()
        }
        self._functions: dict[str, _Function] = {}
        found = [*bodies(statements)]
        for each, _ in found:
            if match := CLASS.match(each.text):
                bases = split((match[2] or "").strip("()"))
                self._classes[match[1]] = _Class(tuple(e.rpartition(".")[2] for e in bases))
        for each, body in found:
            if match := CLASS.match(each.text):
                self._note_class(self._classes[match[1]], body)
            elif each.indent == 0 and (function := _function(each.text, body)) is not None:
                name, noted = function
                if name not in self._functions or not self._functions[name].body:
                    self._functions[name] = noted

    def of(self, owner: str, name: str) -> str:
        """Return the class, maybe with ``| None``, that a function returns; empty where unknown.

        Args:
            owner: the class of a method; empty for a function of the module.
            name: of the function.
        """
        function = self._method(owner, name) if owner else self._functions.get(name)
        found = self._returned(function, owner, 0) if function is not None else None
        classes = sorted((found or frozenset()) - {_NONE})
        if found is None or len(classes) != 1:
            return ""
        return f"{classes[0]} | None" if _NONE in found else classes[0]

    def _note_class(self, noted: _Class, body: Sequence[Statement]) -> None:
        inner = min((each.indent for each in body), default=0)
        for each, below in bodies(body):
            if each.indent > inner:
                continue
            if match := PROPERTY.match(each.text):
                inside = (_function(one.text, lines) for one, lines in bodies(below))
                got = [e[1] for e in inside if e is not None and e[0] == "__get__"]
                noted.methods.update((match[1], one) for one in got)
            elif (function := _function(each.text, below)) is not None:
                noted.methods[function[0]] = function[1]
            else:
                # A block of them has one on each line.
                lines = below if each.text.startswith("cdef") and each.text.endswith(":") else []
                for one in (each, *lines):
                    for name, kind in self._declared(one.text):
                        noted.attributes.setdefault(name, kind)

    def _declared(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the names that a statement declares to be of a class, each with the class."""
        match = _DECLARED.match(text)
        if match is not None and match[1] in self._classes:
            yield match[2], match[1]
            for each in split(text[match.start(2) :])[1:]:
                if more := _MORE.match(each):
                    yield more[1], match[1]

    def _lineage(self, owner: str) -> Iterator[_Class]:
        waiting, seen = [owner], set[str]()
        while waiting:
            name = waiting.pop(0)
            if name in self._classes and name not in seen:
                seen.add(name)
                yield self._classes[name]
                waiting += self._classes[name].bases

    def _method(self, owner: str, name: str) -> _Function | None:
        found = (each.methods[name] for each in self._lineage(owner) if name in each.methods)
        return next(found, None)

    def _returned(self, function: _Function, owner: str, depth: int) -> frozenset[str] | None:
        """Return the classes that a function may return; None where one is not known."""
        if function.kind in self._classes:
            return frozenset({function.kind})
        if depth > _DEEPEST or any(_OTHERWISE.match(each.text) for each in function.body):
            return None
        known = {"self": owner} if owner else {}
        for text in (*split(function.arguments), *(each.text for each in function.body)):
            known.update(self._declared(text))
        values: dict[str, list[str]] = {}
        for each in function.body:
            if match := _ASSIGNED.match(each.text):
                values.setdefault(match[1], []).append(match[2])
            elif match := _REBOUND.match(each.text):
                for name in re.findall(r"\w+", "".join(filter(None, match.groups()))):
                    values.setdefault(name, []).append("...")
        scope = _Scope(owner, known, values, depth)
        returned = [match[1] for e in function.body if (match := _RETURN.match(e.text))]
        # What an exception carries is not the function's own: lxml's targets end so.
        caught = [match[1] for e in function.body if (match := _CAUGHT.match(e.text))]
        returned = [e for e in returned if not e.startswith(tuple(f"{one}." for one in caught))]
        return self._all(returned, scope) if returned else None

    def _all(self, texts: Sequence[str], scope: _Scope) -> frozenset[str] | None:
        found = [self._of_text(each, scope) for each in texts]
        return None if None in found else frozenset[str]().union(*filter(None, found))

    def _of_text(self, text: str, scope: _Scope) -> frozenset[str] | None:
        if cast := _CAST.match(text):
            return frozenset({cast[1]}) if cast[1] in self._classes else None
        node = try_parse_expression(text) if text else ast.Constant(None)
        return self._of(node, scope) if node is not None else None

    def _of(self, node: ast.expr, scope: _Scope) -> frozenset[str] | None:
        match node:
            case ast.Constant(None):
                return frozenset({_NONE})
            case ast.Name(id=name) if name in scope.known:
                return frozenset({scope.known[name]})
            case ast.Name(id=name) if name in scope.values:
                inner = _Scope(scope.owner, scope.known, {}, scope.depth + 1)
                return self._all(scope.values[name], inner)
            case ast.IfExp(body=body, orelse=other):
                both = self._of(body, scope), self._of(other, scope)
                return None if both[0] is None or both[1] is None else both[0] | both[1]
            case ast.Attribute(value=value, attr=name):
                found = (
                    each.attributes[name]
                    for each in self._lineage(self._one(value, scope))
                    if name in each.attributes
                )
                kind = next(found, "")
                return frozenset({kind}) if kind else None
            case ast.Call(func=ast.Name(id=name)) if name in self._classes:
                return frozenset({name})
            case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                return self._returned(self._functions[name], "", scope.depth + 1)
            case ast.Call(func=ast.Attribute(attr="__new__"), args=[ast.Name(id=name), *_]) if (
                name in self._classes
            ):
                return frozenset({name})
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                owner = self._one(value, scope)
                method = self._method(owner, name) if owner else None
                return self._returned(method, owner, scope.depth + 1) if method else None
        return None

    def _one(self, node: ast.expr, scope: _Scope) -> str:
        """Return the only class of a value; empty where it is not known."""
        found = (self._of(node, scope) or frozenset()) - {_NONE}
        return next(iter(found)) if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression stands.

    Attributes:
        owner: the class of the method; empty for a function of the module.
        known: the classes of variables and arguments.
        values: what other variables are assigned.
        depth: how many functions have been gone through.
    """

    owner: str
    known: dict[str, str]
    values: dict[str, list[str]]
    depth: int


def _function(text: str, body: Sequence[Statement]) -> tuple[str, _Function] | None:
    match = _FUNCTION.match(text)
    if match is None:
        return None
    arguments, end = bracketed(text, match.end() - 1)
    # What the function does may stand on its first line.
    inline = text[end:].partition(":")[2].strip()
    inside = [Statement(0, inline), *body] if inline else body
    return match[2], _Function(match[1] or "", arguments, inside)
