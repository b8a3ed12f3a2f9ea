"""Types of Python values, as far as they are certain, and the annotations that mean them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from docstow.languages.python.check.documented import may_be_sparse
from docstow.languages.python.check.parse import Scope
from docstow.languages.python.source.syntax import (
    annotation_and_value,
    class_header,
    class_type_parameters,
    dotted,
    function_headers,
)
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Installed, Names
from docstow.languages.shared.surface import Openness, Symbol
from docstow.text.python_ast import try_parse_expression

_MOST_ALTERNATIVES = 16
_DEEPEST = 8
_SELF = frozenset({"typing.Self", "typing_extensions.Self"})
#: Forms whose first argument is the type.
_WRAPPERS = frozenset(
    f"{module}.{name}"
    for module in ("typing", "typing_extensions")
    for name in ("Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly")
)
_OPTIONAL = frozenset({"typing.Optional", "typing_extensions.Optional"})
_UNION = frozenset({"typing.Union", "typing_extensions.Union"})
_TYPE = frozenset({"typing.Type", "builtins.type"})
#: Names of classes that tests put in place of others.
_STAND_IN = re.compile(r"_?(?:Mock|Fake|Dummy|Stub)[A-Z]")
_CALLABLE = frozenset({"typing.Callable", "collections.abc.Callable"})
#: A value that is annotated with one of these has names that these have not.
_UNINFORMATIVE = frozenset({"builtins.object", "builtins.type", "builtins.property", "typing.Any"})
#: Classes behind the names that ``typing`` gives them.
_ALIASES: Mapping[str, str] = {
    "List": "list",
    "Dict": "dict",
    "Set": "set",
    "FrozenSet": "frozenset",
    "Tuple": "tuple",
}
#: The header of a class that is meant to be derived from.
_ABSTRACT = re.compile(r"^(?:@.*\n)*class \w+\(.*\b(?:ABC|ABCMeta|Protocol)\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PackageType:
    """An instance of a package's class, or the class itself.

    Attributes:
        path: the class, by a path that its package knows.
        package: whose it is.
        arguments: the type arguments of the class, as far as they are known.
        subclasses: classes that it may be an instance of instead.
        open_ended: it may be an instance of classes that nobody can list; its names say nothing.
        is_class: it is the class.
        alternatives: further classes of the package of which it may be an instance as well.
        is_plain: it is of the class itself, as a docstring says, if it is not of a subclass that
            has more.
    """

    path: str
    package: Installed
    arguments: tuple[ValueType | None, ...] = ()
    subclasses: tuple[str, ...] = ()
    open_ended: bool = False
    is_class: bool = False
    alternatives: tuple[str, ...] = ()
    is_plain: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """All classes of which it may be an instance."""
        return (self.path, *self.subclasses, *self.alternatives)

    @property
    def home(self) -> str:
        """The path where its class is defined; empty where that is not known."""
        symbol = self.package.symbol(self.path)
        return symbol.target or self.path if symbol is not None else ""

    def openness(self, name: str) -> Openness:
        """Return what else it may have than the names that are seen, where a name is missing."""
        return max(self.package.surface.openness(each, name) for each in self.paths)

    def each_alternative(self) -> tuple[PackageType, ...]:
        """Return what it may be, one by one."""
        plain = replace(self, alternatives=(), arguments=())
        return (plain, *(replace(plain, path=path, subclasses=()) for path in self.alternatives))

    def certainly_lacks(self, name: str) -> bool:
        """Return whether none of its classes is seen to have a public name."""
        if name.startswith("_") or self.open_ended or may_be_sparse(self.package.name, name):
            return False
        members = [f"{each}.{name}" for each in self.paths]
        symbol, lacks = self.package.surface.symbol, self.package.lacks
        return all(symbol(each) is None and lacks(each) is not False for each in members)


@dataclass(frozen=True, slots=True)
class LocalType:
    """An instance of a class that the code itself defines, or the class itself.

    Attributes:
        node: the class.
        scope: in which it is defined.
        is_class: it is the class.
        is_receiver: it is what a method of the class receives, so that it may be of any subclass.
    """

    node: ast.ClassDef
    scope: Scope = field(compare=False)
    is_class: bool = False
    is_receiver: bool = field(default=False, compare=False)


ValueType = PackageType | LocalType


class NoneValue:
    """The type of ``None``: a value whose names are used is not meant to be it."""


NONE = NoneValue()


Inferred = ValueType | NoneValue | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a dotted name of an annotation leads to.

    Attributes:
        path: by which it is asked for.
        defined_at: the path of its definition.
        symbol: what is there.
        package: whose it is.
    """

    path: str
    defined_at: str
    symbol: Symbol
    package: Installed


