"""Parse a piece of Rust code, and collect its imports, declarations and paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.rust.check.std import PRELUDE_NAMES
from docstow.languages.shared import trees

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

Segments = tuple[str, ...]
LOCAL_ROOTS = frozenset({"crate", "self", "super", "Self", "$crate"})
_DECLARED = {
    *("struct_item", "enum_item", "union_item", "trait_item", "type_item", "function_item"),
    *("function_signature_item", "const_item", "static_item", "mod_item", "macro_definition"),
    *("type_parameter", "const_parameter", "associated_type", "extern_crate_declaration"),
}
#: Longer paths are not read.
_LONGEST = 40
_NAMES = {"identifier", "type_identifier", "crate", "self", "super", "primitive_type"}
_GENERIC = {"generic_type", "generic_type_with_turbofish", "generic_function"}
#: Tokens of macros after which no path begins.
_BEFORE = {"::", ".", "$", "#", "'", "-", "fn", "struct", "enum", "trait"}
_WHOLE = {"function_item", "impl_item", "struct_item", "enum_item", "trait_item", "mod_item"}


@lru_cache(maxsize=1)
def _grammar() -> Language:
    import tree_sitter_rust
    from tree_sitter import Language

    return Language(tree_sitter_rust.language())


@lru_cache(maxsize=1)
def parse(code: str) -> Tree:
    """Parse Rust; raise UnreadableInput where that takes too long.

    The same code is asked for its crates first and judged then.
    """
    return trees.parse(_grammar(), code.encode(errors="replace"))


def text_of(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode()


def name_of(node: Node) -> str:
    """Return the name that a node writes, ``r#`` before it left out."""
    return text_of(node).removeprefix("r#")


@dataclass(frozen=True, slots=True)
class Import:
    """One leaf of a ``use`` tree: the path, the name it gets here, and where it is written."""

    path: Segments
    alias: str
    node: Node
    glob: bool = False


@dataclass(slots=True)
class Scope:
    """The names of one piece of code, all of its blocks together.

    Attributes:
        imports: paths by the name they have here; several where blocks differ.
        globs: paths whose names are all brought in.
        declared: names that the code defines itself.
        methods: names of functions that it defines in types alone.
        brought: names of functions that its own traits bring.
        leaves: every import, in order.
        complete: whether the code has whole items, and not statements alone.
        types: names of types that it uses, those of paths' beginnings among them.
        values: imports of a macro or function that has its crate's name: in a path the name still
            means the crate.
    """

    imports: dict[str, set[Segments]] = field(default_factory=dict)
    globs: list[Segments] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    brought: set[str] = field(default_factory=set)
    leaves: list[Import] = field(default_factory=list)
    values: set[str] = field(default_factory=set)
    complete: bool = False
    types: set[str] = field(default_factory=set)

    @property
    def closed(self) -> bool:
        """Whether the code says where all its types come from: if not, imports are left out."""
        known = self.declared | self.imports.keys() | LOCAL_ROOTS | PRELUDE_NAMES
        return bool(self.globs) or self.types <= known

    def has(self, name: str) -> bool:
        """Return whether the code defines a name, of a method too."""
        return name in self.declared or name in self.methods or name in self.brought

    def expand(self, path: Segments) -> Segments | None:
        """Return a path with its first name replaced by what was imported.

        None for the code's own names and for names that stand for several things.
        """
        if path[0] == "":
            return path[1:]
        for _ in range(4):
            first = path[0]
            if first in LOCAL_ROOTS:
                return None
            found = self.imports.get(first)
            if found is None:
                return None if first in self.declared else path
            if len(found) > 1:
                return None
            (target,) = found
            if target == (first, first):
                # ``use log::log`` may mean the crate or its item of that name.
                if first not in self.values:
                    return None
                return path if len(path) > 1 else target
            if target[0] == first or target[:1] == ("",):
                return (*(target[1:] if target[0] == "" else target), *path[1:])
            path = (*target, *path[1:])
        return None


def read_scope(root: Node) -> Scope:
    """Collect the names of a parsed file."""
    found = Scope(complete=any(each.type in _WHOLE for each in root.named_children))
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "use_declaration":
            _add_use(found, node)
            continue
        if node.type == "extern_crate_declaration":
            _add_extern(found, node)
        elif node.type in _DECLARED:
            name, into = node.child_by_field_name("name"), found.declared
            within = _owner_of(node)
            if within:
                into = found.brought if within == "trait_item" else found.methods
            into.add(text_of(name) if name is not None else text_of(node))
        elif node.type == "type_identifier":
            found.types |= {text_of(node)} - {"_"}  # ``Vec<_>`` leaves the type open
        elif node.type == "type_binding":  # ``Iterator<Item = u8>``: the trait has the name
            pending += reversed(node.named_children[1:])
            continue
        elif node.type in {"scoped_identifier", "scoped_type_identifier"}:
            path = node.child_by_field_name("path")
            if path is not None and path.type == "identifier":
                found.types |= {text_of(path)} if text_of(path)[:1].isupper() else set()
            pending += [path] if path is not None else []
            continue
        pending += reversed(node.named_children)
    return found


