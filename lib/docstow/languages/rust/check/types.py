"""Types of Rust values that are certain, and those that documented functions return."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from functools import lru_cache

from docstow.index.signatures.parser import parse_declaration
from docstow.index.signatures.syntax import UNIT, BadSignature, Declaration, Kind, Node, walk
from docstow.languages.rust.check.crate_items import CrateNames, Found, standard
from docstow.languages.rust.check.std import (
    ARRAY,
    OPTION,
    PLAIN_TYPES,
    PRIMITIVES,
    RESULT,
    SLICE,
    is_standard,
    standard_types,
)

#: The name of what must be awaited.
FUTURE = "Future"
#: Paths by the name that signatures write; what they hold is known too.
WRAPPERS = {"Option": OPTION, "Result": RESULT}
#: Names that many crates use, so that a signature may mean another crate's.
_COMMON_TYPES = frozenset(
    {
        *("Error", "Request", "Response", "Body", "Uri", "Url", "Method", "StatusCode", "Bytes"),
        *("Value", "Map", "Stream", "Sink", "Either", "Span", "Id", "Version", "HeaderMap"),
    }
)
_TYPE_HEAD = re.compile(r"pub (?:struct|enum|union) (\w+)")


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is known for certain.

    Attributes:
        name: the canonical path; ``Future`` for what must be awaited.
        crate: where it is found; None of a future.
        inner: what an option, a result or a future holds, if that is known.
        through: the path of the pointer that leads to it, which has members of its own.
    """

    name: str
    crate: CrateNames | None = None
    inner: Type | None = None
    through: str = ""


#: Types by name; None for a variable that hides another one and whose type is not certain.
Variables = MutableMapping[str, Type | None]
VariableScopes = ChainMap[str, Type | None]


def wrapper(name: str, inner: Type | None) -> Type:
    """Return the type of an option or a result."""
    return Type(WRAPPERS[name], standard(), inner)


def standard_type(path: str) -> Type:
    """Return a type of the standard library."""
    return Type(path, standard())


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's declaration.

    Attributes:
        arity: parameters, ``self`` left out; None where they cannot be counted.
        takes_self: whether it is a method.
        is_async: whether a call of it must be awaited.
        output: the type it returns; the unit type for none.
        generics: names that stand for any type, and names in their inline bounds.
        lends: whether it takes ``&self`` and returns a reference that cannot be written through.
    """

    arity: int | None
    takes_self: bool
    is_async: bool
    output: Node
    generics: frozenset[str]
    lends: bool = False


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> Signature | None:
    """Parse a function's declaration; None where it is none."""
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
        lends=shared and _is_shared(declared.output),
    )


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


def returned(found: Found) -> Type | None:
    """Return the type that a call of a documented function has, if that is certain."""
    if found.kind not in {"function", "method"}:
        return None
    signature = parse_signature(found.signature)
    if signature is None or signature.output == UNIT:
        return None
    is_type = any(
        each.kind in {"struct", "enum", "union"} for each in found.names.find(found.parent)
    )
    owner = found.parent if is_type else ""
    output = _resolved(signature.output, found.names, owner, signature)
    return Type(FUTURE, None, output) if signature.is_async else output


def _resolved(node: Node, names: CrateNames, owner: str, signature: Signature) -> Type | None:
    if node.kind == Kind.REFERENCE:
        return _resolved(node.args[0], names, owner, signature)
    if node.kind in {Kind.SLICE, Kind.ARRAY}:
        return standard_type(SLICE if node.kind == Kind.SLICE else ARRAY)
    if node.kind != Kind.PATH:
        return None
    name = node.name
    if "::" in name:
        known = is_standard(name) and names.root == "std" and names.find(name)
        return Type(name, names) if known else None
    if name in PRIMITIVES:
        return standard_type(name)
    if name in WRAPPERS:
        held = [each for each in node.args if each.kind != Kind.LIFETIME]
        return wrapper(name, _resolved(held[0], names, owner, signature) if held else None)
    if name == "Self":
        return Type(owner, names) if owner else None
    if name in signature.generics:
        return None
    return _by_name(name, names, owner, signature)


def _by_name(name: str, names: CrateNames, owner: str, signature: Signature) -> Type | None:
    """Return the type that a bare name means.

    Signatures leave out where a name comes from. So it is only taken for one of the crate's own
    where no other can be meant: a constructor's own type, or a name that is neither the standard
    library's nor twice in the crate.
    """
    if owner and name in {owner.rpartition("::")[2], _declared_name(owner, names)}:
        if not signature.takes_self:
            return Type(owner, names)
        if signature.lends:  # what it wraps may bear the same name
            return None
    paths = names.types_by_title.get(name, [])
    if not paths and name in PLAIN_TYPES:
        return standard_type(PLAIN_TYPES[name])
    if name in standard_types() or name in _COMMON_TYPES:
        return None
    if len(paths) != 1:
        here = owner.rpartition("::")[0]
        beside = [path for path in paths if here and path.rpartition("::")[0] == here]
        if len(beside) != 1:
            return None
        paths = beside
    kinds = {each.kind for each in names.find(paths[0])}
    return Type(paths[0], names) if kinds & {"struct", "enum", "union"} else None


def _declared_name(path: str, names: CrateNames) -> str:
    """Return the name that a type's own declaration has: it may be shown by another one."""
    heads: Iterable[re.Match[str] | None] = (
        _TYPE_HEAD.match(each.signature) for each in names.find(path)
    )
    return next((head[1] for head in heads if head is not None), "")
