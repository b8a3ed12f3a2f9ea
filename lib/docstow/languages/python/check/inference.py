"""What the expressions and variables of Python code certainly are."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import (
    NONE,
    AnnotationContext,
    Annotations,
    Inferred,
    LocalType,
    NoneValue,
    PackageType,
    Resolved,
    ValueType,
    join,
    without_none,
)
from docstow.languages.python.check.bodies import own_nodes, returned_values, yielded_values
from docstow.languages.python.check.call_sites import (
    Given,
    Handed,
    Uses,
    given_parameters,
    uses_of_functions,
)
from docstow.languages.python.check.callbacks import Taken, decorated_by, taken_by
from docstow.languages.python.check.certainty import may_decide
from docstow.languages.python.check.filled import Addition, additions, is_bare, with_items
from docstow.languages.python.check.injected import fixture_name, injected, made_by, takes_fixtures
from docstow.languages.python.check.literals import OPERATORS, known_items, literal_class
from docstow.languages.python.check.local_classes import LocalClasses
from docstow.languages.python.check.members import Members
from docstow.languages.python.check.parse import (
    Annotated,
    Assigned,
    Binding,
    Caught,
    Defined,
    Import,
    LoopItem,
    PlainParameter,
    Receiver,
    Scope,
    Unpacked,
    scope_nodes,
)
from docstow.languages.python.check.parsed_arguments import parsed_arguments
from docstow.languages.python.check.passed import Passed, call_shape
from docstow.languages.python.check.variables import Variables
from docstow.languages.python.distributions import SHARED
from docstow.languages.python.source.syntax import (
    Function,
    assignments,
    callee,
    decorator_name,
    dotted,
    operands,
    positional,
)
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.likeness import name_similarity
from docstow.languages.shared.lookup import Installed, Names, PassedArguments

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Symbol

_BUILTINS = frozenset(dir(builtins))
#: Letters of a parameter that is named after a class, and names of the class that are read of it.
_LEAST_NAMED, _LEAST_KNOWN = 4, 2
#: How alike the one name that is not there must be to one that is, of 100.
_ALIKE = 70.0
#: Methods that get the class though nothing says so.
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
#: Functions of scikit-learn after which estimators return tables in place of arrays.
_MAKING_TABLES = frozenset({"set_output", "set_config", "config_context"})
#: Functions that call the first argument with items of the others.
_MAPPING = re.compile(r"builtins\.(?:map|filter)|(?:concurrent|multiprocessing)\..*\.(?:i?map\w*)")
#: Functions with a ``key`` that they call with each item of the first argument.
_WITH_KEY = frozenset({"builtins.sorted", "builtins.min", "builtins.max", "heapq.nlargest"})
#: Expressions that are followed one from another.
_DEEPEST = 30
#: Items of a list that are looked at.
_MOST_ITEMS = 16


class Inference:
    """The types of one piece of code.

    Attributes:
        members: members of packages' classes.
        classes: the classes of the code.

    Args:
        names: where names are looked up.
        scopes: of the code; a class is added for the arguments of its command line.
        lost: names whose bindings could not be read.
        narrowed: variables whose type the code tests.
        patched: attributes that the code sets itself.
        tested: the class that a test tells of uses of values.
    """

    def __init__(
        self,
        names: Names,
        scopes: dict[ast.AST, Scope],
        lost: frozenset[str],
        narrowed: frozenset[str],
        patched: frozenset[str],
        tested: Mapping[ast.expr, ast.expr],
    ) -> None:
        self._names = names
        self._scopes = scopes
        self._lost = lost
        self._unknown = lost | narrowed
        self._patched = patched
        self._tested = tested
        self._annotations = Annotations(names)
        self.members = Members(self._annotations)
        self.classes = LocalClasses(self, scopes)
        self._variables = Variables()
        #: What functions without annotations return.
        self._returns: dict[Function, ValueType | None] = {}
        self._returning = 0
        #: What expressions are found to be where nothing waits for them, with their scopes.
        self._inferred: dict[tuple[ast.expr, int], Inferred] = {}
        #: How often an expression was too deep to be followed.
        self._cut = 0
        self._parsed_arguments = self._find_parsed_arguments(scopes)

    @cached_property
    def given(self) -> Mapping[tuple[ast.AST, str], Given]:
        """What the code gives to the parameters of its functions, by these and their names.

        What overrides a method of a package's class is called by the package, too.
        """
        found = given_parameters(self._scopes, self._uses)
        return {key: each for key, each in found.items() if self._overridden(key[0]) is None}

    def _overridden(self, function: ast.AST) -> PackageType | None:
        """Return the package's class whose method a method of the code overrides.

        A constructor takes what it wants.
        """
        inner = self._scopes.get(function)
        around = inner.parent if inner is not None else None
        if around is None or not isinstance(around.node, ast.ClassDef):
            return None
        name = getattr(function, "name", "")
        own = LocalType(around.node, around.parent or around)
        return self.classes.overridden(own, name) if name not in _CONSTRUCTORS else None

    @cached_property
    def _uses(self) -> Mapping[Function, Uses]:
        return uses_of_functions(self._scopes)

    def handed(self, function: Function, name: str) -> ValueType | None:
        """Return what a parameter is by the annotations of all that its function is given to."""
        names = [each.arg for each in positional(function)]
        inner = self._scopes.get(function)
        around = inner.parent.node if inner is not None and inner.parent is not None else None
        is_method = isinstance(around, ast.ClassDef)
        index = names.index(name) - is_method if name in names else -1
        uses = self._uses.get(function, Uses())
        if index < 0 or uses.is_kept or uses.calls:
            return None
        found: list[ValueType | None] = []
        for each in uses.handed:
            ways = self._taken(each)
            found += [way[index] if index < len(way) else None for way in ways] or [None]
        return found[0] if found and all(each == found[0] for each in found) else None

    def _taken(self, handed: Handed) -> list[Taken]:
        """Return what the function gets that is an argument of a call."""
        called, scope = handed.call.func, handed.scope
        if (items := self._items_given(handed)) is not None:
            return [items]
        if any(isinstance(each, ast.Starred) for each in handed.call.args):
            return []
        found = self._called(called, scope)
        return taken_by(self._annotations, *found, handed.place) if found is not None else []

    def _called(self, called: ast.expr, scope: Scope) -> tuple[Symbol, AnnotationContext] | None:
        """Return the function that a call calls, or the ``__init__``, with its context."""
        path, owner = self.import_path(called, scope), None
        if path is not None and (answer := self._names.look_up(path)).whole:
            symbol, package = answer.symbol, answer.package
            if symbol is not None and package is not None and symbol.kind == "class":
                owner = PackageType(path, package)
                symbol = self.members.symbol(owner, "__init__")
        elif isinstance(called, ast.Attribute):
            kind = self.type_of(called.value, scope)
            if not isinstance(kind, PackageType) or kind.alternatives:
                return None
            owner, package = kind, kind.package
            symbol = self.members.symbol(kind, called.attr)
        else:
            return None
        if symbol is None or package is None:
            return None
        return symbol, self.members.member_context(symbol, package, owner)

    def decorated(self, function: Function, name: str) -> ValueType | None:
        """Return what a parameter is by the annotations of what decorates its function."""
        names = [each.arg for each in positional(function)]
        inner = self._scopes.get(function)
        scope = inner.parent if inner is not None else None
        if name not in names or scope is None:
            return None
        index = names.index(name) - isinstance(scope.node, ast.ClassDef)
        found: list[ValueType | None] = []
        for each in function.decorator_list:
            made = self._called(callee(each), scope)
            if made is None or index < 0:
                continue
            is_called = isinstance(each, ast.Call)
            ways = (
                decorated_by(self._annotations, *made)
                if is_called
                else taken_by(self._annotations, *made, 0)
            )
            found += [way[index] if index < len(way) else None for way in ways]
        return found[0] if found and all(each == found[0] for each in found) else None

    def _items_given(self, handed: Handed) -> Taken | None:
        """Return what a function gets that is called with each item of something; None for others.

        ``map(size, files)`` and ``sorted(files, key=size)``.
        """
        call, scope = handed.call, handed.scope
        path = self.import_path(call.func, scope) or ""
        if isinstance(call.func, ast.Attribute) and not path:
            owner = self.type_of(call.func.value, scope)
            path = f"{owner.path}.{call.func.attr}" if isinstance(owner, PackageType) else ""
            if path == "builtins.list.sort" and isinstance(owner, PackageType):
                return owner.arguments[:1]
        if _MAPPING.fullmatch(path) and handed.place == 0:
            many = call.args[1:]
        elif path in _WITH_KEY and handed.place == "key":
            many = call.args[:1]
        else:
            return None
        kinds = [self.type_of(each, scope) for each in many]
        return tuple(
            self.members.loop_item(each, awaited=False) if isinstance(each, PackageType) else None
            for each in kinds
        )

    def told_elsewhere(self, function: ast.AST, name: str) -> ValueType | None:
        """Return what a parameter is by the annotations of packages that call its function."""
        if not isinstance(function, Function):
            return None
        return (
            self.inherited(function, name)
            or self.handed(function, name)
            or self.decorated(function, name)
        )

    def inherited(self, function: Function, name: str) -> ValueType | None:
        """Return what a parameter is by the annotation of the method that its own overrides."""
        base = self._overridden(function) if not function.decorator_list else None
        if base is None:
            return None
        names = [each.arg for each in positional(function)]
        kind = without_none(self.members.parameter(base, function.name, name, names))
        is_known = isinstance(kind, PackageType) and not kind.open_ended and not kind.is_class
        return kind if is_known else None

    # -- imports and annotations ---------------------------------------------------------------

    @cached_property
    def _import_paths(self) -> frozenset[str]:
        """The paths of all that the code imports."""
        return frozenset(
            each.path
            for scope in self._scopes.values()
            for bindings in scope.bindings.values()
            for each in bindings
            if isinstance(each, Import)
        )

    @cached_property
    def _imported(self) -> list[PythonSurface]:
        """The surfaces of the packages that the code imports."""
        # What is below a shared name may be of any package: ``opentelemetry.sdk``.
        found = map(self._names.resolver.package_for, sorted(self._import_paths))
        surfaces = (each.surface for each in found if each is not None and each.name != STANDARD)
        every = (each for each in surfaces if isinstance(each, PythonSurface))
        return [*{id(each): each for each in every}.values()]

    @cached_property
    def _makes_tables(self) -> bool:
        """Whether the code names a function after which scikit-learn returns tables."""
        return any(
            getattr(each, "attr", getattr(each, "id", "")) in _MAKING_TABLES
            for block in self._scopes
            if isinstance(block, ast.Module)
            for each in ast.walk(block)
        )

    def _extending(self, kind: PackageType) -> Iterator[PythonSurface]:
        """Yield the surfaces of other packages that the code imports and that import a class's."""
        first, second, *_ = *(kind.home or kind.path).split("."), ""
        # Of a shared name the second part tells: ``google.protobuf``.
        root = f"{first}.{second}" if first in SHARED else first
        for each in self._imported:
            is_own = each is kind.package.surface and first in each.package.import_names
            if not is_own and (root == "builtins" or root in each.words.imports):
                yield each

    def is_extended_with(self, kind: PackageType, name: str) -> bool:
        """Return whether another package gives instances a name, or has a subclass with it.

        A ``DataFrame`` may be one of geopandas, where the code imports that, and what docstrings
        call an array may be a ``DataFrame``, where the code has scikit-learn make these.
        """
        if kind.is_plain and self._makes_tables:
            return True
        if self._adds_providers and kind.path.startswith("faker."):
            return True
        surface, extending = kind.package.surface, [*self._extending(kind)]
        if not extending or not isinstance(surface, PythonSurface):
            return False
        symbols = filter(None, map(surface.symbol, kind.paths))
        homes = {each.target or each.path for each in symbols}
        # Half of all packages have a subclass of str that is open; it is rarely what a str is.
        mentions = kind.package.name == STANDARD
        last = kind.path.rpartition(".")[2]
        if not mentions and any(each.words.sets_beside(last, name) for each in extending):
            return True
        return any(
            each.extends_with(
                home,
                name,
                surface.base_names(home),
                surface.subclass_names(home),
                mentions=mentions,
            )
            for home in homes
            for each in extending
        )

    def is_replaced(self, package: Installed, path: str) -> bool:
        """Return whether a package that the code imports sets a method of a class from outside."""
        owner, _, method = path.rpartition(".")
        surface = package.surface
        if not isinstance(surface, PythonSurface) or surface.symbol(owner) is None:
            return False
        owners = {owner.rpartition(".")[2], *surface.base_names(owner)}
        return any(each.gives(owners, method) for each in self._imported)

    def is_extended_taking(self, kind: PackageType, method: str, keyword: str) -> bool:
        """Return whether a subclass in another package has a method with a keyword."""
        return any(
            each.subclass_may_take(path, method, keyword)
            for each in self._extending(kind)
            for path in kind.paths
        )

    def import_path(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the absolute path of a chain of attributes that begins with an imported name."""
        if isinstance(node, ast.Attribute):
            owner = self.import_path(node.value, scope)
            return f"{owner}.{node.attr}" if owner is not None else None
        if not isinstance(node, ast.Name) or node.id in self._lost:
            return None
        found = scope.find(node.id)
        if found is None:
            is_builtin = node.id in _BUILTINS and scope.find("*") is None
            return f"builtins.{node.id}" if is_builtin else None
        first, *_ = found[1]
        # Most names are bound by no import; those that are may be bound many times.
        if not isinstance(first, Import) or any(each != first for each in found[1]):
            return None
        return first.path

    def function(self, node: ast.expr, scope: Scope) -> Function | None:
        """Return the source of the function that an expression names, of the code or a package."""
        path = self.import_path(node, scope)
        if path is None and isinstance(node, ast.Name):
            match scope.find(node.id):
                case _, [Defined(ast.FunctionDef() as function)]:
                    return function if not function.decorator_list else None
        if path is None and isinstance(node, ast.Attribute):
            owner = self.type_of(node.value, scope)
            path = f"{owner.path}.{node.attr}" if isinstance(owner, PackageType) else None
        package = self._names.resolver.package_for(path) if path is not None else None
        if path is None or package is None or not isinstance(package.surface, PythonSurface):
            return None
        return package.surface.function(path)

    def read_annotation(
        self, node: ast.expr | None, scope: Scope, receiver: ValueType | None = None
    ) -> ValueType | None:
        """Return the type that an annotation of the code means."""

        def resolve(node: ast.expr) -> Resolved | LocalType | None:
            return self._resolve(node, scope)

        found = without_none(self._annotations.read(node, AnnotationContext(resolve, receiver)))
        return self._with_arguments(found)

    def _resolve(self, node: ast.expr, scope: Scope) -> Resolved | LocalType | None:
        path = self.import_path(node, scope)
        if path is None:
            local = self.type_of(node, scope) if isinstance(node, ast.Name) else None
            if isinstance(local, LocalType) and local.is_class:
                return replace(local, is_class=False)
            return None
        answer = self._names.look_up(path)
        if answer.symbol is None or answer.package is None or not answer.whole:
            return None
        symbol, package = answer.symbol, answer.package
        if symbol.kind == "re-export" and symbol.target:
            return self._annotations.resolve(symbol.target, path.rpartition(".")[0], package)
        return Resolved(symbol.path, symbol.target or symbol.path, symbol, package)

    def return_type(
        self, node: Function, scope: Scope, receiver: ValueType | None
    ) -> ValueType | None:
        """Return what a call of a function of the code returns, by its own annotation."""
        decorators = {decorator_name(each) for each in node.decorator_list}
        if node.returns is None and not decorators:
            returned = self._returned(node)
        else:
            returned = self.read_annotation(node.returns, scope, receiver)
            if isinstance(returned, PackageType) and is_bare(returned):
                held = self._returned(node)
                is_same = isinstance(held, PackageType) and held.path == returned.path
                returned = held if is_same else returned
        return self.members.wrap_result(returned, node, decorators)

    def _returned(self, node: Function) -> ValueType | None:
        """Return what the statements of a function return, on which all must agree."""
        if node not in self._returns:
            # A function that calls itself returns nothing certain.
            self._returns[node] = None
            self._returning += 1
            values = list(returned_values(node)) if node in self._scopes else []
            found = [self.infer(e, self._scopes[node], 0) if e else None for e in values]
            self._returning -= 1
            self._returns[node] = without_none(join(found))
        return self._returns[node]

    # -- expressions ---------------------------------------------------------------------------

    def type_of(self, node: ast.expr, scope: Scope, depth: int = 0) -> ValueType | None:
        """Return the type of an expression, leaving out None; None where it is not certain."""
        return without_none(self.infer(node, scope, depth))

    def infer(self, node: ast.expr, scope: Scope, depth: int) -> Inferred:
        """Return the type of an expression; None where it is not certain."""
        if depth > _DEEPEST:
            self._cut += 1
            return None
        key, cut = (node, id(scope)), self._cut
        if key in self._inferred:
            return self._inferred[key]
        found = self._infer(node, scope, depth)
        # What is found while a variable or a function waits may be other than what it is alone.
        if not (self._variables.is_inferring or self._returning or self._cut > cut):
            self._inferred[key] = found
        return found

    def _infer(self, node: ast.expr, scope: Scope, depth: int) -> Inferred:
        if (kind := self._tested.get(node)) is not None:
            kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
            return join(self.read_annotation(each, scope) for each in kinds)
        match node:
            case ast.Name(id=name):
                path = self.import_path(node, scope)
                if path is not None:
                    return self.members.value_at(path)
                return self._variable(name, scope, depth + 1)
            case ast.Constant(value=None):
                return NONE
            case ast.Await(value=value):
                return self.members.await_result(self.type_of(value, scope, depth + 1))
            case ast.Call():
                return self._call(node, scope, depth + 1)
            case ast.Attribute():
                return self._attribute(node, scope, depth + 1)
            case ast.Subscript():
                return self._subscript(node, scope, depth + 1)
            case ast.BoolOp() | ast.IfExp() | ast.NamedExpr():
                return join(self.infer(each, scope, depth + 1) for each in _alternatives(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self._operated(left, type(op), right, scope, depth + 1)
        return self._literal(node, scope, depth)

    def _operated(
        self, left: ast.expr, op: type[ast.operator], right: ast.expr, scope: Scope, depth: int
    ) -> ValueType | None:
        """Return what an operator returns, by the method of the value before it."""
        owner, other = self.type_of(left, scope, depth), self.type_of(right, scope, depth)
        if not isinstance(owner, PackageType) or owner.is_class:
            return None
        return self.members.operate(owner, OPERATORS[op], other)

    def _literal(self, node: ast.expr, scope: Scope, depth: int) -> PackageType | None:
        """Return the type of a constant, a collection or a comprehension."""
        inner = self._scopes.get(node, scope)
        items = [self.type_of(each, inner, depth + 1) for each in known_items(node)]
        if isinstance(node, ast.List) and items and items[0] is not None:
            # What is not known is taken to be as the first.
            others = (self.type_of(each, inner, depth + 1) for each in node.elts[1:_MOST_ITEMS])
            known = [each for each in others if each is not None]
            items = [without_none(join([items[0], *known]))]
        name = literal_class(node)
        return self._annotations.standard_type(f"builtins.{name}", *items) if name else None

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> ValueType | None:
        owner = self.type_of(node.value, scope, depth)
        if isinstance(owner, LocalType):
            return owner if owner.is_class else None
        if owner is None or not owner.is_class:
            return self.members.subscript(owner, node.slice) if owner is not None else None
        # ``Page[Item]`` is the class with its type arguments.
        read = self.read_annotation(node, scope)
        return replace(owner, arguments=read.arguments) if isinstance(read, PackageType) else owner

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> ValueType | None:
        path = self.import_path(node, scope)
        if path is not None:
            return self.members.value_at(path)
        owner = self.type_of(node.value, scope, depth)
        if isinstance(owner, LocalType):
            return self.classes.attribute(owner, node.attr, depth)
        if isinstance(owner, PackageType) and node.attr not in self._patched:
            return self.members.attribute(owner, node.attr)
        return None

    def _with_arguments(self, found: ValueType | None) -> ValueType | None:
        """Return a value; what ``argparse`` returns has the attributes that the code adds."""
        if not isinstance(found, PackageType) or found.is_class:
            return found
        if found.path == "argparse.Namespace":
            return self._parsed_arguments or found
        if found.path == "builtins.tuple" and found.arguments:
            return replace(found, arguments=tuple(map(self._with_arguments, found.arguments)))
        return found

    def _find_parsed_arguments(self, scopes: dict[ast.AST, Scope]) -> LocalType | None:
        """Return what ``parse_args`` returns, by what the code adds to its parsers."""
        if all(each.partition(".")[0] != "argparse" for each in self._import_paths):
            return None
        top = next(each for each in scopes.values() if each.parent is None)
        made = parsed_arguments(top.node, lambda node: self.import_path(node, top) or "")
        if made is None:
            return None
        scopes[made] = Scope(made, top)
        # It stands in no branch of the code.
        return LocalType(made, Scope(made, None))

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Inferred:
        found = self._called_value(node, scope, depth)
        return found if isinstance(found, NoneValue) else self._with_arguments(found)

    def _called_value(self, node: ast.Call, scope: Scope, depth: int) -> Inferred:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return self._above(scope)
        function, passed = node.func, self._arguments(node, scope, depth + 1)
        path = self.import_path(function, scope)
        if path is not None:
            computed = (e for one in node.args if isinstance(one, ast.BinOp) for e in operands(one))
            kinds = (self.type_of(each, scope, depth + 1) for each in computed)
            is_told = not may_decide(path, (*passed.positional, *kinds))
            return self.members.call_path(path, passed) if is_told else None
        if isinstance(function, ast.Attribute):
            owner = self.infer(function.value, scope, depth)
            if isinstance(owner, LocalType):
                return self.classes.call_method(owner, function.attr, passed, depth)
            if isinstance(owner, PackageType) and function.attr not in self._patched:
                # A call that raises returns nothing: other bindings of a variable decide.
                raises = self.members.lacks(owner, function.attr)
                return NONE if raises else self.members.call_method(owner, function.attr, passed)
            return NONE if isinstance(owner, NoneValue) else None
        value = self.type_of(function, scope, depth)
        if isinstance(value, LocalType):
            return replace(value, is_class=False) if value.is_class else None
        return self.members.call_value(value, passed) if value is not None else None

    def _above(self, scope: Scope) -> ValueType | None:
        """Return what ``super()`` is in a method of a class with one base."""
        method, owner = scope.node, scope.parent
        if owner is None or not isinstance(owner.node, ast.ClassDef):
            return None
        decorators = getattr(method, "decorator_list", [])
        is_plain = all(
            decorator_name(each) not in {"classmethod", "staticmethod"} for each in decorators
        )
        if not is_plain or getattr(method, "name", "") in _OF_CLASSES:
            return None
        own = LocalType(owner.node, owner.parent or owner)
        if self.classes.has_subclasses(own) or "mixin" in owner.node.name.lower():
            return None
        match self.classes.bases(own):
            case [PackageType() as base]:
                return replace(base, is_class=False)
            case [LocalType() as base]:
                return replace(base, is_class=False, is_receiver=True)
        return None

    def _arguments(self, node: ast.Call, scope: Scope, depth: int) -> Passed:
        positional: list[ValueType | None] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                break
            positional.append(self.type_of(each, scope, depth))
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        types = {name: self.type_of(value, scope, depth) for name, value in named.items()}
        return Passed(call_shape(node), positional, types)

    # -- variables -----------------------------------------------------------------------------

    def _variable(self, name: str, scope: Scope, depth: int) -> Inferred:
        """Return the type on which all bindings of a variable agree."""
        found = scope.find(name) if name not in self._unknown else None
        if found is None:
            return None
        owner, bindings = found
        return self._variables.agree(
            (id(owner), name), lambda: self._infer_bindings(name, bindings, owner, depth)
        )

    def _infer_bindings(
        self, name: str, bindings: list[Binding], scope: Scope, depth: int
    ) -> list[Inferred]:
        found = [self._infer_binding(each, scope, depth) for each in bindings]
        return [self.filled(each, name, scope, depth) for each in found]

    def filled(self, kind: Inferred, path: str, scope: Scope, depth: int) -> Inferred:
        """Return the type of a collection with that of what the code puts there.

        Args:
            kind: the type without it.
            path: the collection's name, or that of an attribute of ``self``.
            scope: where the name is bound, or the scope of the class.
            depth: of the expressions that are followed.
        """
        if not isinstance(kind, PackageType) or path not in self._additions:
            return kind
        if any(_owner_of(path, inner) is scope for inner in self._begun.get(path, ())):
            return kind
        around = {
            each: inner for each, inner in self._additions[path] if _owner_of(path, inner) is scope
        }
        return with_items(
            kind, [*around], lambda each: self.infer(each.value, around[each], depth + 1)
        )

    @cached_property
    def _begun(self) -> Mapping[str, list[Scope]]:
        """Where collections are bound that have items of their own, by the paths of these."""
        found: dict[str, list[Scope]] = {}
        for scope in self._scopes.values():
            nodes = (each for node in scope_nodes(scope.node) for each in assignments(node))
            for target, _, value in nodes:
                if any(getattr(value, each, ()) for each in ("elts", "keys")):
                    found.setdefault(dotted(target), []).append(scope)
        return found

    @cached_property
    def _additions(self) -> Mapping[str, list[tuple[Addition, Scope]]]:
        found: dict[str, list[tuple[Addition, Scope]]] = {}
        for scope in self._scopes.values():
            for each in additions(scope_nodes(scope.node)):
                found.setdefault(each.collection, []).append((each, scope))
        return found

    def _infer_binding(self, binding: Binding, scope: Scope, depth: int) -> Inferred:
        match binding:
            case Assigned(expression, entered, awaited):
                value = self.infer(expression, scope, depth)
                return self._enter(value, depth, awaited=awaited) if entered else value
            case Annotated(annotation):
                return self.read_annotation(annotation, scope)
            case LoopItem(expression, awaited):
                many = self.type_of(expression, scope, depth)
                if isinstance(many, PackageType):
                    return self.members.loop_item(many, awaited=awaited)
            case Unpacked(inner, index):
                whole = without_none(self._infer_binding(inner, scope, depth))
                return self.members.unpack(whole, index) if whole is not None else None
            case Caught(expression):
                kind = self.type_of(expression, scope, depth)
                return replace(kind, is_class=False) if kind is not None and kind.is_class else None
            case Defined(node):
                return self._defined(node, scope, depth)
            case Receiver(node, is_class):
                outer = scope.parent.parent if scope.parent is not None else None
                return LocalType(node, outer or scope, is_class=is_class, is_receiver=True)
            case PlainParameter(name, function):
                given = self.given.get((function, name))
                if given is None or given.by_name:
                    kind = self.told_elsewhere(function, name)
                    kind = kind or self._injected(name, function, scope, depth)
                    return kind or self._named_after(name, function)
                return join(self.infer(each, around, depth) for each, around in given.values)
        return None

    def _enter(self, manager: Inferred, depth: int, *, awaited: bool) -> ValueType | None:
        if isinstance(manager, LocalType):
            return self.classes.enter(manager, depth, awaited=awaited)
        if isinstance(manager, PackageType):
            return self.members.enter(manager, awaited=awaited)
        return None

    @cached_property
    def _fixtures(self) -> Mapping[str, list[Function]]:
        """The functions of the code that make the fixtures of each name."""
        found: dict[str, list[Function]] = {}
        for node in self._scopes:
            if isinstance(node, Function) and (name := fixture_name(node)):
                found.setdefault(name, []).append(node)
        return found

    def _fixture(self, maker: Function) -> ValueType | None:
        """Return what tests get of a fixture."""
        scope, yielded = self._scopes[maker], yielded_values(maker)
        if maker.returns is None:
            if not yielded:
                return self._returned(maker)
            found = [self.infer(each, scope, 0) if each else None for each in yielded]
            return without_none(join(found))
        given = self.read_annotation(maker.returns, scope)
        if not yielded:
            return given
        if not isinstance(given, PackageType):
            return None
        awaited = isinstance(maker, ast.AsyncFunctionDef)
        return without_none(self.members.loop_item(given, awaited=awaited))

    @cached_property
    def _clients(self) -> Mapping[str, list[tuple[ast.Call, Scope]]]:
        """The calls that make clients of services, by the names of parameters that get them.

        They are called as the service is: ``s3``, ``s3_client``.
        """
        found: dict[str, list[tuple[ast.Call, Scope]]] = {}
        if all(each.package.name != "boto3" for each in self._imported):
            return found
        for block, scope in self._scopes.items():
            if not isinstance(block, Function | ast.ClassDef | ast.Module):
                continue
            for node in own_nodes(block):
                match node:
                    case ast.Call(
                        func=ast.Attribute(attr="client" | "resource"),
                        args=[ast.Constant(str(service)), *_],
                    ):
                        for name in (service, f"{service}_client"):
                            found.setdefault(name, []).append((node, scope))
        return found

    @cached_property
    def _adds_providers(self) -> bool:
        """Whether the code gives an object methods of others: ``fake.add_provider(Vehicles)``."""
        top = next(each for each in self._scopes.values() if each.parent is None)
        attributes = (each for each in ast.walk(top.node) if isinstance(each, ast.Attribute))
        return any(each.attr == "add_provider" for each in attributes)

    @cached_property
    def _is_django(self) -> bool:
        """Whether the code makes answers for Django, and imports nothing that extends requests."""
        paths = self._import_paths
        roots = {each.partition(".")[0] for each in paths}
        is_answering = any(each.startswith(("django.http.", "django.shortcuts.")) for each in paths)
        return is_answering and roots.isdisjoint({"rest_framework", "ninja", "flask", "pytest"})

    def _client(self, name: str) -> ValueType | None:
        """Return the only client that the code makes of the service that a parameter names."""
        made = [self.type_of(*each) for each in self._clients.get(name, ())]
        return made[0] if made and all(each == made[0] for each in made) else None

    def _injected(self, name: str, function: ast.AST, scope: Scope, depth: int) -> ValueType | None:
        """Return what a framework passes to a parameter."""
        outer = scope.parent
        if outer is None or not isinstance(function, Function):
            return None

        if takes_fixtures(function) and (made := self._fixtures.get(name, ())):
            return self._fixture(*made) if len(made) == 1 and made[0] is not function else None
        if (client := self._client(name)) is not None and outer.find(name) is None:
            return client
        called = self._callee_path(outer, depth)
        path = injected(name, function, called, is_django=self._is_django)
        return self._instance_of(path) if outer.find(name) is None else None

    def _callee_path(self, scope: Scope, depth: int) -> Callable[[ast.expr], str]:
        """Return what tells the path of a function or method that an expression names."""

        def called(node: ast.expr) -> str:
            path = self.import_path(node, scope)
            if path is None and isinstance(node, ast.Attribute):
                owner = self.type_of(node.value, scope, depth)
                path = f"{owner.path}.{node.attr}" if isinstance(owner, PackageType) else None
            return path or ""

        return called

    def _instance_of(self, path: str) -> PackageType | None:
        """Return the type of instances of a class by its path; None for none."""
        package = self._names.resolver.package_for(path) if path else None
        if package is None or package.surface.symbol(path) is None:
            return None
        return PackageType(path, package)

    def _named_after(self, name: str, function: ast.AST) -> ValueType | None:
        """Return the one class of the imported packages that a parameter is named after.

        What the function reads of it must be there, but for one name that is like another.
        """
        read = {
            each.attr
            for each in ast.walk(function)
            if isinstance(each, ast.Attribute) and dotted(each.value) == name
        }
        if len(name) < _LEAST_NAMED or len(read) < _LEAST_KNOWN:
            return None
        class_name = name.title().replace("_", "")
        found = {path for each in self._imported for path in each.classes_named(class_name)}
        path = found.pop() if len(found) == 1 else ""
        package = self._names.resolver.package_for(path) if path else None
        if package is None:
            return None
        unknown = [each for each in read if package.symbol(f"{path}.{each}") is None]
        if len(read) - len(unknown) < _LEAST_KNOWN or len(unknown) > 1:
            return None
        members = package.surface.members(path) or {}
        is_alike = all(any(name_similarity(e, m) >= _ALIKE for m in members) for e in unknown)
        return PackageType(path, package) if is_alike else None

    def _defined(self, node: Function | ast.ClassDef, scope: Scope, depth: int) -> ValueType | None:
        """Return the type of a function or class of the code, after its decorators."""
        if isinstance(node, ast.ClassDef):
            is_kept = self.classes.has_plain_decorators(node, scope) or (
                bool(node.decorator_list)
                and all(self._is_identity(each, scope) for each in node.decorator_list)
            )
            return LocalType(node, scope, is_class=True) if is_kept else None
        value: ValueType | None = self._annotations.standard_type(
            "typing.Callable", self.return_type(node, scope, None)
        )
        for each in reversed(node.decorator_list):
            if decorator_name(each) not in {"contextmanager", "asynccontextmanager"}:
                value = self._decorate(each, value, scope, depth)
        return value

    def _is_identity(self, decorator: ast.expr, scope: Scope) -> bool:
        """Return whether a decorator that is called first returns what it is given."""
        if not isinstance(decorator, ast.Call):
            return False
        maker = self.import_path(decorator.func, scope)
        return maker is not None and self.members.makes_identity_decorator(maker)

    def _decorate(
        self, decorator: ast.expr, value: ValueType | None, scope: Scope, depth: int
    ) -> ValueType | None:
        function = self.type_of(decorator, scope, depth)
        passed = Passed(PassedArguments(1), [value])
        if self._is_identity(decorator, scope):
            return value
        if made := self._instance_of(made_by(decorator, self._callee_path(scope, depth))):
            return made
        path = self.import_path(decorator, scope)
        if path is not None:
            return self.members.call_path(path, passed)
        return self.members.call_value(function, passed) if function is not None else None


def _alternatives(node: ast.BoolOp | ast.IfExp | ast.NamedExpr) -> list[ast.expr]:
    """Return the expressions of which one is the value; nothing for ``and``."""
    match node:
        case ast.BoolOp(op=ast.Or(), values=values):
            return values
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.NamedExpr(value=value):
            return [value]
    return []


def _owner_of(path: str, scope: Scope) -> Scope | None:
    """Return the scope that binds a variable, or that of the class for an attribute of ``self``."""
    first, _, rest = path.partition(".")
    return scope.parent if rest else (scope.find(first) or (None,))[0]