@dataclass(frozen=True, slots=True)
class AnnotationContext:
    """Where an annotation is written.

    Attributes:
        resolve: what a name or chain of attributes means there.
        receiver: the instance that a method belongs to.
        type_variables: what type variables stand for.
    """

    resolve: Callable[[ast.expr], Resolved | LocalType | None]
    receiver: ValueType | None = None
    type_variables: Mapping[str, ValueType | None] = field(default_factory=dict)


def join(types: Iterable[Inferred]) -> Inferred:
    """Return the type of a value that is one of several; None where that is not certain."""
    every = list(types)
    if not every or None in every:
        return None
    left = [each for each in every if isinstance(each, ValueType)]
    if not left:
        return NONE
    first = left[0]
    if all(each == first for each in left):
        return first
    of_packages = [each for each in left if isinstance(each, PackageType)]
    if len(of_packages) < len(left) or not isinstance(first, PackageType):
        return None
    if len({(each.path, each.is_class) for each in of_packages}) == 1:
        return replace(first, arguments=())
    if any(each.is_class or each.package.name != first.package.name for each in of_packages):
        return None
    path, *more = dict.fromkeys(
        path for each in of_packages for path in (each.path, *each.alternatives)
    )
    if len(more) >= _MOST_ALTERNATIVES:
        return None
    return PackageType(
        path,
        first.package,
        subclasses=tuple(dict.fromkeys(path for each in of_packages for path in each.subclasses)),
        open_ended=any(each.open_ended for each in of_packages),
        alternatives=tuple(more),
    )


def without_none(inferred: Inferred) -> ValueType | None:
    """Return the type, if it is not that of ``None``."""
    return None if isinstance(inferred, NoneValue) else inferred


