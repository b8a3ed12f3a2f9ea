"""Types of Rust values that are certain, and those that documented functions return."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest

from docstow.index.signatures.parser import parse_declaration
from docstow.index.signatures.syntax import BadSignature, Declaration, Kind, Node, Param, walk
from docstow.languages.rust.check.crate_items import CrateNames, standard
from docstow.languages.rust.check.std import OPTION, RESULT

#: The name of what must be awaited.
FUTURE = "Future"
#: The name of tuples.
TUPLE = "()"
ITERATOR = "std::iter::Iterator"
#: The name of iterators of unknown types.
SOME_ITERATOR = "impl Iterator"
#: What the paths of the code's own types begin with.
OWN = "crate::"
#: Paths by the name that signatures write; what they hold is known too.
WRAPPERS = {"Option": OPTION, "Result": RESULT}


#: A function's declaration in one of several ``impl`` blocks.
_BLOCK = re.compile(r"^impl\b.*?\{\n(.*?)\n\}", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is known for certain.

    Attributes:
        name: the canonical path; that of a trait for what is known by its bound alone; ``Future``
            for what must be awaited, ``()`` for tuples, ``crate::Name`` for the code's own.
        crate: where it is found; None of a future, of a tuple and of the code's own types.
        args: its type arguments, what an option, a result or a future holds; None for each that is
            not certain.
        through: the path of the pointer that leads to it, which has members of its own.
    """

    name: str
    crate: CrateNames | None = None
    args: tuple[Type | None, ...] = ()
    through: str = ""

    @property
    def inner(self) -> Type | None:
        """Its first argument: what an option, a result, a future or a list holds."""
        return self.args[0] if self.args else None


#: Types by name; None for a variable that hides another one and whose type is not certain.
Variables = MutableMapping[str, Type | None]
VariableScopes = ChainMap[str, Type | None]


def wrapper(name: str, inner: Type | None, error: Type | None = None) -> Type:
    """Return the type of an option or a result."""
    args = (inner,) if name == "Option" else (inner, error)
    return Type(WRAPPERS[name], standard(), args)


def standard_type(path: str, *args: Type | None) -> Type:
    """Return a type of the standard library."""
    return Type(path, standard(), args)


def iterator(item: Type | None) -> Type:
    """Return the type of any iterator, by what it gives."""
    return standard_type(ITERATOR, item)


def some_iterator(item: Type | None) -> Type:
    """Return the type of an iterator that may have methods of its own."""
    return Type(SOME_ITERATOR, None, (item,))


def tuple_of(*parts: Type | None) -> Type:
    """Return the type of a tuple."""
    return Type(TUPLE, None, parts)


def merge(one: Type, other: Type) -> Type | None:
    """Return a type with what either says of its arguments; None where they differ."""
    if one is other:
        return one
    if (one.name, one.crate, one.through) != (other.name, other.crate, other.through):
        return None
    args = list[Type | None]()
    for mine, its in zip_longest(one.args, other.args):
        both = merge(mine, its) if mine is not None and its is not None else mine or its
        if both is None and mine is not None:
            return None
        args.append(both)
    return Type(one.name, one.crate, tuple(args), one.through)


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's declaration.

    Attributes:
        arity: parameters, ``self`` left out; None where they cannot be counted.
        takes_self: whether it is a method.
        is_async: whether a call of it must be awaited.
        output: the type it returns; the unit type for none.
        generics: names that stand for any type, and names in their inline bounds.
        inputs: its parameters, ``self`` left out.
        params: the names of its type parameters, in order.
        bounds: of a type parameter, those that are written beside it or in the where clause.
        lends: whether it takes ``&self`` and returns a reference that cannot be written through.
    """

    arity: int | None
    takes_self: bool
    is_async: bool
    output: Node
    generics: frozenset[str]
    inputs: tuple[Node, ...] = ()
    params: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)
    lends: bool = False


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> Signature | None:
    """Parse a function's declaration; None where it is none.

    Of those in several blocks, what all of them say.
    """
    if blocks := _BLOCK.findall(text):
        return _common([parse_signature(each.strip()) for each in blocks])
    try:
        declared = parse_declaration(text)
    except BadSignature:
        return None
    if declared.keyword != "fn" or declared.output is None or not declared.name:
        return None
    own = [each for each in declared.inputs if not _is_self(each)]
    first = declared.inputs[0] if declared.inputs else None
    shared = first is not None and first.kind == Kind.RECEIVER and first.name == "&"
    return Signature(
        arity=None if any(each.kind == Kind.VARIADIC for each in own) else len(own),
        takes_self=len(own) < len(declared.inputs),
        is_async="async" in declared.qualifiers,
        output=declared.output,
        generics=frozenset(_generic_names(declared)),
        inputs=tuple(each.args[0] for each in own if each.kind == Kind.ARGUMENT),
        params=tuple(each.name for each in declared.generics if is_type_parameter(each)),
        bounds=_bounds(declared),
        lends=shared and _is_shared(declared.output),
    )


def _common(signatures: Sequence[Signature | None]) -> Signature | None:
    """Return what the declarations of one name in several blocks have in common."""
    known = [each for each in signatures if each is not None]
    ways = {(each.takes_self, each.is_async, each.output) for each in known}
    if len(known) != len(signatures) or len(ways) != 1:
        return None
    arities = {each.arity for each in known}
    inputs = {each.inputs for each in known}
    return replace(
        known[0],
        arity=arities.pop() if len(arities) == 1 else None,
        inputs=inputs.pop() if len(inputs) == 1 else (),
    )


def is_type_parameter(param: Param) -> bool:
    """Tell whether a generic parameter stands for a type: not for a lifetime or a constant."""
    return param.type is None and not param.name.startswith("'")


def _bounds(declared: Declaration) -> dict[str, tuple[Node, ...]]:
    found = {each.name: each.bounds or () for each in declared.generics if is_type_parameter(each)}
    for each in declared.where:
        if each.subject.name in found:
            found[each.subject.name] += each.bounds
    return found


def _is_self(node: Node) -> bool:
    named = node.kind == Kind.ARGUMENT and node.name in {"self", "mut self"}
    return named or node.kind == Kind.RECEIVER


def _is_shared(node: Node) -> bool:
    reference = node.kind == Kind.REFERENCE
    return reference and not any(each.name in {"&mut", "*mut"} for each in walk(node))


def _generic_names(declared: Declaration) -> Iterator[str]:
    for param in declared.generics:
        if param.type is None:
            yield param.name
        for part in (*(param.bounds or ()), param.type, param.default):
            if part is not None:
                yield from (node.name.rpartition("::")[2] for node in walk(part))
