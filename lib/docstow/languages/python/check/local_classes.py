"""Classes that the checked code defines: their bases, members, openness and constructors."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from docstow.languages.python.check.annotations import (
    Inferred,
    LocalType,
    PackageType,
    ValueType,
    join,
    without_none,
)
from docstow.languages.python.check.bodies import keeps_argument
from docstow.languages.python.check.certainty import is_descriptor
from docstow.languages.python.check.django_models import held_by, linked_model, of_model
from docstow.languages.python.check.members import Members
from docstow.languages.python.check.parse import Scope
from docstow.languages.python.check.passed import NOTHING_PASSED, Passed
from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.getattr_names import allows_extra
from docstow.languages.python.source.syntax import (
    Function,
    assignments,
    callee,
    decorator_name,
    dotted,
    positional,
    string_value,
)
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.surface import Openness, Parameter

#: Decorators that leave a class as its body says.
_PLAIN_DECORATORS = frozenset(
    {
        *("dataclass", "define", "frozen", "mutable", "final", "runtime_checkable"),
        *("total_ordering", "unique", "verify"),
    }
)
#: Those of them that make a constructor.
_MAKING = frozenset({"dataclass", "define", "frozen", "mutable"})
#: Decorators that leave what a method returns.
_METHOD_DECORATORS = frozenset(
    {
        *("classmethod", "staticmethod", "abstractmethod", "override"),
        *("contextmanager", "asynccontextmanager"),
    }
)
#: Bases without names of their own.
_EMPTY_BASES = frozenset(
    {
        *("typing.Generic", "typing_extensions.Generic", "builtins.object", "abc.ABC"),
        *("typing.Protocol", "typing_extensions.Protocol"),
    }
)
_METACLASSES = frozenset({"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
#: Bases of classes whose annotated names are keys of a dictionary.
_TYPED_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})
_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
#: Decorators of ``attrs`` that generate a constructor.
_ATTRS = frozenset(
    f"{module}.{name}" for module in ("attr", "attrs") for name in ("define", "frozen", "mutable")
)
#: Keywords of these and of ``dataclass`` that leave the constructor as it is.
_HARMLESS_KEYWORDS = frozenset({"frozen", "slots", "order", "eq", "repr", "unsafe_hash"})
#: Names in a class that add names to it at run time.
_DYNAMIC_NAMES = frozenset({"setattr", "vars", "__dict__", "__getattr__", "__getattribute__"})


class _Expressions(Protocol):
    """The types of the code's expressions, as :class:`Inference` finds them."""

    members: Members

    def import_path(self, node: ast.expr, scope: Scope) -> str | None: ...

    def function(self, node: ast.expr, scope: Scope) -> Function | None: ...

    def read_annotation(
        self, node: ast.expr | None, scope: Scope, receiver: ValueType | None = None
    ) -> ValueType | None: ...

    def return_type(
        self, node: Function, scope: Scope, receiver: ValueType | None
    ) -> ValueType | None: ...

    def type_of(self, node: ast.expr, scope: Scope, depth: int = 0) -> ValueType | None: ...

    def infer(self, node: ast.expr, scope: Scope, depth: int) -> Inferred: ...

    def filled(self, kind: Inferred, path: str, scope: Scope, depth: int) -> Inferred: ...


