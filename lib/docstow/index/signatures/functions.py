"""The types of functions as small trees, which search compares ten thousand times a query.

Lifetimes, modules, qualifiers and bounds of anything but variables are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from docstow.index.signatures.parser import Parser, parse_functions, parse_query
from docstow.index.signatures.syntax import END, BadSignature, Declaration, Kind, Node, Param


@dataclass(frozen=True, slots=True)
class Type:
    """A constructor with its arguments.

    Attributes:
        name: a path's last segment; ``&``, ``&mut``, ``*const``, ``*mut``, ``[]`` (slice), ``[;]``
            (array: element, length), ``()`` (tuple; unit has no arguments), ``!``, ``dyn``;
            ``=Item`` for ``Item = T`` among a trait's arguments. ``fn(A) -> B`` and ``Fn(A) -> B``
            have two arguments, the tuple of inputs and the output.
        args: arguments in order; lifetimes are left out.
    """

    name: str
    args: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """What may stand for any type: ``T``, ``T::Item``, ``impl Trait``; ``_`` is never bound."""

    name: str


Tree: TypeAlias = Type | Variable
WILDCARD = Variable("_")
UNIT = Type("()")
_NO_BOUNDS: Mapping[str, tuple[Type, ...]] = MappingProxyType({})
_SELF = Variable("Self")
#: Kinds that become a type with the same arguments; its name where it is not the node's.
_PLAIN = {
    **dict.fromkeys((Kind.REFERENCE, Kind.POINTER, Kind.SLICE, Kind.NEVER), ""),
    Kind.FUNCTION: "fn",
    Kind.TUPLE: "()",
}


@dataclass(frozen=True, slots=True)
class Function:
    """The types of a function.

    Attributes:
        inputs: argument types, the receiver among them.
        output: None if a query leaves it open.
        bounds: variable to the traits that it is bound by.
        name: the function's name; empty if none was given.
    """

    inputs: tuple[Tree, ...]
    output: Tree | None
    bounds: Mapping[str, tuple[Type, ...]] = field(default_factory=lambda: _NO_BOUNDS)
    name: str = ""

    def map(self, change: Callable[[Tree], Tree]) -> Function:
        """Return the function with every type and bound changed; bounds stay types."""
        bounds = {
            name: tuple(each for bound in found if isinstance(each := change(bound), Type))
            for name, found in self.bounds.items()
        }
        output = None if self.output is None else change(self.output)
        return Function(tuple(map(change, self.inputs)), output, bounds, self.name)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and everything in it, outermost first."""
    yield tree
    if isinstance(tree, Type):
        for each in tree.args:
            yield from nodes(each)


def substitute(tree: Tree, by: Mapping[str, Tree]) -> Tree:
    """Return the tree with variables replaced by name."""
    if isinstance(tree, Variable):
        return by.get(tree.name, tree)
    if not tree.args:
        return tree
    return Type(tree.name, tuple(substitute(each, by) for each in tree.args))


def number_variables(function: Function) -> Function:
    """Return the function with variables numbered as they occur, and without its name.

    The numbers of projections (``T::Item``) end in ``::``.
    """
    names: dict[str, Tree] = {"_": WILDCARD}
    kept: dict[str, tuple[Type, ...]] = {}
    # The output first: functions with one output then share its numbered form.
    trees = [*([function.output] if function.output is not None else []), *function.inputs]
    for tree in trees:
        _number(tree, function.bounds, names)
    for name, number in list(names.items()):
        if function.bounds.get(name) and isinstance(number, Variable):
            bounds = (substitute(each, names) for each in function.bounds[name])
            kept[number.name] = tuple(each for each in bounds if isinstance(each, Type))
    output = None if function.output is None else substitute(function.output, names)
    return Function(tuple(substitute(each, names) for each in function.inputs), output, kept)


def read_query(text: str) -> Function:
    """Parse what a user asks for.

    Raises:
        BadSignature: with the place where the text stops to make sense.
    """
    return _Reduction(("Self",)).function(parse_query(text))


