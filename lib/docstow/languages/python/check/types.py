"""Classes that the code itself defines, and their members.

This room knows class bodies of the code and the bases they stand on. It does not know what is
wrong.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import Annotations
from docstow.languages.python.check.class_bodies import (
    Function,
    bound,
    is_property,
    receiver,
    stores,
)
from docstow.languages.python.check.members import NOTHING_PASSED, Members, Passed
from docstow.languages.python.check.scopes import (
    Annotated,
    Argument,
    Binding,
    Caught,
    Defined,
    Import,
    Item,
    Part,
    Receiver,
    Scope,
    Value,
)
from docstow.languages.python.check.terms import (
    NOTHING,
    Found,
    Made,
    Nothing,
    Own,
    Place,
    Read,
    Term,
    joined,
    known,
)
from docstow.languages.python.source.signature import dotted
from docstow.languages.shared.arguments import Given
from docstow.languages.shared.lookup import Names
from docstow.languages.shared.surface import Openness

if TYPE_CHECKING:
    from docstow.languages.python.check.scopes import Scope
    from docstow.languages.shared.lookup import Names


# What pytest gives to tests that ask for it by name.


#: Names of fixtures that projects do not define otherwise, with the classes of what they give.
FIXTURES: Mapping[str, str] = {
    "monkeypatch": "pytest.MonkeyPatch",
    "caplog": "pytest.LogCaptureFixture",
    "capsys": "pytest.CaptureFixture",
    "capsysbinary": "pytest.CaptureFixture",
    "capfd": "pytest.CaptureFixture",
    "capfdbinary": "pytest.CaptureFixture",
    "recwarn": "pytest.WarningsRecorder",
    "pytester": "pytest.Pytester",
    "tmp_path_factory": "pytest.TempPathFactory",
    "tmp_path": "pathlib.Path",
}


def is_fixture_user(function: ast.AST) -> bool:
    """Whether pytest calls a function: a test, or what gives something to tests."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    above = [ast.unparse(each).partition("(")[0] for each in function.decorator_list]
    return function.name.startswith("test") or any(each.endswith("fixture") for each in above)


# What variables of Python code certainly are, by all that the code binds them to.


class Variables:
    """The variables of one piece of code.

    Args:
        values: what expressions are.
        names: where names are looked up.
        unknown: names of which nobody knows, or the code itself asks, what they are.
    """

    def __init__(self, values: Values, names: Names, unknown: frozenset[str]) -> None:
        self._values = values
        self._names = names
        self._unknown = unknown
        self._variables: dict[tuple[int, str], Read] = {}
        self._open: dict[tuple[int, str], bool] = {}

    def read(self, name: str, scope: Scope, depth: int) -> Read:
        """What a variable is, by all that it is bound to."""
        if name in self._unknown:
            return None
        found = scope.find(name)
        if found is None:
            return None
        owner, bindings = found
        place = (id(owner), name)
        if place in self._open:
            # It is made of itself: of what else it is made decides.
            self._open[place] = True
            return NOTHING
        if place not in self._variables:
            self._variables[place] = self._settled(place, bindings, owner, depth)
        return self._variables[place]

    def _settled(
        self, place: tuple[int, str], bindings: list[Binding], scope: Scope, depth: int
    ) -> Read:
        """What all bindings of a variable agree on; those made of itself are asked twice."""
        self._open[place] = False
        first = [self._bound(each, scope, depth) for each in bindings]
        looped = self._open.pop(place)
        if not looped:
            return joined(first)
        guess = joined(each for each in first if each is not None)
        if known(guess) is None:
            return None
        self._variables[place] = guess
        again = joined(self._bound(each, scope, depth) for each in bindings)
        del self._variables[place]
        return again

    def _bound(self, binding: Binding, scope: Scope, depth: int) -> Read:
        match binding:
            case Value(expression, entered, awaited):
                value = self._values._read(expression, scope, depth)  # noqa: SLF001
                if entered:
                    return self._entered(known(value), depth, awaited=awaited)
                return value
            case Annotated(annotation):
                return self._values.annotated(annotation, scope)
            case Item(expression, awaited):
                many = self._values.term(expression, scope, depth)
                return (
                    self._values.members.item(many, awaited=awaited)
                    if isinstance(many, Made)
                    else None
                )
            case Part(inner, index):
                whole = known(self._bound(inner, scope, depth))
                return self._values.members.part(whole, index) if isinstance(whole, Made) else None
            case Caught(expression):
                kind = self._values.term(expression, scope, depth)
                return replace(kind, itself=False) if kind is not None and kind.itself else None
            case Defined(node):
                return self._defined(node, scope, depth)
            case Receiver(node, itself):
                outer = scope.parent.parent if scope.parent is not None else None
                return Own(node, outer or scope, itself=itself, received=True)
            case Argument(name, function):
                return self._fixture(name, function, scope)
        return None

    def _entered(self, value: Term | None, depth: int, *, awaited: bool) -> Term | None:
        if isinstance(value, Own):
            return self._values.own.entered(value, depth, awaited=awaited)
        return self._values.members.entered(value, awaited=awaited) if value is not None else None

    def _fixture(self, name: str, function: ast.AST, scope: Scope) -> Term | None:
        path = FIXTURES.get(name)
        outer = scope.parent.find(name) if scope.parent is not None else None
        if path is None or outer is not None or not is_fixture_user(function):
            return None
        package = self._names.resolver.package_for(path)
        if package is None or package.surface.symbol(path) is None:
            return None
        return Made(path, package)

    def _defined(self, node: ast.AST, scope: Scope, depth: int) -> Read:
        """What a name is that a function or class of the code has."""
        if isinstance(node, ast.ClassDef):
            harmless = self._values.own.is_plain(node)
            return Own(node, scope, itself=True) if harmless else None
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        made: Term | None = self._values.members.annotations.standard(
            "typing.Callable", self._values.returned(node, scope, None)
        )
        for each in reversed(node.decorator_list):
            name = ast.unparse(each).partition("(")[0].rpartition(".")[2]
            if name in {"contextmanager", "asynccontextmanager"}:
                continue
            made = self._decorated(each, made, scope, depth)
        return made

    def _decorated(
        self, decorator: ast.expr, made: Term | None, scope: Scope, depth: int
    ) -> Term | None:
        function = self._values.term(decorator, scope, depth)
        passed = Passed(Given(1), [made])
        path = self._values.dotted(decorator, scope)
        maker = (
            self._values.dotted(decorator.func, scope) if isinstance(decorator, ast.Call) else None
        )
        if maker is not None and self._values.members.makes_keepers(maker):
            return made
        if path is not None:
            return self._values.members.called(path, passed)
        return self._values.members.result(function, passed) if function is not None else None


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


# What expressions of Python code certainly are.


_BUILTINS = frozenset(dir(builtins))


_LITERALS: Mapping[type[ast.expr], str] = {
    ast.JoinedStr: "str",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
}


_PLAIN_LITERALS = frozenset({"str", "bytes", "int", "float", "complex", "bool"})


_DEEPEST = 30


class Values:
    """Values of one piece of code.

    Args:
        names: where names are looked up.
        scopes: of the code.
        lost: names of which nobody knows what they are bound to.
        narrowed: variables of which the code asks what they are.
        patched: attributes that the code sets itself.
    """

    def __init__(
        self,
        names: Names,
        scopes: Mapping[ast.AST, Scope],
        lost: frozenset[str],
        narrowed: frozenset[str],
        patched: frozenset[str],
    ) -> None:
        self._names = names
        self._scopes = scopes
        self._lost = lost
        self._patched = patched
        self._annotations = Annotations(names)
        self.members = Members(self._annotations)
        self.own = OwnClasses(self, scopes)
        self._variables = Variables(self, names, lost | narrowed)

    def dotted(self, node: ast.expr, scope: Scope) -> str | None:
        """The absolute dotted path of a name or chain of attributes that an import begins."""
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value, scope)
            return f"{owner}.{node.attr}" if owner is not None else None
        if not isinstance(node, ast.Name) or node.id in self._lost:
            return None
        found = scope.find(node.id)
        if found is None:
            is_known = node.id in _BUILTINS and scope.find("*") is None
            return f"builtins.{node.id}" if is_known else None
        first, *_ = found[1]
        # Most names are bound by no import; those that are may be bound many times.
        if not isinstance(first, Import) or any(each != first for each in found[1]):
            return None
        return first.path

    def place(self, scope: Scope, me: Term | None = None) -> Place:
        """Annotations that are written in a scope."""

        def find(node: ast.expr) -> Found | Own | None:
            return self._meant(node, scope)

        return Place(find, me)

    def _meant(self, node: ast.expr, scope: Scope) -> Found | Own | None:
        path = self.dotted(node, scope)
        if path is None:
            term = self.term(node, scope) if isinstance(node, ast.Name) else None
            return replace(term, itself=False) if isinstance(term, Own) and term.itself else None
        answer = self._names.look_up(path)
        if answer.symbol is None or answer.package is None or not answer.whole:
            return None
        symbol, package = answer.symbol, answer.package
        if symbol.kind == "re-export" and symbol.target:
            return self._annotations.find(symbol.target, path.rpartition(".")[0], package)
        return Found(symbol.path, symbol.target or symbol.path, symbol, package)

    def annotated(self, node: ast.expr | None, scope: Scope, me: Term | None = None) -> Term | None:
        """What an annotation of the code says."""
        return known(self._annotations.read(node, self.place(scope, me)))

    # -- expressions ---------------------------------------------------------------------------

    def term(self, node: ast.expr, scope: Scope, depth: int = 0) -> Term | None:
        """What an expression certainly is."""
        return known(self._read(node, scope, depth))

    def _read(self, node: ast.expr, scope: Scope, depth: int) -> Read:  # noqa: C901 - a case a form
        if depth > _DEEPEST:
            return None
        match node:
            case ast.Name(id=name):
                path = self.dotted(node, scope)
                if path is not None:
                    return self.members.value(path)
                return self._variables.read(name, scope, depth + 1)
            case ast.Constant(value=None):
                return NOTHING
            case ast.Await(value=value):
                given = self.term(value, scope, depth + 1)
                return self.members.awaited(given) if isinstance(given, Made) else None
            case ast.Call():
                return self.call(node, scope, depth + 1)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(node, value, name, scope, depth + 1)
            case ast.Subscript(value=value, slice=index):
                owner = self.term(value, scope, depth + 1)
                if isinstance(owner, Own | Made) and owner.itself:
                    return self._parametrized(owner, node, scope)
                return self.members.under(owner, index) if isinstance(owner, Made) else None
            case ast.BoolOp(op=ast.Or(), values=values):
                return joined(self._read(each, scope, depth + 1) for each in values)
            case ast.IfExp(body=body, orelse=orelse):
                return joined(self._read(each, scope, depth + 1) for each in (body, orelse))
            case ast.NamedExpr(value=value):
                return self._read(value, scope, depth + 1)
        return self._literal(node, scope, depth)

    def _literal(self, node: ast.expr, scope: Scope, depth: int) -> Read:
        """What is written out: a constant, a list, a comprehension."""
        given: list[Term | None] = []
        match node:
            case ast.Constant():
                named = type(node.value).__name__
                plain = named in _PLAIN_LITERALS
                return self._annotations.standard(f"builtins.{named}") if plain else None
            case ast.List(elts=[first, *_]):
                given = [self.term(first, scope, depth + 1)]
            case ast.Tuple(elts=parts):
                given = [self.term(each, scope, depth + 1) for each in parts]
            case ast.ListComp(elt=element) | ast.SetComp(elt=element):
                given = [self.term(element, self._scopes.get(node, scope), depth + 1)]
        named = _LITERALS.get(type(node), "")
        return self._annotations.standard(f"builtins.{named}", *given) if named else None

    def _parametrized(self, owner: Term, node: ast.Subscript, scope: Scope) -> Term | None:
        """``Page[Item]``: the class, with what it is subscripted with."""
        if isinstance(owner, Own):
            return owner
        read = self.annotated(node, scope)
        return replace(owner, given=read.given) if isinstance(read, Made) else owner

    def _attribute(
        self, node: ast.Attribute, value: ast.expr, name: str, scope: Scope, depth: int
    ) -> Read:
        path = self.dotted(node, scope)
        if path is not None:
            return self.members.value(path)
        owner = self.term(value, scope, depth)
        if isinstance(owner, Own):
            return self.own.attribute(owner, name, depth)
        if isinstance(owner, Made) and name not in self._patched:
            return self.members.attribute(owner, name)
        return None

    def passed(self, node: ast.Call, scope: Scope, depth: int) -> Passed:
        """The arguments of a call."""
        positional: list[Term | None] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                break
            positional.append(self.term(each, scope, depth))
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        terms = {name: self.term(value, scope, depth) for name, value in named.items()}
        return Passed(given(node), positional, terms)

    def call(self, node: ast.Call, scope: Scope, depth: int = 0) -> Read:
        """What a call gives."""
        function = node.func
        passed = self.passed(node, scope, depth + 1)
        path = self.dotted(function, scope)
        if path is not None:
            return self.members.called(path, passed)
        if isinstance(function, ast.Attribute):
            whole = self._read(function.value, scope, depth)
            if isinstance(whole, Nothing):
                return NOTHING
            owner = whole
            if isinstance(owner, Own):
                return self.own.called(owner, function.attr, passed, depth)
            if isinstance(owner, Made) and function.attr not in self._patched:
                # What raises gives nothing: a variable is what else it is made of.
                lost = self.members.lacks(owner, function.attr)
                return NOTHING if lost else self.members.method(owner, function.attr, passed)
            return None
        value = self.term(function, scope, depth)
        if isinstance(value, Own):
            return replace(value, itself=False) if value.itself else None
        return self.members.result(value, passed) if value is not None else None

    def returned(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, me: Term | None
    ) -> Term | None:
        """What a call of a function of the code gives, by its own annotation."""
        term = self.annotated(node.returns, scope, me)
        decorators = {
            ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list
        }
        return self.members.wrapped(term, node, decorators)


def given(node: ast.Call) -> Given:
    """Number and names of the arguments of a call."""
    return Given(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg is not None),
        open_positional=any(isinstance(each, ast.Starred) for each in node.args),
        open_keywords=any(each.arg is None for each in node.keywords),
    )