class LocalClasses:
    """The classes of one piece of code.

    Args:
        values: the types of its expressions.
        scopes: of the code.
    """

    def __init__(self, values: _Expressions, scopes: Mapping[ast.AST, Scope]) -> None:
        self._values = values
        self._scopes = scopes
        self._bases: dict[int, list[ValueType] | None] = {}
        self._openness: dict[tuple[int, str], Openness] = {}
        self._bodies: dict[int, dict[str, list[ast.stmt]]] = {}
        self._assignments: dict[int, dict[str, list[tuple[ast.expr | None, Scope, bool]]]] = {}
        #: What methods assign to attributes of instances, by class and name.
        self._assigned: dict[tuple[int, str], ValueType | None] = {}
        self._subclassed = {
            dotted(base.value if isinstance(base, ast.Subscript) else base)
            for node in scopes
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        }

    # -- the class -----------------------------------------------------------------------------

    def has_plain_decorators(self, node: ast.ClassDef, scope: Scope) -> bool:
        """Return whether a class is what its body says: no decorator makes it another."""
        return all(self._keeps(each, scope) for each in node.decorator_list)

    def _keeps(self, decorator: ast.expr, scope: Scope) -> bool:
        if decorator_name(decorator) in _PLAIN_DECORATORS:
            return True
        function = self._values.function(callee(decorator), scope)
        is_called = isinstance(decorator, ast.Call)
        return function is not None and keeps_argument(function, called=is_called)

    def has_subclasses(self, own: LocalType) -> bool:
        """Return whether the code derives a class from it."""
        return own.node.name in self._subclassed

    def bases(self, own: LocalType) -> list[ValueType] | None:
        """Return the base classes; None where one is not known."""
        key = id(own.node)
        if key not in self._bases:
            # A class that is its own base is not known.
            self._bases[key] = None
            found = self._find_bases(own)
            self._bases[key] = None if self._is_among(own, found or ()) else found
        return self._bases[key]

    def package_bases(self, own: LocalType) -> Iterator[PackageType]:
        """Yield the nearest classes of packages that a class of the code is below."""
        for each in self.bases(own) or ():
            if isinstance(each, LocalType):
                yield from self.package_bases(each)
            else:
                yield each

    def _is_among(self, own: LocalType, bases: Sequence[ValueType]) -> bool:
        """Return whether a class is one of some classes or of their bases."""
        own_bases = [each for each in bases if isinstance(each, LocalType)]
        return any(
            each.node is own.node or self._is_among(own, self.bases(each) or ())
            for each in own_bases
        )

    def _find_bases(self, own: LocalType) -> list[ValueType] | None:
        found: list[ValueType] = []
        for each in own.node.bases:
            node = each.value if isinstance(each, ast.Subscript) else each
            path = self._values.import_path(node, own.scope)
            if path in _EMPTY_BASES:
                continue
            base: ValueType | None = None
            standard = self._values.members.annotations.standard_type
            if path in _NAMED_TUPLES:
                base = standard("builtins.tuple")
            elif path in _TYPED_DICTS:
                base = standard("builtins.dict")
            elif isinstance(node, ast.Name | ast.Attribute):
                base = self._values.type_of(node, own.scope)
                base = base if base is not None and base.is_class else None
            if base is None:
                return None
            found.append(base)
        return found

    def openness(self, own: LocalType, name: str = "") -> Openness:
        """Return what else it may have than the names that are seen, where a name is missing."""
        key = (id(own.node), name)
        if key not in self._openness:
            self._openness[key] = Openness.ANY
            self._openness[key] = self._find_openness(own, name)
        return self._openness[key]

    def own_openness(self, own: LocalType) -> Openness:
        """Return the same without what the packages' bases have."""
        bases = self.bases(own)
        if bases is None or not self.has_plain_decorators(own.node, own.scope):
            return Openness.ANY
        metaclasses = [each.value for each in own.node.keywords if each.arg == "metaclass"]
        paths = {self._values.import_path(each, own.scope) for each in metaclasses}
        if not paths <= _METACLASSES:
            return Openness.ANY
        if allows_extra(own.node):
            return Openness.ITEMS
        for each in ast.walk(own.node):
            name = getattr(each, "id", None) or getattr(each, "attr", None)
            if (name or getattr(each, "name", None)) in _DYNAMIC_NAMES:
                return Openness.ANY
        if any(isinstance(each, PackageType) and each.path == "builtins.type" for each in bases):
            return Openness.ANY  # Its instances are classes, which have what they define.
        levels = [self.openness(base) for base in bases if isinstance(base, LocalType)]
        return max(levels, default=Openness.CLOSED)

    def _find_openness(self, own: LocalType, name: str) -> Openness:
        above = (each for each in self.bases(own) or () if isinstance(each, PackageType))
        levels = (each.package.surface.openness(each.path, name) for each in above)
        return max(self.own_openness(own), *levels, Openness.CLOSED)

    def is_enum(self, own: LocalType) -> bool:
        """Return whether it is an enumeration."""
        return any(
            self.is_enum(each) if isinstance(each, LocalType) else each.path.startswith("enum.")
            for each in self.bases(own) or ()
        )

    # -- its names -----------------------------------------------------------------------------

    def has_member(self, own: LocalType, name: str) -> bool:
        """Return whether it or a base has a member; True where that is not known."""
        if self._defines(own, name):
            return True
        bases = self.bases(own)
        return bases is None or any(
            self.has_member(base, name)
            if isinstance(base, LocalType)
            else base.package.symbol(f"{base.path}.{name}") is not None
            or base.package.lacks(f"{base.path}.{name}") is False
            for base in bases
        )

    def member_names(self, own: LocalType) -> list[str]:
        """Return the public names of its members."""
        found = [*self.body_names(own.node), *self._instance_assignments(own.node)]
        for base in self.bases(own) or ():
            if isinstance(base, LocalType):
                found += self.member_names(base)
            else:
                found += base.package.surface.members(base.path) or ()
        return [each for each in dict.fromkeys(found) if not each.startswith("_")]

    def subclass_has(self, kind: PackageType, name: str) -> bool:
        """Return whether a class of the code has a member, and is or may be below a package's."""
        for node, scope in self._scopes.items():
            if isinstance(node, ast.ClassDef) and node.bases:
                own = LocalType(node, scope.parent or scope)
                bases = self.bases(own)
                above = (each for each in bases or () if isinstance(each, PackageType))
                if self._defines(own, name) and (
                    bases is None or any(_derives(each, kind) for each in above)
                ):
                    return True
        return False

    def inherited_from(self, own: LocalType, name: str) -> PackageType | None:
        """Return the package's class that a member is inherited from; None for the code's own."""
        base = None if self._defines(own, name) else self._base_with(own, name)
        return self.inherited_from(base, name) if isinstance(base, LocalType) else base

    def overridden(self, own: LocalType, name: str) -> PackageType | None:
        """Return the package's class whose method one of the class itself overrides."""
        base = self._base_with(own, name)
        while isinstance(base, LocalType):
            base = None if self._defines(base, name) else self._base_with(base, name)
        return base

    def body_names(self, node: ast.ClassDef) -> dict[str, list[ast.stmt]]:
        """Return the statements of a class body by the names that they bind."""
        key = id(node)
        if key not in self._bodies:
            found: dict[str, list[ast.stmt]] = {}
            for name, statement in _bindings(node.body):
                found.setdefault(name, []).append(statement)
            self._bodies[key] = found
        return self._bodies[key]

    def _instance_assignments(
        self, node: ast.ClassDef
    ) -> dict[str, list[tuple[ast.expr | None, Scope, bool]]]:
        """Return what methods assign to attributes: value or annotation, scope, which of both.

        The value is None for a part of another, and for what a loop or a manager binds.
        """
        key = id(node)
        if key in self._assignments:
            return self._assignments[key]
        found = self._assignments[key] = {}
        for method in node.body:
            if not isinstance(method, Function) or method not in self._scopes:
                continue
            plain = positional(method)
            receivers = {plain[0].arg, *_made_instances(method, plain[0].arg)} if plain else set()
            scope, seen = self._scopes[method], set[int]()
            for target, annotation, value in (
                found_one for each in ast.walk(method) for found_one in _paired(each)
            ):
                if isinstance(target, ast.Attribute) and dotted(target.value) in receivers:
                    said = annotation or value
                    seen.add(id(target))
                    if said is not None:
                        assigned = said, scope, annotation is not None
                        found.setdefault(target.attr, []).append(assigned)
            for each in ast.walk(method):
                match each:
                    case ast.Attribute(value=owner, attr=name, ctx=ast.Store()) if (
                        id(each) not in seen and dotted(owner) in receivers
                    ):
                        found.setdefault(name, []).append((None, scope, False))
        return found

    def _defines(self, own: LocalType, name: str) -> bool:
        return name in self.body_names(own.node) or name in self._instance_assignments(own.node)

    def _base_with(self, own: LocalType, name: str) -> ValueType | None:
        """Return the first base that has a member."""
        for base in self.bases(own) or ():
            if isinstance(base, LocalType):
                if self.has_member(base, name):
                    return base
            elif base.package.symbol(f"{base.path}.{name}") is not None:
                return base
        return None

    # -- its constructor -----------------------------------------------------------------------

    def constructor_parameters(self, own: LocalType) -> tuple[Parameter, ...] | None:
        """Return what a call of the class takes; None where that is not certain."""
        node = own.node
        names, bases = self.body_names(node), self.bases(own)
        if bases is None or node.keywords or "__new__" in names or self.is_enum(own):
            return None
        if "__init__" in names:
            (first, *more) = names["__init__"]
            if more or not isinstance(first, ast.FunctionDef) or first.decorator_list:
                return None
            given = parameters(first.args)
            return given[1:] if given and given[0].kind != "var_positional" else given
        if not node.decorator_list and len(node.bases) == 1:
            is_tuple = self._values.import_path(node.bases[0], own.scope) in _NAMED_TUPLES
            return _fields(node) if is_tuple else None
        if len(node.decorator_list) != 1 or (above := self._fields_above(bases)) is None:
            return None
        decorator = node.decorator_list[0]
        path = self._values.import_path(callee(decorator), own.scope)
        keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
        if {each.arg for each in keywords} - _HARMLESS_KEYWORDS:
            return None
        if path == "dataclasses.dataclass":
            return _merged_fields(above, _fields(node, "field"))
        return _attrs_fields(node) if path in _ATTRS and not node.bases else None

    def _own_fields(self, own: LocalType) -> tuple[Parameter, ...] | None:
        """Return the fields that a class hands down to data classes; None where one is not seen.

        A class that is none has no fields, whatever its constructor takes.
        """
        bases = self.bases(own)
        if own.node.decorator_list:
            is_made = "__init__" not in self.body_names(own.node)
            return self.constructor_parameters(own) if is_made else None
        return self._fields_above(bases) if bases is not None and not own.node.keywords else None

    def _fields_above(self, bases: Sequence[ValueType]) -> tuple[Parameter, ...] | None:
        """Return the fields of the bases of a data class, those of the last one first."""
        found: tuple[Parameter, ...] | None = ()
        for each in reversed(bases):
            if isinstance(each, LocalType):
                given = self._own_fields(each)
            else:
                symbol = each.package.symbol(each.path)
                given = () if symbol is not None and symbol.parameters == () else None
            found = _merged_fields(found, given)
        return found

    def constructor_owner(self, own: LocalType) -> PackageType | None:
        """Return the package's class whose constructor a call of the class is a call of.

        None where that is not certain.
        """
        names, bases = self.body_names(own.node), self.bases(own)
        if own.node.keywords or "__init__" in names or "__new__" in names:
            return None
        if bases is None or len(bases) != 1 or self.is_enum(own):
            return None
        if any(decorator_name(each) in _MAKING for each in own.node.decorator_list):
            return None
        (base,) = bases
        if isinstance(base, LocalType):
            return self.constructor_owner(base)
        # Python's own make what their stubs do not tell: NamedTuple, TypedDict.
        if base.package.name == STANDARD:
            return None
        # A dictionary takes any key; a typed one those that the class declares, too.
        is_mapping = base.package.symbol(f"{base.path}.setdefault") is not None
        return None if is_mapping else base

    # -- types of its members ------------------------------------------------------------------

    def _of_assignments(
        self, assigned: Sequence[tuple[ast.expr | None, Scope, bool]], depth: int
    ) -> ValueType | None:
        """Return the type of what methods assign to an attribute."""
        types: list[tuple[Inferred, bool]] = []
        for said, scope, is_annotation in assigned:
            if said is None:
                types.append((None, False))
            elif is_annotation:
                types.append((self._values.read_annotation(said, scope), True))
            else:
                types.append((self._values.infer(said, scope, depth + 1), False))
        annotated = [each for each, is_annotation in types if is_annotation]
        return without_none(join(annotated or (each for each, _ in types)))

    def attribute(self, own: LocalType, name: str, depth: int) -> ValueType | None:
        """Return the type of an attribute that is no method."""
        # Slots are declared so, and get their values from methods.
        statements = [
            each
            for each in self.body_names(own.node).get(name, [])
            if not isinstance(each, ast.Assign) or name in map(dotted, each.targets)
        ]
        if statements:
            return self._declared(own, statements[0], depth) if len(statements) == 1 else None
        if assigned := self._instance_assignments(own.node).get(name):
            key = id(own.node), name
            if key not in self._assigned:
                # Attributes that depend on one another are nothing certain.
                self._assigned[key] = None
                kind = self._of_assignments(assigned, depth)
                inner = self._scopes.get(own.node)
                if inner is not None:
                    kind = without_none(self._values.filled(kind, f"self.{name}", inner, depth))
                self._assigned[key] = kind
            return self._assigned[key]
        base = self._base_with(own, name)
        if isinstance(base, LocalType):
            above = replace(base, is_class=own.is_class)
            return of_model(self.attribute(above, name, depth + 1), own)
        found = self._values.members.attribute(_as_base(base, own), name) if base else None
        return of_model(found, own)

    def _declared(self, own: LocalType, statement: ast.stmt, depth: int) -> ValueType | None:
        scope = self._scopes.get(own.node)
        if scope is None:
            return None
        match statement:
            case ast.FunctionDef() if _is_property(statement):
                return self._values.return_type(statement, scope, own)
            case ast.AnnAssign(annotation=annotation):
                value = self._values.read_annotation(annotation, scope, own)
                if isinstance(value, PackageType) and value.path == "dataclasses.InitVar":
                    return None  # It is passed to ``__post_init__``, which may keep another.
                if isinstance(value, PackageType) and value.path.endswith(".Mapped"):
                    # An instance has what the descriptor holds.
                    held = value.arguments[0] if value.arguments else None
                    return value if own.is_class else held
                is_read_of = isinstance(value, PackageType) and is_descriptor(value)
                return None if is_read_of else value
            case ast.Assign() if self.is_enum(own) and own.is_class:
                return LocalType(own.node, own.scope)
            case ast.Assign(value=value) if own.is_class:
                return self._values.type_of(value, scope, depth + 1)
            case ast.Assign(value=ast.Call() as call):
                return self._held(self._values.type_of(call, scope, depth + 1), call, scope, depth)
        return None

    def _held(
        self, field: ValueType | None, call: ast.Call, scope: Scope, depth: int
    ) -> ValueType | None:
        """Return what an instance of a model holds by a field."""
        if not isinstance(field, PackageType):
            return None
        if (named := linked_model(field, call)) is not None:
            model = self._values.type_of(named, scope, depth + 1)
            return LocalType(model.node, model.scope) if isinstance(model, LocalType) else None
        held = held_by(field)
        return self._values.members.annotations.standard_type(held) if held else None

    def call_method(
        self, own: LocalType, name: str, passed: Passed, depth: int
    ) -> ValueType | None:
        """Return what a call of a method returns."""
        statements = self.body_names(own.node).get(name, [])
        instance = LocalType(own.node, own.scope)
        if statements:
            method, scope = statements[0], self._scopes.get(own.node)
            if len(statements) > 1 or not isinstance(method, Function) or scope is None:
                return None
            names = {decorator_name(each) for each in method.decorator_list}
            is_plain = names <= _METHOD_DECORATORS
            return self._values.return_type(method, scope, instance) if is_plain else None
        if name == "__new__":
            return LocalType(own.node, own.scope, is_receiver=True)
        if name in self._instance_assignments(own.node):
            return None
        base = self._base_with(own, name)
        if isinstance(base, LocalType):
            return self.call_method(base, name, passed, depth + 1)
        if base is None:
            return None
        returned = self._values.members.call_method(_as_base(base, own), name, passed)
        # A method that returns its receiver returns an instance of the subclass.
        is_instance = isinstance(returned, PackageType) and not returned.is_class
        return instance if is_instance and returned.path == base.path else returned  # type: ignore[union-attr]

    def enter(self, own: LocalType, depth: int, *, awaited: bool) -> ValueType | None:
        """Return what ``with`` binds its name to."""
        name = "__aenter__" if awaited else "__enter__"
        entered = self.call_method(own, name, NOTHING_PASSED, depth)
        if awaited and isinstance(entered, PackageType) and entered.path != own.node.name:
            return self._values.members.await_result(entered)
        return entered