def _owner_of(node: Node) -> str:
    """Return what a function has its name in alone: ``impl_item``, ``trait_item``, or nothing.

    What implements a trait counts as that.
    """
    above = node.parent.parent if node.parent is not None else None
    is_function = node.type in {"function_item", "function_signature_item"}
    within = above.type if is_function and above is not None else ""
    if within == "impl_item" and above is not None and above.child_by_field_name("trait"):
        return "trait_item"
    return within if within in {"impl_item", "trait_item"} else ""


def _add_extern(found: Scope, node: Node) -> None:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    if name is not None and alias is not None:
        found.imports.setdefault(text_of(alias), set()).add((text_of(name),))


def _add_use(found: Scope, node: Node) -> None:
    tree = node.child_by_field_name("argument")
    if tree is None or node.has_error:
        return
    for leaf in _leaves(tree):
        found.leaves.append(leaf)
        if leaf.glob:
            found.globs.append(leaf.path)
        elif leaf.alias != "_":
            found.imports.setdefault(leaf.alias, set()).add(leaf.path)


def _leaves(tree: Node) -> Iterator[Import]:
    """Yield the names that a ``use`` tree brings in, in its order."""
    pending: list[tuple[Node, Segments]] = [(tree, ())]
    while pending:
        node, prefix = pending.pop()
        if len(prefix) > _LONGEST:
            continue
        match node.type:
            case "use_list":
                inside = [child for child in node.named_children if "comment" not in child.type]
                pending += [(child, prefix) for child in reversed(inside)]
            case "scoped_use_list":
                path, inner = node.child_by_field_name("path"), node.child_by_field_name("list")
                head = segments(path) if path is not None else ("",)
                if inner is not None and head is not None:
                    pending.append((inner, (*prefix, *head)))
            case "use_as_clause":
                path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
                head = segments(path) if path is not None else None
                if head is not None and alias is not None:
                    yield _leaf((*prefix, *head), text_of(alias), node)
            case "use_wildcard":
                inner_path = node.named_children[0] if node.named_children else None
                head = segments(inner_path) if inner_path is not None else ()
                if head is not None:
                    yield Import((*prefix, *head), "*", node, glob=True)
            case _:
                head = segments(node)
                if head is not None:
                    yield _leaf((*prefix, *head), head[-1], node)


def _leaf(path: Segments, alias: str, node: Node) -> Import:
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
        alias = path[-1] if alias == "self" else alias
    return Import(path, alias.removeprefix("r#"), node)


def segments(node: Node) -> Segments | None:
    """Return the names of a path, generic arguments left out.

    None for ``<T as Trait>::name`` and for paths that are longer than anybody writes.
    """
    names: list[str] = []
    here: Node | None = node
    while here is not None and len(names) <= _LONGEST:
        if here.type in _NAMES:
            names.append(text_of(here).removeprefix("r#"))
            return tuple(reversed(names))
        if here.type in _GENERIC:
            here = here.child_by_field_name("type") or here.child_by_field_name("function")
            continue
        name = here.child_by_field_name("name")
        if here.type not in {"scoped_identifier", "scoped_type_identifier"} or name is None:
            return None
        names.append(text_of(name).removeprefix("r#"))
        path = here.child_by_field_name("path")
        if path is None:
            return ("",) * text_of(here).startswith("::") + tuple(reversed(names))
        here = path
    return None


def method_chains(tokens: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield the first and last token of each ``name.method(...)``, and what follows, in tokens."""
    at = 0
    while at < len(tokens):
        end = at + 1
        begins = tokens[at].type in {"identifier", "self"}
        if begins and not (at and tokens[at - 1].type in _BEFORE):
            while end < len(tokens):
                if tokens[end].type == "?" or text_of(tokens[end])[:1] == "[":
                    end += 1
                elif tokens[end].type == "." and end + 1 < len(tokens):
                    end += 2
                    end += end < len(tokens) and text_of(tokens[end])[:1] == "("
                else:
                    break
            if end > at + 1:
                yield tokens[at], tokens[min(end, len(tokens)) - 1]
        at = end


def token_paths(tokens: Sequence[Node]) -> Iterator[tuple[Node, Segments]]:
    """Yield the paths of two names or more in a macro's tokens, each with its first token."""
    at = 0
    while at < len(tokens):
        end = at + 1
        while end + 1 < len(tokens) and tokens[end].type == "::":
            if tokens[end + 1].type != "identifier":
                break
            end += 2
        begins = tokens[at].type == "identifier" and not (at and tokens[at - 1].type in _BEFORE)
        if begins and 1 < end - at < 2 * _LONGEST:
            names = tokens[at:end:2]
            yield tokens[at], tuple(text_of(each).removeprefix("r#") for each in names)
        at = end
