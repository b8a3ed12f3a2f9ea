"""What a Rust value's type is, where its declaration leaves no doubt.

This room knows types as signatures write them, by last names alone, and which of those can be
trusted. It does not walk code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.verify.std_names import STANDARD_TYPES

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from docstow.verify.rust_names import CrateNames, Found

WRAPPERS = frozenset({"Option", "Result", "Future"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is known for certain.

    Attributes:
        name: the canonical path; ``Option``, ``Result`` and ``Future`` for themselves.
        crate: where it is found; None of the three.
        inner: what the three hold, if that is known.
    """

    name: str
    crate: CrateNames | None = None
    inner: Type | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function's declaration says.

    Attributes:
        arity: parameters, ``self`` left out; None where they cannot be counted.
        takes_self: whether it is a method.
        is_async: whether a call of it must be awaited.
        output: the type it gives back, as a syntax node; None for none.
        generics: names that stand for any type.
    """

    arity: int | None
    takes_self: bool
    is_async: bool
    output: Node | None
    generics: frozenset[str]


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
    return Signature(
        arity=len(own) if counted else None,
        takes_self=len(own) < len(named),
        is_async="async" in head.split(),
        output=found.child_by_field_name("return_type"),
        generics=names,
    )


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
    return Type("Future", None, given) if read.is_async else given


def _resolved(node: Node, names: CrateNames, owner: str, read: Signature) -> Type | None:
    if node.type == "reference_type":
        target = node.child_by_field_name("type")
        return _resolved(target, names, owner, read) if target is not None else None
    base, arguments = node, None
    if node.type == "generic_type":
        arguments = node.child_by_field_name("type_arguments")
        inside = node.child_by_field_name("type")
        if inside is None:
            return None
        base = inside
    if base.type != "type_identifier":
        return None
    name = text_of(base)
    if name in {"Option", "Result"}:
        held = (
            [each for each in arguments.named_children if each.type != "lifetime"]
            if arguments
            else []
        )
        return Type(name, None, _resolved(held[0], names, owner, read) if held else None)
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
    if owner and name == owner.rpartition("::")[2] and not read.takes_self:
        return Type(owner, names)
    paths = names.types_by_title.get(name, [])
    if name in STANDARD_TYPES or name in COMMON_TYPES:
        return None
    if len(paths) != 1:
        here = owner.rpartition("::")[0]
        beside = [path for path in paths if here and path.rpartition("::")[0] == here]
        if len(beside) != 1:
            return None
        paths = beside
    kinds = {each.kind for each in names.find(paths[0])}
    return Type(paths[0], names) if kinds & {"struct", "enum", "union"} else None


#: Names that many crates use, so that a signature may mean another crate's.
COMMON_TYPES = frozenset(
    {
        *("Error", "Request", "Response", "Body", "Uri", "Url", "Method", "StatusCode", "Bytes"),
        *("Value", "Map", "Stream", "Sink", "Either", "Span", "Id", "Version", "HeaderMap"),
    }
)
