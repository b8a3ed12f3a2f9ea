"""Where a type checker takes a value for what it need not be.

What it says of the value's members and methods is then no evidence of what is absent.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import PackageType
from docstow.languages.python.check.certainty import may_decide
from docstow.languages.python.check.documented import tells_another
from docstow.languages.python.check.origins import Origins
from docstow.languages.python.check.parse import Assigned, Defined, PlainParameter, Scope
from docstow.languages.python.check.passed import call_shape
from docstow.languages.python.source.syntax import (
    Function,
    dotted,
    operands,
    positional,
    string_value,
)
from docstow.languages.python.surface import STANDARD

if TYPE_CHECKING:
    from docstow.languages.python.check.checked import Checked
    from docstow.languages.python.check.type_claims import Claim
    from docstow.languages.shared.language_server import Diagnostic

#: Methods that put into a collection what they are given.
_FILLING = frozenset({"update", "setdefault", "append", "extend", "insert", "add"})
#: What it says where the code puts something else there than the type that it takes a place for.
_REFUSED = {
    **dict.fromkeys(("invalid-assignment", "bad-assignment"), ast.expr),
    **dict.fromkeys(("invalid-argument-type", "bad-argument-type"), ast.Call),
    "no-matching-overload": ast.Call,
}
#: ``x: Ship = None`` says of ``x`` what the annotation says.
_NOTHING = ("Object of type `None`", "`None` is not assignable")
#: Of these the type turns on whether a value is a class.
_BY_KIND = frozenset({"builtins.vars"})
#: Names that are followed one from another.
_DEEPEST = 10


class Doubts:
    """The doubts of one piece of code.

    Args:
        own: what our reader knows of the code.
        said: all that the type checker says of it.
    """

    def __init__(self, own: Checked, said: Sequence[Diagnostic]) -> None:
        self._own = own
        lines: dict[int, list[type[ast.expr]]] = {}
        for each in said:
            if each.code in _REFUSED and not each.message.startswith(_NOTHING):
                lines.setdefault(each.line + 1, []).append(_REFUSED[each.code])
        self._refused = {
            place
            for node in (ast.walk(own.parsed.tree) if lines else ())
            if isinstance(node, tuple(lines.get(getattr(node, "lineno", 0), ())))
            for place in _filled(node)
        }

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self._own, frozenset())

    @cached_property
    def _decorators(self) -> frozenset[int]:
        """The decorators of methods that are of what the class makes: ``@field.validator``."""
        classes = (e for e in ast.walk(self._own.parsed.tree) if isinstance(e, ast.ClassDef))
        return frozenset(
            id(inner)
            for node in classes
            for each in node.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            for one in each.decorator_list
            if dotted(_chain_root(one)) in self._own.inner_scopes[node].bindings
            for inner in ast.walk(one)
        )

    @cached_property
    def _named(self) -> frozenset[str]:
        """The texts of code that sets attributes by name: it may give them other values."""
        nodes = [*ast.walk(self._own.parsed.tree)]
        calls = (dotted(each.func) for each in nodes if isinstance(each, ast.Call))
        if not any(each.rpartition(".")[2] in {"setattr", "__setattr__"} for each in calls):
            return frozenset()
        return frozenset(filter(None, map(string_value, nodes)))

    def is_guarded(self, claim: Claim) -> bool:
        """Return whether a place is not judged, or rests on what could not be read."""
        node = claim.node
        place = getattr(node, "lineno", 0) - 1, getattr(node, "col_offset", 0)
        if not self._own.guarded.isdisjoint({(claim.said.line, claim.said.start), place}):
            return True
        if id(claim.node) in self._decorators:
            return True
        *above, last = _chain(claim.node) if isinstance(claim.node, ast.expr) else [claim.node]
        attributes = [each for each in above if isinstance(each, ast.Attribute)]
        if any(each.attr in self._own.patched for each in attributes):
            return True
        if any(each.attr in self._named and each is not node for each in attributes):
            return True
        return isinstance(last, ast.Name) and last.id in self._own.parsed.lost

    def is_shown_to_fail(self, node: ast.AST) -> bool:
        """Return whether code makes a value for nothing but the ``ValueError`` that it catches."""
        return any(
            node is each
            for tried in ast.walk(self._own.parsed.tree)
            if isinstance(tried, ast.Try) and len(tried.body) == 1
            if isinstance(tried.body[0], ast.Expr)
            if any("ValueError" in ast.unparse(e.type) for e in tried.handlers if e.type)
            for each in ast.walk(tried.body[0])
        )

    def has(self, node: ast.expr) -> bool:
        """Return whether the type of what an expression is a member of may be another one."""
        scope = self._own.scopes.get(node)
        for each in _chain(node):
            is_below = each is not node and bool(self._refused)
            if is_below and ast.unparse(_place(each)) in self._refused:
                return True
            if isinstance(each, ast.Name) and (
                self._is_called_on_another(each, scope)
                or self._is_decorated(each, scope)
                or _may_be_of_star(each, scope)
            ):
                return True
        return scope is not None and self._rests_on_open_call(node, scope)

    def _is_decorated(self, name: ast.Name, scope: Scope | None) -> bool:
        """Return whether a name is that of a class which a decorator may make another of."""
        found = scope.find(name.id) if scope is not None else None
        classes = self._own.values.classes
        if found is None:
            return False
        return any(
            isinstance(each, Defined)
            and isinstance(each.node, ast.ClassDef)
            and not classes.has_plain_decorators(each.node, found[0])
            for each in found[1]
        )

    def _is_called_on_another(self, name: ast.Name, scope: Scope | None) -> bool:
        """Return whether a name is the first parameter of a method that has no ``self``.

        The class may be one that nobody makes an instance of.
        """
        found = scope.find(name.id) if scope is not None else None
        for each in found[1] if found is not None else ():
            function = each.function if isinstance(each, PlainParameter) else None
            if not isinstance(function, Function):
                continue
            around = self._own.scopes.get(function)
            if around is not None and isinstance(around.node, ast.ClassDef):
                first = next(iter(positional(function)), None)
                return first is not None and first.arg == name.id
        return False

    def _rests_on_open_call(self, node: ast.expr, scope: Scope, depth: int = 0) -> bool:
        """Return whether what is not seen, or not annotated, decides what an expression is."""
        *above, last = _chain(node)
        for each in above:
            match each:
                case ast.Call() if (
                    self._is_open(each, scope)
                    or self._is_told_otherwise(each, scope)
                    or self._is_given_another(each, scope)
                ):
                    return True
                case ast.Subscript() if self._is_item_of_any_kind(each, scope):
                    return True
        match last:
            case ast.Compare(left=left, comparators=others):
                # What is compared may answer with more than yes or no.
                return not all(self._is_numeric(each, scope) for each in (left, *others))
            case ast.BinOp(left=left, right=right) if depth < _DEEPEST:
                return any(self._rests_on_open_call(e, scope, depth + 1) for e in (left, right))
            case ast.Name(id=name) if depth < _DEEPEST and (found := scope.find(name)) is not None:
                return any(
                    self._rests_on_open_call(each.expression, found[0], depth + 1)
                    for each in found[1]
                    if isinstance(each, Assigned)
                )
        return False

    def _is_numeric(self, node: ast.expr, scope: Scope) -> bool:
        """Return whether a value is Python's own, or an array of numpy's, or made of these."""
        match node:
            case ast.Constant(value=value):
                return value is not None
            case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
                return self._is_numeric(inner, scope)
            case ast.BinOp(left=left, right=right):
                return self._is_numeric(left, scope) and self._is_numeric(right, scope)
        made, _ = self._origins.packages(node, scope)
        return bool(made) and {each.name for each in made} <= {"numpy", STANDARD}

    def _is_item_of_any_kind(self, node: ast.Subscript, scope: Scope) -> bool:
        """Return whether a subscript may be one item or several, of which no annotation tells."""
        if isinstance(node.slice, ast.Constant):
            return False
        owner = self._own.values.type_of(node.value, scope)
        if owner is None:
            return isinstance(node.slice, ast.List | ast.Slice | ast.Compare)
        is_instance = isinstance(owner, PackageType) and not owner.is_class
        if not isinstance(owner, PackageType) or not is_instance or owner.package.name == STANDARD:
            return False
        item = owner.package.symbol(f"{owner.path}.__getitem__")
        return item is not None and "->" not in item.signature

    def _is_given_another(self, call: ast.Call, scope: Scope) -> bool:
        """Return whether what a function returns is said by the class of what it is given."""
        path = self._own.values.import_path(call.func, scope) or ""
        parts = [one for each in call.args for one in operands(each)]
        kinds = [self._own.values.type_of(each, scope) for each in parts]
        return may_decide(path, kinds) or (
            path.startswith("numpy.")
            and any(
                kind is None and self._is_of_others(each, scope)
                for each, kind in zip(parts, kinds, strict=True)
            )
        )

    def _is_of_others(self, node: ast.expr, scope: Scope) -> bool:
        """Return whether a value comes from a package that is neither numpy nor Python's own."""
        made, _ = self._origins.packages(node, scope)
        return not {each.name for each in made} <= {"numpy", STANDARD}

    def _is_open(self, call: ast.Call, scope: Scope) -> bool:
        path = self._own.values.import_path(call.func, scope)
        if path is None or path in _BY_KIND:
            return path is not None
        shape = call_shape(call)
        symbol = self._own.names.look_up(path).symbol
        is_open = shape.open_keywords or shape.open_positional
        return is_open and symbol is not None and len(symbol.overloads) > 1

    def _is_told_otherwise(self, call: ast.Call, scope: Scope) -> bool:
        """Return whether the docstring of a method names another class than its annotation."""
        if not isinstance(call.func, ast.Attribute):
            return False
        owner = self._own.values.type_of(call.func.value, scope)
        if not isinstance(owner, PackageType):
            return False
        method = owner.package.symbol(f"{owner.path}.{call.func.attr}")
        return method is not None and tells_another(method.docstring, method.signature)


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, what it is a member, an item or a result of, and so on."""
    yield node
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
        node = node.func if isinstance(node, ast.Call) else node.value
        yield node


def _chain_root(node: ast.expr) -> ast.expr:
    *_, root = _chain(node)
    return root


def _place(node: ast.expr) -> ast.expr:
    """Return where a value is; all items of a collection are in one place."""
    return ast.Subscript(node.value, ast.Slice()) if isinstance(node, ast.Subscript) else node


def _filled(node: ast.AST) -> Iterator[str]:
    """Yield the places that a node puts something to."""
    match node:
        case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            yield ast.unparse(node)
        case ast.Subscript(ctx=ast.Store()):
            yield ast.unparse(_place(node))
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _FILLING:
            yield ast.unparse(_place(ast.Subscript(value, ast.Slice())))


def _may_be_of_star(name: ast.Name, scope: Scope | None) -> bool:
    """Return whether ``from … import *`` of what is not at hand may bind a name."""
    return scope is not None and scope.find(name.id) is None and scope.find("*") is not None