class Annotations:
    """Reader of annotations, of packages and of code.

    Args:
        names: where names are looked up.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self._subclasses_of: dict[str, tuple[str, ...] | None] = {}
        self._modules: dict[str, str] = {}

    def standard_type(self, path: str, *given: ValueType | None) -> PackageType | None:
        """Return an instance of a class of the standard library."""
        package = self.names.resolver.package_for(path)
        return PackageType(path, package, given) if package is not None else None

    def read(self, node: ast.expr | None, context: AnnotationContext, depth: int = 0) -> Inferred:
        """Return the type that an annotation means; None where that is not certain."""
        if node is None or depth > _DEEPEST:
            return None
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str(text)):
                return self.read(try_parse_expression(text), context, depth + 1)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return join([self.read(each, context, depth + 1) for each in (left, right)])
            case ast.Subscript(value=value, slice=inner):
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._read_subscript(value, arguments, context, depth + 1)
            case ast.Name() | ast.Attribute():
                return self._read_name(node, context, depth + 1)
        return None

    def _read_name(self, node: ast.expr, context: AnnotationContext, depth: int) -> Inferred:
        if isinstance(node, ast.Name) and node.id in context.type_variables:
            return context.type_variables[node.id]
        found = context.resolve(node)
        if not isinstance(found, Resolved):
            return found
        if found.defined_at in _SELF:
            return (
                replace(context.receiver, is_class=False) if context.receiver is not None else None
            )
        if found.symbol.kind in {"class", "enum"}:
            return self.instance_of(found, ())
        return self._read_alias(found, depth)

    def _read_alias(self, found: Resolved, depth: int) -> Inferred:
        """Return what ``Name = Union[…]`` stands for."""
        if found.symbol.kind not in {"attribute", "constant", "type"}:
            return None
        name = found.defined_at.rpartition(".")[2]
        if found.defined_at.startswith("typing.") and name in _ALIASES:
            return self.standard_type(f"builtins.{_ALIASES[name]}")
        if name == "MaybeNone":
            return NONE
        annotation, value = annotation_and_value(found.symbol.signature)
        is_alias = annotation is None or ast.unparse(annotation).endswith("TypeAlias")
        if value is None or not is_alias or isinstance(value, ast.Call | ast.Constant):
            return None
        return self.read(value, self._definition_context(found), depth)

    def _read_subscript(
        self, value: ast.expr, arguments: Sequence[ast.expr], context: AnnotationContext, depth: int
    ) -> Inferred:
        found = context.resolve(value)
        if not isinstance(found, Resolved):
            return found
        home = found.defined_at
        if home in _UNION:
            return join([self.read(each, context, depth) for each in arguments])
        if home in _OPTIONAL:
            return join([self.read(arguments[0], context, depth), NONE])
        if home in _WRAPPERS:
            return self.read(arguments[0], context, depth)
        if home in _TYPE:
            inner = without_none(self.read(arguments[0], context, depth))
            if isinstance(inner, LocalType):
                # It may be any subclass.
                return replace(inner, is_class=True, is_receiver=True)
            return replace(inner, is_class=True) if inner is not None else None
        if home in _CALLABLE:
            result = without_none(self.read(arguments[-1], context, depth))
            return self.standard_type("typing.Callable", result)
        given = tuple(without_none(self.read(each, context, depth)) for each in arguments)
        if found.symbol.kind in {"class", "enum"}:
            return self.instance_of(found, given)
        alias = self._read_alias(found, depth)
        if isinstance(alias, PackageType) and alias.path.startswith("builtins."):
            return replace(alias, arguments=given)
        return alias

    def instance_of(
        self, found: Resolved, given: tuple[ValueType | None, ...]
    ) -> PackageType | None:
        """Return an instance of a class, which may be of a subclass."""
        if found.defined_at in _UNINFORMATIVE:
            return None
        subclasses = self._subclasses(found)
        path = self._public_path(found)
        return PackageType(
            path, found.package, given, subclasses or (), open_ended=subclasses is None
        )

    def _public_path(self, found: Resolved) -> str:
        """Return the path at the package's top level, if the class is there too."""
        name, entry = found.defined_at.rpartition(".")[2], found.path.partition(".")[0]
        if self.names.resolver.is_standard(entry):
            # What a stub imports for itself is not there for others.
            return found.path if found.package.symbol(found.path) is not None else found.defined_at
        public = f"{entry}.{name}"
        symbol = found.package.surface.symbol(public)
        same = symbol is not None and (symbol.target or symbol.path) == found.defined_at
        return public if same and not found.package.lacks(public) else found.path

    def _subclasses(self, found: Resolved) -> tuple[str, ...] | None:
        """Return the subclasses in its own module: a value may well be an instance of one.

        What tests put in place of a value, as ``MockContext``, is left out.

        None: the class is meant to be derived from, and its subclasses are not known.
        """
        if found.defined_at not in self._subclasses_of:
            self._subclasses_of[found.defined_at] = self._find_subclasses(found)
        return self._subclasses_of[found.defined_at]

    def _find_subclasses(self, found: Resolved) -> tuple[str, ...] | None:
        signature = found.symbol.signature
        # A tuple may be a named one, and setuptools replaces classes of distutils.
        if found.defined_at == "builtins.tuple" or found.defined_at.startswith("distutils."):
            return None
        if _ABSTRACT.search(signature) or found.defined_at.startswith(
            ("typing.", "collections.abc.")
        ):
            return None
        own = _signatures(found.package, found.path)
        if any("abstractmethod" in each.partition("\ndef ")[0] for each in own):
            return None
        module, _, name = found.defined_at.rpartition(".")
        every = _classes(found.package, module).items()
        classes = {each: text for each, text in every if not _STAND_IN.match(each)}
        subclasses: dict[str, None] = {name: None}
        while True:
            names = "|".join(map(re.escape, subclasses))
            subclass = re.compile(rf"^(?:@.*\n)*class \w+\(.*\b(?:{names})\b", re.DOTALL)
            more = {
                each for each, text in classes.items() if subclass.match(text)
            } - subclasses.keys()
            if not more:
                return tuple(f"{module}.{each}" for each in list(subclasses)[1:])
            subclasses |= dict.fromkeys(sorted(more))

    # -- where packages write annotations ------------------------------------------------------

    def context(
        self,
        path: str,
        package: Installed,
        receiver: ValueType | None = None,
        bound: Mapping[str, ValueType | None] | None = None,
        module: str = "",
    ) -> AnnotationContext:
        """Return the context of a definition of a package, by the path where it is defined."""
        home = self.names.resolver.package_for(path) or package
        module = module or self.module_of(path, home)
        enclosing = path.rpartition(".")[0]

        def resolve(node: ast.expr) -> Resolved | None:
            text = ast.unparse(node)
            if enclosing.startswith(f"{module}."):
                # A class in the body of the class; an attribute may have the name of its type.
                nested = home.surface.symbol(f"{enclosing}.{text}")
                if nested is not None and nested.kind in {"class", "enum"}:
                    return Resolved(nested.path, nested.target or nested.path, nested, home)
            return self.resolve(text, module, home)

        return AnnotationContext(resolve, receiver, bound or {})

    def _definition_context(self, found: Resolved) -> AnnotationContext:
        return self.context(found.defined_at, found.package, module=found.symbol.module)

    def resolve(self, text: str, module: str, package: Installed) -> Resolved | None:
        """Return what a dotted name means in a module."""
        paths = [f"{module}.{text}", f"builtins.{text}", text]
        if text.startswith(f"{module.partition('.')[0]}."):
            paths = [text, *paths]  # It is written out in full.
        for path in paths:
            owner_package = package
            if not path.startswith(f"{module}."):
                other = self.names.resolver.package_for(path)
                if other is None or ("." not in text and path == text):
                    continue
                owner_package = other
            symbol = owner_package.surface.symbol(path)
            if symbol is None:
                continue
            home = symbol.target or path
            if symbol.kind == "re-export":
                other = self.names.resolver.package_for(home)
                symbol = other.surface.symbol(home) if other is not None else None
                if other is None or symbol is None:
                    return None
                path, owner_package, home = home, other, symbol.target or home
            elif home.partition(".")[0] != path.partition(".")[0]:
                other = self.names.resolver.package_for(home)
                # What a package imports by its name is its own, too; ``pd.DataFrame`` is not.
                if other is not None and (
                    self.names.resolver.is_standard(home)
                    or ("." in text and other.surface.symbol(home) is not None)
                ):
                    path, owner_package = home, other
            return Resolved(path, home, symbol, owner_package)
        return None

    def unpacked(self, symbol: Symbol, package: Installed) -> list[str]:
        """Return the keywords of ``**options: Unpack[Options]``; none for other functions."""
        found: dict[str, None] = {}
        home = symbol.target or symbol.path
        for header in function_headers(symbol.signature):
            match header.args.kwarg and header.args.kwarg.annotation:
                case ast.Subscript(value=form, slice=ast.Name() | ast.Attribute() as keys):
                    if dotted(form).rpartition(".")[2] != "Unpack":
                        continue
                    module = symbol.module or self.module_of(home, package)
                    listed = self.resolve(dotted(keys), module, package)
                    if listed is not None and listed.symbol.kind == "class":
                        names = listed.package.surface.members(listed.path) or {}
                        fields = (n for n, each in names.items() if each.kind == "attribute")
                        found |= dict.fromkeys(fields)
        return [*found]

    def module_of(self, path: str, package: Installed) -> str:
        """Return the module in which a definition is written."""
        if path not in self._modules:
            parts = path.split(".")
            self._modules[path] = ""
            for end in range(len(parts) - 1, 0, -1):
                found = package.surface.symbol(".".join(parts[:end]))
                if found is not None and found.kind == "module":
                    self._modules[path] = ".".join(parts[:end])
                    break
        return self._modules[path]

    def type_arguments(
        self, owner: PackageType, home: str, depth: int = 0
    ) -> dict[str, ValueType | None] | None:
        """Return what the type variables of a class stand for in an instance of a subclass.

        Args:
            owner: the instance.
            home: where the class is defined that has the annotation.
            depth: number of bases passed.
        """
        symbol = owner.package.surface.symbol(owner.path)
        if symbol is None or depth > _DEEPEST:
            return None
        head = class_header(symbol.signature)
        context = self.context(symbol.target or owner.path, owner.package, module=symbol.module)
        variables = [
            each
            for each in (class_type_parameters(head) if head is not None else ())
            if self._is_variable(each, context)
        ]
        given = (*owner.arguments, *(None for _ in variables))
        mine = dict(zip(variables, given, strict=False))
        if (symbol.target or owner.path) == home or head is None:
            return mine if (symbol.target or owner.path) == home else None
        inner = replace(context, type_variables=mine)
        for base in head.bases:
            above = self.read(base, inner)
            if isinstance(above, PackageType) and not above.is_class:
                found = self.type_arguments(above, home, depth + 1)
                if found is not None:
                    return found
        return None

    def _is_variable(self, name: str, context: AnnotationContext) -> bool:
        found = context.resolve(ast.Name(name))
        return isinstance(found, Resolved) and "TypeVar(" in found.symbol.signature

    def unify(  # noqa: C901 - one case a form
        self,
        node: ast.expr,
        value_type: ValueType | None,
        context: AnnotationContext,
        bound: dict[str, ValueType | None],
    ) -> None:
        """Add what the type variables of a parameter's annotation stand for to ``bound``."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = try_parse_expression(node.value) or node
        match node:
            case ast.Name(id=name):
                if self._is_variable(name, context):
                    bound[name] = value_type if bound.get(name, value_type) == value_type else None
                elif isinstance(found := context.resolve(node), Resolved):
                    value = annotation_and_value(found.symbol.signature)[1]
                    if isinstance(value, ast.Subscript):
                        self.unify(value, value_type, self._definition_context(found), bound)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                for each in (left, right):
                    self.unify(each, value_type, context, bound)
            case ast.Subscript(value=value, slice=inner):
                found = context.resolve(value)
                home = found.defined_at if isinstance(found, Resolved) else ""
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if home in _TYPE and value_type is not None and value_type.is_class:
                    self.unify(inner, replace(value_type, is_class=False), context, bound)
                elif home in _UNION | _OPTIONAL | _WRAPPERS:
                    for each in arguments:
                        self.unify(each, value_type, context, bound)
                elif (
                    home in _CALLABLE
                    and isinstance(value_type, PackageType)
                    and value_type.arguments
                ):
                    self.unify(arguments[-1], value_type.arguments[-1], context, bound)
                elif (
                    isinstance(value_type, PackageType)
                    and isinstance(found, Resolved)
                    and not value_type.is_class
                ):
                    same = self._defined_at(value_type) == home
                    for each, given in zip(
                        arguments, value_type.arguments if same else (), strict=False
                    ):
                        self.unify(each, given, context, bound)

    def _defined_at(self, value_type: PackageType) -> str:
        symbol = value_type.package.surface.symbol(value_type.path)
        return (symbol.target or value_type.path) if symbol is not None else value_type.path


def _signatures(package: Installed, owner: str) -> list[str]:
    """Return the signatures of the members of a class."""
    surface = package.surface
    if isinstance(surface, PythonSurface):
        return [each.signature for each in surface.outlines(owner).values()]
    return [each.signature for each in (surface.members(owner) or {}).values()]


def _classes(package: Installed, module: str) -> Mapping[str, str]:
    """Return the signatures of the public classes of a module, by their names."""
    surface = package.surface
    if isinstance(surface, PythonSurface):
        return surface.class_signatures(module)
    members = (surface.members(module) or {}).items()
    return {name: each.signature for name, each in members if each.kind == "class"}
