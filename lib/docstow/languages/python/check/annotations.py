"""What annotations mean: those of the code, and those that packages write in their signatures.

This room knows the forms of ``typing``, type variables of generic classes, and which classes leave
open what a value really is. It does not walk code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from docstow.languages.python.check.terms import (
    NOTHING,
    Found,
    Made,
    Nothing,
    Own,
    Place,
    Read,
    Term,
    expression,
    joined,
    known,
)
from docstow.languages.shared.lookup import Installed, Names
from docstow.text import python_ast as python_tree

__all__ = ["Annotations", "Nothing", "Own"]


# Signatures as packages' symbols have them, made into trees again.


Head = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1000)
def functions(signature: str) -> tuple[Head, ...]:
    """The headers in a signature, those of overloads each, with their decorators."""
    found: list[Head] = []
    above: list[str] = []
    for line in signature.strip().split("\n"):
        if line.startswith("@"):
            above.append(line if "…" not in line else line.partition("(")[0])
            continue
        statement = _statement("\n".join([*above, f"{line.rstrip().removesuffix(':')}: ..."]))
        above = []
        if not isinstance(statement, Head):
            return ()
        found.append(statement)
    return tuple(found)


def class_head(signature: str) -> ast.ClassDef | None:
    """The header of a class."""
    lines = [each for each in signature.split("\n") if not each.startswith("@")]
    statement = _statement(f"{' '.join(lines)}: ...")
    return statement if isinstance(statement, ast.ClassDef) else None


def assigned(signature: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Annotation and value of ``name: annotation = value``; None for what is not there."""
    statement = _statement(signature) or _statement(signature.partition(" = ")[0])
    match statement:
        case ast.AnnAssign(annotation=annotation, value=value):
            return annotation, value
        case ast.Assign(value=value):
            return None, value
    return None, None


def parameters_of(head: ast.ClassDef) -> list[str]:
    """The type variables of a class in their order, and other names that may be ones."""
    for base in head.bases:
        name = ast.unparse(base.value) if isinstance(base, ast.Subscript) else ""
        if isinstance(base, ast.Subscript) and name.rpartition(".")[2] in {"Generic", "Protocol"}:
            return list(dict.fromkeys(_names(base.slice)))
    inside = (base.slice for base in head.bases if isinstance(base, ast.Subscript))
    return list(dict.fromkeys(name for each in inside for name in _names(each)))


def _names(node: ast.expr) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _statement(text: str) -> ast.stmt | None:
    try:
        return python_tree.module(text).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return None


_DEEPEST = 8


_SELVES = frozenset({"typing.Self", "typing_extensions.Self"})


_INNER = frozenset(
    f"{module}.{name}"
    for module in ("typing", "typing_extensions")
    for name in ("Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly")
)


_OPTIONAL = frozenset({"typing.Optional", "typing_extensions.Optional"})


_UNION = frozenset({"typing.Union", "typing_extensions.Union"})


_TYPE = frozenset({"typing.Type", "builtins.type"})


_CALLABLE = frozenset({"typing.Callable", "collections.abc.Callable"})


#: A value that is said to be one of these has names that these have not.
_ANYTHING = frozenset({"builtins.object", "builtins.type", "builtins.property", "typing.Any"})


#: Names that the stubs of the standard library give to what they alone write.
_ALIASES: Mapping[str, str] = {
    "List": "list",
    "Dict": "dict",
    "Set": "set",
    "FrozenSet": "frozenset",
    "Tuple": "tuple",
}


#: Classes that are there to be derived from.
_ABSTRACT = re.compile(r"^(?:@.*\n)*class \w+\(.*\b(?:ABC|ABCMeta|Protocol)\b", re.DOTALL)