def _made_instances(method: Function, receiver: str) -> set[str]:
    """Return the variables of a method that hold an instance which it makes of its class."""
    found: set[str] = set()
    for each in ast.walk(method):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call):
            maker = each.value.func
            is_new = isinstance(maker, ast.Attribute) and maker.attr == "__new__"
            if is_new or dotted(maker) in {receiver, f"{receiver}.__class__"}:
                found |= {target.id for target in each.targets if isinstance(target, ast.Name)}
    return found


def _paired(
    node: ast.AST,
) -> Iterator[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    """Yield the assignments of a node, those of ``a, b = c, d`` one by one."""
    for target, annotation, value in assignments(node):
        parts, given = getattr(target, "elts", ()), getattr(value, "elts", ())
        is_plain = not any(isinstance(each, ast.Starred) for each in (*parts, *given))
        if parts and len(parts) == len(given) and is_plain:
            yield from ((each, None, one) for each, one in zip(parts, given, strict=True))
        else:
            yield target, annotation, value


def _as_base(base: PackageType, own: LocalType) -> PackageType:
    return base if own.is_class else PackageType(base.path, base.package, base.arguments)


def _is_property(node: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the names that a class body binds, each with its statement, those of branches too."""
    for node in body:
        yield from ((name, node) for name in _bound_names(node))
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for part in ("body", "orelse", "finalbody"):
                yield from _bindings(getattr(node, part, []))
            for each in getattr(node, "handlers", []):
                yield from _bindings(each.body)


def _bound_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=targets):
            found = [e.id for t in targets for e in ast.walk(t) if isinstance(e, ast.Name)]
            yield from found
            if "__slots__" in found:
                yield from filter(None, map(string_value, ast.walk(node.value)))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)
        case ast.For(target=target):
            yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _attrs_fields(node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    for each in node.body:
        # Fields without annotations, fields of other names, defaults and steps in methods.
        value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
        call = value if isinstance(value, ast.Call) else None
        renamed = call is not None and any(word.arg == "alias" for word in call.keywords)
        if renamed or (isinstance(each, ast.Assign) and call is not None):
            return None
        if isinstance(each, Function) and (
            each.name.startswith("__attrs_")
            or any(dotted(above).endswith(".default") for above in each.decorator_list)
        ):
            return None
    found = _fields(node, "field")
    return found and tuple(replace(each, name=each.name.lstrip("_")) for each in found)


def _merged_fields(
    above: tuple[Parameter, ...] | None, own: tuple[Parameter, ...] | None
) -> tuple[Parameter, ...] | None:
    """Return fields with those of a class below, which replace others of their names in place."""
    if above is None or own is None:
        return None
    return tuple(({each.name: each for each in above} | {each.name: each for each in own}).values())


def _fields(node: ast.ClassDef, specifier: str = "") -> tuple[Parameter, ...] | None:
    """Return the annotated names of a body as parameters; None where one is no plain field.

    Args:
        node: the class.
        specifier: the function whose call as a default says more of the field.
    """
    found: list[Parameter] = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            if isinstance(each, ast.If | ast.Try | ast.With):
                return None
            continue
        annotation = ast.unparse(each.annotation)
        if "ClassVar" in annotation:
            continue
        if "InitVar" in annotation or "KW_ONLY" in annotation:
            return None
        has_default = each.value is not None
        if isinstance(each.value, ast.Call) and specifier:
            keywords = {word.arg for word in each.value.keywords}
            if dotted(each.value.func).rpartition(".")[2] == specifier:
                if keywords & {"init", "kw_only", None}:
                    return None
                has_default = bool(keywords & {"default", "default_factory", "factory"})
        found.append(Parameter(each.target.id, "positional", not has_default))
    return tuple(found)


def _derives(own: PackageType, kind: PackageType) -> bool:
    """Return whether a package's class is another, or may be below it."""
    if own.path in kind.paths:
        return True
    surface, other, home = own.package.surface, kind.package.surface, kind.home or kind.path
    if not isinstance(surface, PythonSurface):
        return False
    if surface.may_derive(own.path, home):
        return True
    # A backport has the names of what it stands for: ``exceptiongroup.ExceptionGroup``.
    last = own.path.rpartition(".")[2]
    if kind.package.name != STANDARD or not isinstance(other, PythonSurface):
        return False
    return last in {home.rpartition(".")[2], *other.subclass_names(home)}
