"""Classes that the code itself defines, and their members.

This room knows class bodies of the code and the bases they stand on. It does not know what is
wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from docstow.languages.python.check.class_bodies import (
    Function,
    bound,
    is_property,
    receiver,
    stores,
)
from docstow.languages.python.check.members__verify_python_returns import NOTHING_PASSED
from docstow.languages.python.check.terms import Made, Own, Term, joined, known
from docstow.languages.python.source.signature__readers_python_signature import dotted
from docstow.languages.shared.surface import Openness

if TYPE_CHECKING:
    from docstow.languages.python.check.members__verify_python_returns import Passed
    from docstow.languages.python.check.scopes import Scope
    from docstow.languages.python.check.types__verify_python_values import Values

#: Decorators of classes that leave the class what it is.
_HARMLESS = frozenset(
    {
        *("dataclass", "define", "frozen", "mutable", "final", "runtime_checkable"),
        *("total_ordering", "unique", "verify"),
    }
)
#: Bases that give no names of their own.
_NO_BASES = frozenset({"typing.Generic", "typing_extensions.Generic", "builtins.object", "abc.ABC"})
_METACLASSES = frozenset({"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
#: Bases of classes whose instances have the annotated names as keys, or are none of the class.
_OTHERWISE = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})
TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_OPENING = frozenset({"setattr", "vars", "__dict__", "__getattr__", "__getattribute__"})


class OwnClasses:
    """The classes of one piece of code.

    Args:
        values: what expressions are.
        scopes: of the code.
    """

    def __init__(self, values: Values, scopes: Mapping[ast.AST, Scope]) -> None:
        self._values = values
        self._scopes = scopes
        self._based: dict[int, list[Term] | None] = {}
        self._levels: dict[int, Openness] = {}
        self._bodies: dict[int, dict[str, list[ast.stmt]]] = {}
        self._set: dict[int, dict[str, list[tuple[ast.expr, Scope, bool]]]] = {}
        self._heirs = {
            name
            for node in scopes
            if isinstance(node, ast.ClassDef)
            for base in node.bases
            for name in [dotted(base.value if isinstance(base, ast.Subscript) else base)]
        }

    def is_plain(self, node: ast.ClassDef) -> bool:
        """Whether a class is what its body says: no decorator makes it another."""
        names = [
            dotted(each.func if isinstance(each, ast.Call) else each)
            for each in node.decorator_list
        ]
        return all(each.rpartition(".")[2] in _HARMLESS for each in names)

    def has_heirs(self, own: Own) -> bool:
        """Whether the code derives a class from it."""
        return own.node.name in self._heirs

    def bases(self, own: Own) -> list[Term] | None:
        """The classes it stands on; None where one is not known."""
        key = id(own.node)
        if key not in self._based:
            self._based[key] = None
            self._based[key] = self._find_bases(own)
        return self._based[key]

    def _find_bases(self, own: Own) -> list[Term] | None:
        found: list[Term] = []
        for each in own.node.bases:
            node = each.value if isinstance(each, ast.Subscript) else each
            path = self._values.dotted(node, own.scope)
            if path in _NO_BASES or path in {"typing.Protocol", "typing_extensions.Protocol"}:
                continue
            if path in TUPLES:
                path = "builtins.tuple"
                package = self._values.members.annotations.standard(path)
                if package is None:
                    return None
                found.append(package)
                continue
            named = isinstance(node, ast.Name | ast.Attribute) and path not in _OTHERWISE
            term = self._values.term(node, own.scope) if named else None
            if term is None or not term.itself:
                return None
            found.append(term)
        return found

    # -- members -------------------------------------------------------------------------------

    def openness(self, own: Own) -> Openness:
        """What else it may have than the names that are seen."""
        key = id(own.node)
        if key not in self._levels:
            self._levels[key] = Openness.ANY
            self._levels[key] = self._find_level(own)
        return self._levels[key]

    def _find_level(self, own: Own) -> Openness:
        bases = self.bases(own)
        if bases is None or not self.is_plain(own.node):
            return Openness.ANY
        metas = [each.value for each in own.node.keywords if each.arg == "metaclass"]
        if any(self._values.dotted(each, own.scope) not in _METACLASSES for each in metas):
            return Openness.ANY
        for each in ast.walk(own.node):
            name = getattr(each, "id", None) or getattr(each, "attr", None)
            if (name or getattr(each, "name", None)) in _OPENING:
                return Openness.ANY
        levels = [Openness.CLOSED]
        for base in bases:
            if isinstance(base, Own):
                levels.append(self.openness(base))
            else:
                levels.append(base.package.surface.openness(base.path))
        return max(levels)

    def has(self, own: Own, name: str) -> bool:
        """Whether it has a member, of its own or a base's; True where that is not known."""
        if name in self.body(own.node) or name in self._assigned(own.node):
            return True
        bases = self.bases(own)
        if bases is None:
            return True
        for base in bases:
            if isinstance(base, Own):
                if self.has(base, name):
                    return True
            else:
                whole = f"{base.path}.{name}"
                package = base.package
                if package.symbol(whole) is not None or package.lacks(whole) is False:
                    return True
        return False

    def names(self, own: Own) -> list[str]:
        """The public names of its members."""
        found = [*self.body(own.node), *self._assigned(own.node)]
        for base in self.bases(own) or ():
            if isinstance(base, Own):
                found += self.names(base)
            else:
                found += base.package.surface.members(base.path) or ()
        return [each for each in dict.fromkeys(found) if not each.startswith("_")]

    def package_member(self, own: Own, name: str) -> Made | None:
        """The package's class among its bases that has a member; None where the code writes it."""
        if name in self.body(own.node) or name in self._assigned(own.node):
            return None
        for base in self.bases(own) or ():
            if isinstance(base, Own):
                if self.has(base, name):
                    return self.package_member(base, name)
            elif base.package.symbol(f"{base.path}.{name}") is not None:
                return base
        return None

    def body(self, node: ast.ClassDef) -> dict[str, list[ast.stmt]]:
        """The statements of a class body by the names that they bind."""
        key = id(node)
        if key not in self._bodies:
            found: dict[str, list[ast.stmt]] = {}
            for name, statement in bound(node.body):
                found.setdefault(name, []).append(statement)
            self._bodies[key] = found
        return self._bodies[key]

    def _assigned(self, node: ast.ClassDef) -> dict[str, list[tuple[ast.expr, Scope, bool]]]:
        """What methods give to attributes of ``self``: a value, or an annotation."""
        key = id(node)
        if key in self._set:
            return self._set[key]
        found: dict[str, list[tuple[ast.expr, Scope, bool]]] = {}
        self._set[key] = found
        for method in node.body:
            first = receiver(method)
            if not first or method not in self._scopes:
                continue
            scope = self._scopes[method]
            for each in ast.walk(method):
                for target, value, annotated in stores(each):
                    if isinstance(target, ast.Attribute) and dotted(target.value) == first:
                        found.setdefault(target.attr, []).append((value, scope, annotated))
        return found

    def attribute(self, own: Own, name: str, depth: int) -> Term | None:
        """What an attribute is, where it is no method."""
        statements = self.body(own.node).get(name, [])
        if len(statements) == 1:
            return self._stated(own, statements[0], depth)
        if statements:
            return None
        if values := self._assigned(own.node).get(name):
            terms = [
                self._values.annotated(value, scope)
                if annotated
                else self._values._read(value, scope, depth + 1)  # noqa: SLF001
                for value, scope, annotated in values
            ]
            told = [
                self._values.annotated(value, scope)
                for value, scope, annotated in values
                if annotated
            ]
            return known(joined(told or terms))
        for base in self.bases(own) or ():
            if isinstance(base, Own):
                if self.has(base, name):
                    return self.attribute(base, name, depth + 1)
            elif base.package.symbol(f"{base.path}.{name}") is not None:
                return self._values.members.attribute(_instance(base, own), name)
        return None

    def _stated(self, own: Own, statement: ast.stmt, depth: int) -> Term | None:
        scope = self._scopes.get(own.node)
        if scope is None:
            return None
        match statement:
            case ast.FunctionDef() if is_property(statement):
                return self._values.returned(statement, scope, own)
            case ast.AnnAssign(annotation=annotation):
                term = self._values.annotated(annotation, scope, own)
                return self._held(term, own)
            case ast.Assign(value=value) if self.is_enum(own) and own.itself:
                return Own(own.node, own.scope)
            case ast.Assign(value=value):
                return self._values.term(value, scope, depth + 1) if own.itself else None
        return None

    def _held(self, term: Term | None, own: Own) -> Term | None:
        """What an annotated attribute gives: a descriptor gives instances what it holds."""
        if isinstance(term, Made) and term.path.endswith(".Mapped") and not own.itself:
            return term.given[0] if term.given else None
        return term

    def is_enum(self, own: Own) -> bool:
        """Whether it is an enumeration."""
        bases = self.bases(own) or ()
        return any(
            isinstance(each, Made) and each.path.startswith("enum.") for each in bases
        ) or any(self.is_enum(each) for each in bases if isinstance(each, Own))

    def is_closed_enum(self, own: Own) -> bool:
        """Whether it is an enumeration whose members are all seen."""
        return own.itself and self.is_enum(own) and self.openness(own) is Openness.CLOSED

    def called(self, own: Own, name: str, passed: Passed, depth: int) -> Term | None:
        """What a call of a method gives."""
        statements = self.body(own.node).get(name, [])
        scope = self._scopes.get(own.node)
        if statements:
            method = statements[0]
            if len(statements) > 1 or not isinstance(method, Function) or scope is None:
                return None
            plain = {"classmethod", "staticmethod", "abstractmethod", "override"}
            plain |= {"contextmanager", "asynccontextmanager"}
            names = {
                dotted(each.func if isinstance(each, ast.Call) else each).rpartition(".")[2]
                for each in method.decorator_list
            }
            me = Own(own.node, own.scope)
            return self._values.returned(method, scope, me) if names <= plain else None
        if name == "__new__":
            return Own(own.node, own.scope, received=True)
        if name in self._assigned(own.node):
            return None
        for base in self.bases(own) or ():
            if isinstance(base, Own):
                if self.has(base, name):
                    return self.called(base, name, passed, depth + 1)
            elif base.package.symbol(f"{base.path}.{name}") is not None:
                made = self._values.members.method(_instance(base, own), name, passed)
                # A method that gives its receiver gives an instance of the heir.
                same = isinstance(made, Made) and made.path == base.path and not made.itself
                return Own(own.node, own.scope) if same else made
        return None

    def entered(self, own: Own, depth: int, *, awaited: bool) -> Term | None:
        """What ``with`` gives a name to."""
        name = "__aenter__" if awaited else "__enter__"
        given = self.called(own, name, NOTHING_PASSED, depth)
        if awaited and isinstance(given, Made) and given.path != own.node.name:
            return self._values.members.awaited(given)
        return given


def _instance(base: Made, own: Own) -> Made:
    return base if own.itself else Made(base.path, base.package, base.given)
