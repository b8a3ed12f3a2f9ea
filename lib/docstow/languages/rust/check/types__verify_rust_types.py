"""What a Rust value's type is, where its declaration leaves no doubt.

This room knows types as signatures write them, by last names alone, and which of those can be
trusted. It does not walk code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.rust.check.std__verify_std_names import (
    ARRAY,
    OPTION,
    PLAIN_TYPES,
    PRIMITIVES,
    RESULT,
    SLICE,
    is_standard,
    standard_types,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from docstow.languages.rust.check.crate_names__verify_rust_names import CrateNames, Found

FUTURE = "Future"
_HEAD = re.compile(r"pub (?:struct|enum|union) (\w+)")
#: By the name that signatures write; what they hold is known too.
WRAPPERS = {"Option": OPTION, "Result": RESULT}


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


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function's declaration says.

    Attributes:
        arity: parameters, ``self`` left out; None where they cannot be counted.
        takes_self: whether it is a method.
        is_async: whether a call of it must be awaited.
        output: the type it gives back, as a syntax node; None for none.
        generics: names that stand for any type.
        lends: whether it takes ``&self`` and gives a reference that cannot be written through.
    """

    arity: int | None
    takes_self: bool
    is_async: bool
    output: Node | None
    generics: frozenset[str]
    lends: bool = False


@lru_cache(maxsize=1)
def parser() -> Parser:
    """The parser of Rust; made when it is first needed."""
    import tree_sitter_rust
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_rust.language()))


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode()


@lru_cache(maxsize=4096)
def signature(declaration: str) -> Signature | None:
    """Read a function's declaration; None where it is none."""
    tree = parser().parse(f"trait T {{ {declaration.removeprefix('pub ')} ; }}".encode())
    found = _first(tree.root_node, {"function_signature_item", "function_item"})
    if found is None or tree.root_node.has_error:
        return None
    parameters = found.child_by_field_name("parameters")
    if parameters is None:
        return None
    named = [each for each in parameters.named_children if "comment" not in each.type]
    own = [each for each in named if not _is_self(each)]
    counted = all(each.type == "parameter" for each in own)
    generics = found.child_by_field_name("type_parameters")
    names = frozenset(
        text_of(each) for each in _all(generics, "type_identifier") if generics is not None
    )
    head = text_of(found).split("fn ", 1)[0]
    output = found.child_by_field_name("return_type")
    return Signature(
        arity=len(own) if counted else None,
        takes_self=len(own) < len(named),
        is_async="async" in head.split(),
        output=output,
        generics=names,
        lends=_is_shared(named[0] if named else None) and _is_shared(output),
    )


def _is_shared(node: Node | None) -> bool:
    text = text_of(node) if node is not None else ""
    return text.startswith("&") and "mut " not in text


def _is_self(node: Node) -> bool:
    if node.type == "self_parameter":
        return True
    pattern = node.child_by_field_name("pattern") if node.type == "parameter" else None
    return pattern is not None and text_of(pattern) in {"self", "mut self"}


def _first(node: Node, types: set[str]) -> Node | None:
    if node.type in types:
        return node
    for child in node.named_children:
        if (found := _first(child, types)) is not None:
            return found
    return None


def _all(node: Node | None, kind: str) -> list[Node]:
    if node is None:
        return []
    found = [node] if node.type == kind else []
    return found + [each for child in node.named_children for each in _all(child, kind)]


def returned(found: Found) -> Type | None:
    """What a call of a documented function gives, if that is certain."""
    if found.kind not in {"function", "method"}:
        return None
    read = signature(found.signature)
    if read is None or read.output is None:
        return None
    is_type = any(
        each.kind in {"struct", "enum", "union"} for each in found.names.find(found.parent)
    )
    owner = found.parent if is_type else ""
    given = _resolved(read.output, found.names, owner, read)
    return Type(FUTURE, None, given) if read.is_async else given


def wrapper(name: str, inner: Type | None) -> Type:
    """An option or a result."""
    from docstow.languages.rust.check.crate_names__verify_rust_names import standard

    return Type(WRAPPERS[name], standard(), inner)


def plain(path: str) -> Type:
    """A type of the standard library."""
    from docstow.languages.rust.check.crate_names__verify_rust_names import standard

    return Type(path, standard())


def builtin(node: Node) -> Type | None:
    """A primitive, a slice or an array."""
    if node.type == "primitive_type":
        return plain(text_of(node)) if text_of(node) in PRIMITIVES else None
    if node.type == "array_type":
        return plain(ARRAY if node.child_by_field_name("length") is not None else SLICE)
    return None


def arguments(node: Node) -> list[Node]:
    """The type arguments of a generic type, lifetimes left out."""
    given = node.child_by_field_name("type_arguments")
    return [each for each in given.named_children if each.type != "lifetime"] if given else []


def _resolved(node: Node, names: CrateNames, owner: str, read: Signature) -> Type | None:
    if node.type == "reference_type":
        target = node.child_by_field_name("type")
        return _resolved(target, names, owner, read) if target is not None else None
    base = node.child_by_field_name("type") if node.type == "generic_type" else node
    if base is None:
        return None
    name = text_of(base)
    if base.type == "scoped_type_identifier":
        known = is_standard(name) and names.root == "std" and names.find(name)
        return Type(name, names) if known else None
    if base.type != "type_identifier":
        return builtin(base)
    if name in WRAPPERS:
        held = arguments(node)
        return wrapper(name, _resolved(held[0], names, owner, read) if held else None)
    if name == "Self":
        return Type(owner, names) if owner else None
    if name in read.generics:
        return None
    return _by_name(name, names, owner, read)


def _by_name(name: str, names: CrateNames, owner: str, read: Signature) -> Type | None:
    """The type that a bare name means.

    Signatures leave out where a name comes from. So it is only taken for one of the crate's own
    where no other can be meant: a constructor's own type, or a name that is neither the standard
    library's nor twice in the crate.
    """
    if owner and name in {owner.rpartition("::")[2], _declared(owner, names)}:
        if not read.takes_self:
            return Type(owner, names)
        if read.lends:  # what it wraps may bear the same name
            return None
    paths = names.types_by_title.get(name, [])
    if not paths and name in PLAIN_TYPES:
        return plain(PLAIN_TYPES[name])
    if name in standard_types() or name in COMMON_TYPES:
        return None
    if len(paths) != 1:
        here = owner.rpartition("::")[0]
        beside = [path for path in paths if here and path.rpartition("::")[0] == here]
        if len(beside) != 1:
            return None
        paths = beside
    kinds = {each.kind for each in names.find(paths[0])}
    return Type(paths[0], names) if kinds & {"struct", "enum", "union"} else None


def _declared(path: str, names: CrateNames) -> str:
    """The name that a type's own declaration has: it may be shown by another one."""
    heads = [_HEAD.match(each.signature) for each in names.find(path)]
    return next((head[1] for head in heads if head is not None), "")


#: Names that many crates use, so that a signature may mean another crate's.
COMMON_TYPES = frozenset(
    {
        *("Error", "Request", "Response", "Body", "Uri", "Url", "Method", "StatusCode", "Bytes"),
        *("Value", "Map", "Stream", "Sink", "Either", "Span", "Id", "Version", "HeaderMap"),
    }
)