class Annotations:
    """Annotations of packages and of code.

    Args:
        names: where names are looked up.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self._heirs: dict[str, tuple[str, ...] | None] = {}
        self._modules: dict[str, str] = {}

    def standard(self, path: str, *given: Term | None) -> Made | None:
        """An instance of a class of Python itself."""
        package = self.names.resolver.package_for(path)
        return Made(path, package, given) if package is not None else None

    def read(self, node: ast.expr | None, place: Place, depth: int = 0) -> Read:
        """What an annotation says; None where that is nothing certain."""
        if node is None or depth > _DEEPEST:
            return None
        match node:
            case ast.Constant(value=None):
                return NOTHING
            case ast.Constant(value=str(text)):
                return self.read(expression(text), place, depth + 1)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return joined([self.read(each, place, depth + 1) for each in (left, right)])
            case ast.Subscript(value=value, slice=inner):
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._subscripted(value, arguments, place, depth + 1)
            case ast.Name() | ast.Attribute():
                return self._named(node, place, depth + 1)
        return None

    def _named(self, node: ast.expr, place: Place, depth: int) -> Read:
        if isinstance(node, ast.Name) and node.id in place.bound:
            return place.bound[node.id]
        found = place.find(node)
        if not isinstance(found, Found):
            return found
        if found.home in _SELVES:
            return replace(place.me, itself=False) if place.me is not None else None
        if found.symbol.kind in {"class", "enum"}:
            return self.of_class(found, ())
        return self._alias(found, depth)

    def _alias(self, found: Found, depth: int) -> Read:
        """What ``Name = Union[…]`` stands for."""
        if found.symbol.kind not in {"attribute", "constant", "type"}:
            return None
        name = found.home.rpartition(".")[2]
        if found.home.startswith("typing.") and name in _ALIASES:
            return self.standard(f"builtins.{_ALIASES[name]}")
        if name == "MaybeNone":
            return NOTHING
        annotation, value = assigned(found.symbol.signature)
        told = annotation is None or ast.unparse(annotation).endswith("TypeAlias")
        if value is None or not told or isinstance(value, ast.Call | ast.Constant):
            return None
        return self.read(value, self._written(found), depth)

    def _subscripted(
        self, value: ast.expr, arguments: Sequence[ast.expr], place: Place, depth: int
    ) -> Read:
        found = place.find(value)
        if not isinstance(found, Found):
            return found
        home = found.home
        if home in _UNION:
            return joined([self.read(each, place, depth) for each in arguments])
        if home in _OPTIONAL:
            return joined([self.read(arguments[0], place, depth), NOTHING])
        if home in _INNER:
            return self.read(arguments[0], place, depth)
        if home in _TYPE:
            inner = known(self.read(arguments[0], place, depth))
            return replace(inner, itself=True) if inner is not None else None
        if home in _CALLABLE:
            made = known(self.read(arguments[-1], place, depth))
            return self.standard("typing.Callable", made)
        given = tuple(known(self.read(each, place, depth)) for each in arguments)
        if found.symbol.kind in {"class", "enum"}:
            return self.of_class(found, given)
        alias = self._alias(found, depth)
        if isinstance(alias, Made) and alias.path.startswith("builtins."):
            return replace(alias, given=given)
        return alias

    def of_class(self, found: Found, given: tuple[Term | None, ...]) -> Made | None:
        """An instance of a class or of one that is derived from it."""
        if found.home in _ANYTHING:
            return None
        heirs = self._derived(found)
        path = self._public(found)
        return Made(path, found.package, given, heirs or (), vague=heirs is None)

    def _public(self, found: Found) -> str:
        """The path at the package's entry, if the class is there too."""
        name, entry = found.home.rpartition(".")[2], found.path.partition(".")[0]
        if self.names.resolver.is_standard(entry):
            # A stub's own imports are no paths for others.
            return found.path if found.package.symbol(found.path) is not None else found.home
        public = f"{entry}.{name}"
        symbol = found.package.surface.symbol(public)
        same = symbol is not None and (symbol.target or symbol.path) == found.home
        return public if same and not found.package.lacks(public) else found.path

    def _derived(self, found: Found) -> tuple[str, ...] | None:
        """The classes that its own module derives from it: a value may well be one of those.

        None: it is there to be derived from, and who does is not known.
        """
        if found.home not in self._heirs:
            self._heirs[found.home] = self._find_heirs(found)
        return self._heirs[found.home]

    def _find_heirs(self, found: Found) -> tuple[str, ...] | None:
        signature = found.symbol.signature
        # A tuple may have names for its parts, and setuptools brings classes of distutils.
        if found.home == "builtins.tuple" or found.home.startswith("distutils."):
            return None
        if _ABSTRACT.search(signature) or found.home.startswith(("typing.", "collections.abc.")):
            return None
        own = (found.package.surface.members(found.path) or {}).values()
        if any("abstractmethod" in each.signature.partition("\ndef ")[0] for each in own):
            return None
        module, _, name = found.home.rpartition(".")
        members = found.package.surface.members(module) or {}
        classes = {each: e.signature for each, e in members.items() if e.kind == "class"}
        heirs: dict[str, None] = {name: None}
        while True:
            names = "|".join(map(re.escape, heirs))
            heir = re.compile(rf"^(?:@.*\n)*class \w+\(.*\b(?:{names})\b", re.DOTALL)
            more = {each for each, text in classes.items() if heir.match(text)} - heirs.keys()
            if not more:
                return tuple(f"{module}.{each}" for each in list(heirs)[1:])
            heirs |= dict.fromkeys(sorted(more))

    # -- where packages write annotations ------------------------------------------------------

    def place(
        self,
        path: str,
        package: Installed,
        me: Term | None = None,
        bound: Mapping[str, Term | None] | None = None,
        module: str = "",
    ) -> Place:
        """Where a definition of a package is written; its path is the one of its definition."""
        home = self.names.resolver.package_for(path) or package
        module = module or self.module_of(path, home)

        def find(node: ast.expr) -> Found | None:
            return self.find(ast.unparse(node), module, home)

        return Place(find, me, bound or {})

    def _written(self, found: Found) -> Place:
        return self.place(found.home, found.package, module=found.symbol.module)

    def find(self, text: str, module: str, package: Installed) -> Found | None:
        """What a dotted name means in a module."""
        for path in (f"{module}.{text}", f"builtins.{text}", text):
            asked = package
            if not path.startswith(f"{module}."):
                other = self.names.resolver.package_for(path)
                if other is None or ("." not in text and path == text):
                    continue
                asked = other
            symbol = asked.surface.symbol(path)
            if symbol is None:
                continue
            home = symbol.target or path
            if symbol.kind == "re-export":
                other = self.names.resolver.package_for(home)
                symbol = other.surface.symbol(home) if other is not None else None
                if other is None or symbol is None:
                    return None
                path, asked, home = home, other, symbol.target or home
            elif home.partition(".")[0] != path.partition(".")[0]:
                other = self.names.resolver.package_for(home)
                if other is not None and self.names.resolver.is_standard(home):
                    path, asked = home, other
            return Found(path, home, symbol, asked)
        return None

    def module_of(self, path: str, package: Installed) -> str:
        """The module that a definition is written in, where its annotations have their names."""
        if path not in self._modules:
            parts = path.split(".")
            self._modules[path] = ""
            for end in range(len(parts) - 1, 0, -1):
                found = package.surface.symbol(".".join(parts[:end]))
                if found is not None and found.kind == "module":
                    self._modules[path] = ".".join(parts[:end])
                    break
        return self._modules[path]

    def bindings(self, owner: Made, home: str, depth: int = 0) -> dict[str, Term | None] | None:
        """What the type variables of a class stand for, as an instance of an heir has them.

        Args:
            owner: the instance.
            home: where the class is defined that writes the annotation.
            depth: of the lineage.
        """
        symbol = owner.package.surface.symbol(owner.path)
        if symbol is None or depth > _DEEPEST:
            return None
        head = class_head(symbol.signature)
        place = self.place(symbol.target or owner.path, owner.package, module=symbol.module)
        variables = [
            each
            for each in (parameters_of(head) if head is not None else ())
            if self._is_variable(each, place)
        ]
        given = (*owner.given, *(None for _ in variables))
        mine = dict(zip(variables, given, strict=False))
        if (symbol.target or owner.path) == home or head is None:
            return mine if (symbol.target or owner.path) == home else None
        inner = replace(place, bound=mine)
        for base in head.bases:
            above = self.read(base, inner)
            if isinstance(above, Made) and not above.itself:
                found = self.bindings(above, home, depth + 1)
                if found is not None:
                    return found
        return None

    def _is_variable(self, name: str, place: Place) -> bool:
        found = place.find(ast.Name(name))
        return isinstance(found, Found) and "TypeVar(" in found.symbol.signature

    def unify(  # noqa: C901 - one case a form
        self, node: ast.expr, term: Term | None, place: Place, bound: dict[str, Term | None]
    ) -> None:
        """Note what the type variables of a parameter's annotation stand for."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parsed = expression(node.value)
            node = parsed if parsed is not None else node
        match node:
            case ast.Name(id=name):
                if self._is_variable(name, place):
                    bound[name] = term if bound.get(name, term) == term else None
                elif isinstance(found := place.find(node), Found):
                    value = assigned(found.symbol.signature)[1]
                    if isinstance(value, ast.Subscript):
                        self.unify(value, term, self._written(found), bound)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                for each in (left, right):
                    self.unify(each, term, place, bound)
            case ast.Subscript(value=value, slice=inner):
                found = place.find(value)
                home = found.home if isinstance(found, Found) else ""
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if home in _TYPE and term is not None and term.itself:
                    self.unify(inner, replace(term, itself=False), place, bound)
                elif home in _UNION | _OPTIONAL | _INNER:
                    for each in arguments:
                        self.unify(each, term, place, bound)
                elif home in _CALLABLE and isinstance(term, Made) and term.given:
                    self.unify(arguments[-1], term.given[-1], place, bound)
                elif isinstance(term, Made) and isinstance(found, Found) and not term.itself:
                    same = self._home(term) == home
                    for each, given in zip(arguments, term.given if same else (), strict=False):
                        self.unify(each, given, place, bound)

    def _home(self, term: Made) -> str:
        symbol = term.package.surface.symbol(term.path)
        return (symbol.target or term.path) if symbol is not None else term.path