def read_functions(
    text: str, variables: Collection[str] = (), self_type: Tree | None = None
) -> list[Function]:
    """Parse the functions that a document declares, ``Self`` replaced by what it stands for.

    Args:
        text: one declaration, or several that may stand in impl blocks.
        variables: the generic parameters of the owner.
        self_type: the owner; an impl block says it better.

    Raises:
        BadSignature: it is not Rust.
    """
    reduction = _Reduction({*variables, "Self"})
    found: list[Function] = []
    for each in parse_functions(text):
        if each.keyword == "impl":
            found += reduction.block(each)
        else:
            function = reduction.function(each)
            found.append(_with_self(function, self_type) if self_type is not None else function)
    return found


def read_declared_type(text: str) -> tuple[Type, tuple[str, ...]]:
    """Return the type that ``pub struct Vec<T, A = Global> …`` declares, and all its parameters.

    Parameters with defaults are left out of the type, as in what people write.

    Raises:
        BadSignature: it is no declaration of a struct, enum, union, trait or alias.
    """
    parser = Parser(text)
    while parser.at() not in {"struct", "enum", "union", "trait", "type", END}:
        parser.next()
    parser.next()
    name = parser.name()
    given = _type_params(parser.generics())
    args = tuple(Variable(each.name) for each in given if each.default is None)
    return Type(name, args), tuple(each.name for each in given)


def read_alias(text: str) -> tuple[str, dict[str, Tree | None], Tree]:
    """Parse ``pub type Name<T, E = Error> = Type;``.

    Returns:
        The name, the parameters with their defaults, and the type.

    Raises:
        BadSignature: it is no type alias.
    """
    found = Parser(text).declaration()
    if found.keyword != "type" or found.output is None:
        raise BadSignature("it is no type alias", 0)
    reduction = _Reduction(())
    given = reduction.generics(found.generics)
    return found.name, given, reduction.type(found.output)


def _with_self(function: Function, owner: Tree) -> Function:
    """Return the function with ``Self`` replaced, in bounds as well."""
    if owner == _SELF:
        return function
    return function.map(lambda tree: substitute(tree, {"Self": owner}))


def _type_params(params: Iterable[Param]) -> list[Param]:
    return [each for each in params if each.type is None and not each.name.startswith("'")]


class _Reduction:
    """One text's syntax on its way to trees. ``variables`` are names that stand for any type."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._variables = set(variables)
        self._bounds: dict[str, tuple[Type, ...]] = {}
        self._unnamed = 0

    def function(self, declared: Declaration) -> Function:
        outer = dict(self._bounds), set(self._variables)
        self.generics(declared.generics)
        inputs = tuple(self.type(each) for each in declared.inputs)
        output = None if declared.output is None else self.type(declared.output)
        self._where(declared)
        path = declared.name.split("::")
        found = Function(inputs, output, dict(self._bounds), path[-1])
        self._bounds, self._variables = outer
        return _with_self(found, Type(path[-2])) if len(path) > 1 else found

    def block(self, declared: Declaration) -> list[Function]:
        """Reduce the functions of an ``impl`` block."""
        outer = dict(self._bounds), set(self._variables)
        self.generics(declared.generics)
        owner = UNIT if declared.output is None else self.type(declared.output)
        self._where(declared)
        found = [_with_self(self.function(each), owner) for each in declared.members]
        self._bounds, self._variables = outer
        return found

    def generics(self, params: Iterable[Param]) -> dict[str, Tree | None]:
        """Add the parameters to the variables; return those of types with their defaults."""
        self._variables.update(each.name for each in params)
        found: dict[str, Tree | None] = {}
        for each in _type_params(params):
            if each.bounds is not None:
                self._add_bounds(each.name, each.bounds)
            found[each.name] = None if each.default is None else self.type(each.default)
        return found

    def _where(self, declared: Declaration) -> None:
        """Keep the bounds of variables; others say nothing about the function's types."""
        for subject, bounds in declared.where:
            if subject.kind == Kind.FOR:
                (subject,) = subject.args
            bounded = None if subject.kind == Kind.LIFETIME else self.type(subject)
            if isinstance(bounded, Variable):
                self._add_bounds(bounded.name, bounds)

    def _add_bounds(self, name: str, bounds: Iterable[Node]) -> None:
        known = self._bounds.get(name, ())
        added = (each for each in self._reduced_bounds(bounds) if each not in known)
        self._bounds[name] = (*known, *added)

    def _reduced_bounds(self, bounds: Iterable[Node]) -> tuple[Type, ...]:
        found = []
        for each in bounds:
            node, optional = each, False
            while node.kind in {Kind.FOR, Kind.MODIFIED}:
                optional = optional or node.name.startswith("?")
                (node,) = node.args
            if node.kind in {Kind.LIFETIME, Kind.USE}:
                continue
            bound = self._path(node, trait=True)
            if isinstance(bound, Type) and not optional and bound.name != "Sized":
                found.append(bound)
        return tuple(found)

    def type(self, node: Node) -> Tree:
        kind = node.kind
        if kind == Kind.PATH or kind == Kind.MEMBER or kind == Kind.CALL:
            return self._path(node)
        if kind in _PLAIN:
            return Type(_PLAIN[kind] or node.name, self._args(node.args))
        if kind == Kind.RECEIVER:
            return Type(node.name, (_SELF,)) if node.name else _SELF
        if kind == Kind.ARGUMENT or kind == Kind.FOR:
            return self.type(node.args[0])
        if kind == Kind.WILDCARD:
            return WILDCARD
        if kind == Kind.ARRAY:
            element, length = node.args
            numbered = length.name.isdigit()
            return Type(
                "[;]",
                (self.type(element), Type(length.name) if numbered else Variable(length.name)),
            )
        if kind == Kind.IMPL:
            return self._opaque(node)
        if kind == Kind.DYN:
            return Type("dyn", self._reduced_bounds(node.args))
        return self._qualified(node)

    def _opaque(self, node: Node) -> Variable:
        self._unnamed += 1
        name = f"impl {self._unnamed}"
        self._bounds[name] = self._reduced_bounds(node.args)
        return Variable(name)

    def _qualified(self, node: Node) -> Variable:
        """Reduce ``<T as Trait>::Name``, which is known by its text alone."""
        owner, trait = self.type(node.args[0]), node.args[1]
        tail = node.name.rpartition("::")[2]
        if isinstance(owner, Variable) and (trait.kind == Kind.NEVER or tail == node.name):
            return Variable(f"{owner.name}::{tail}")
        return Variable(node.name)

    def _path(self, node: Node, *, trait: bool = False) -> Tree:
        """Reduce a path to its last segment; one that begins with a variable is a variable."""
        args = self._args(node.args[1:] if node.kind == Kind.MEMBER else node.args)
        if node.kind != Kind.MEMBER and "::" not in node.name:
            name = node.name
            return Variable(name) if not trait and self._is_variable(name) else Type(name, args)
        segments = _segments(node)
        if not trait and self._is_variable(segments[0]):
            return Variable(f"{segments[0]}::{segments[-1]}")
        if segments[-1] == "Result" and segments[-2] != "result" and len(args) < 2:
            # io::Result<T> and its like, by the convention that the std library set.
            args = (*(args or (UNIT,)), Type("Error"))
        return Type(segments[-1], args)

    def _is_variable(self, name: str) -> bool:
        lone = name[0].isupper() and (len(name) == 1 or name[1:].isdigit())
        return name in self._variables or lone

    def _args(self, nodes: Iterable[Node]) -> tuple[Tree, ...]:
        found: list[Tree] = []
        for each in nodes:
            kind = each.kind
            if kind == Kind.LIFETIME or kind == Kind.VARIADIC:
                continue
            if kind == Kind.EXPRESSION:
                found.append(Type(each.name))
            elif kind == Kind.EQUALITY:
                found.append(Type(f"={each.name}", self._args(each.args)))
            elif kind == Kind.CONSTRAINT:
                found.append(Type(f"={each.name}", (self._opaque(each),)))
            else:
                found.append(self.type(each))
        return tuple(found)


def _segments(node: Node) -> list[str]:
    """Return the names of a path, whatever arguments stand between them."""
    if node.kind == Kind.MEMBER:
        return [*_segments(node.args[0]), node.name]
    return node.name.split("::")


def _number(tree: Tree, bounds: Mapping[str, tuple[Type, ...]], names: dict[str, Tree]) -> None:
    for node in nodes(tree):
        if isinstance(node, Variable) and node.name not in names:
            mark = "::" if "::" in node.name else ""
            names[node.name] = Variable(f"${len(names)}{mark}")
            for bound in bounds.get(node.name, ()):
                _number(bound, bounds, names)
