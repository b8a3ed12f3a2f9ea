"""Rust code against crates: imports, paths, macros, methods where the type is certain, and arity.

This room knows Rust's syntax and walks it with the types it is sure of. It does not know how paths
are looked up.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.calls import Calls
from docstow.languages.rust.check.crate_names import Crates, standard
from docstow.languages.rust.check.notes import Notes
from docstow.languages.rust.check.paths import NOT_CHECKED, Answer, Meant, Paths, View
from docstow.languages.rust.check.scope import LOCAL_ROOTS, Scope, Segments, scope, token_paths
from docstow.languages.rust.check.std import DERIVES, KNOWN, STANDARD
from docstow.languages.rust.check.syntax import parser, text_of
from docstow.languages.rust.check.types import SCOPES, Type, Values, bind, bind_let
from docstow.languages.shared.findings import Finding, Verdict, in_order
from docstow.languages.shared.suggestions import likeness, nearest

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

#: Kinds that no path leads through.
_VALUES = frozenset({"function", "macro", "attribute_macro", "derive_macro", "constant"})
_BARE_IN_TEXT = re.compile(r"(?<![\w:])([A-Z]\w*)(?![\w:])")
#: Bare names that are as alike as this are the same one, misspelt.
_MISSPELT = 85.0
_PATHS_IN_TEXT = re.compile(r"\b[a-z_][\w]*(?:::\w+)+")
#: What is nested more deeply is not looked at.
_DEEPEST = 300
#: Macros whose arguments are expressions as a function's are.
_PLAIN_MACROS = frozenset(
    {
        *("print", "println", "eprint", "eprintln", "format", "write", "writeln", "panic", "vec"),
        *("assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "dbg", "todo"),
        *("anyhow", "bail", "ensure", "unreachable", "format_args"),
    }
)


def verify(code: str, crates: Crates) -> Verdict:
    """Check a piece of Rust code: a file, a few statements or a buffer that is half written.

    Args:
        code: the code.
        crates: the crates it may use.
    """
    tree = parser().parse(code.encode(errors="replace"))
    checker = _Checker(scope(tree.root_node), crates)
    checker.imports()
    checker.walk(tree.root_node, ChainMap(), 0)
    return checker.notes.verdict()


def look_up_all(paths: Sequence[tuple[Segments, int]], crates: Crates) -> Verdict:
    """Paths that a message speaks of, each with its line."""
    known = Paths(crates)
    findings: list[Finding] = []
    missing: dict[str, None] = {}
    for path, line in paths:
        if path[0] in STANDARD - KNOWN or path[0] in LOCAL_ROOTS:
            continue
        names = known.crate(path[0])
        if names is None:
            missing.setdefault(path[0])
            continue
        # What stands in a message was compiled with its imports, and traits were looked through.
        answer = known.look_up(path, _no_trait)
        names = answer.names or names
        findings.append(
            Finding(
                line=line,
                column=1,
                name="::".join(path),
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in,
                package=names.package,
                version=names.version,
            )
        )
    return Verdict(in_order(findings), tuple(missing))


def _no_trait(_: str) -> bool:
    return False


class _Checker:
    def __init__(self, names: Scope, crates: Crates) -> None:
        self.notes = Notes()
        self._scope = names
        self._paths = Paths(crates)
        self._view = View(names, self._paths)
        self._meant = Meant(names, self._paths)
        self._values = Values(self._meant, self._paths, self._view.by_trait)
        self._calls = Calls(self._meant, self._values, self._view, self._paths, self.notes)
        self._kept: list[Tree] = []  # nodes are told apart by their places in memory

    # -- imports -----------------------------------------------------------------------------

    def imports(self) -> None:
        """Check every leaf of every ``use``."""
        self._scope.values |= {
            name
            for name, paths in self._scope.imports.items()
            if paths == {(name, name)} and self._is_value(name)
        }
        for leaf in self._scope.leaves:
            path: Segments | None = leaf.path
            same = {(path[0], path[0])} if path else set()  # ``use log::{log, Level}``
            elsewhere = self._scope.imports.get(path[0], same) != same if path else False
            if path and elsewhere and path[0] != leaf.alias:
                path = self._scope.expand(path)
            elif path and (path[0] in LOCAL_ROOTS or path[0] in self._scope.declared):
                path = None
            if path and path[0] == "":
                path = path[1:]
            if path:
                self._check(path, leaf.node)

    def _is_value(self, name: str) -> bool:
        """Whether a crate has only macros or functions of its own name."""
        if name in STANDARD or self._paths.crate(name) is None:
            return False
        found = self._paths.look_up((name, name)).found
        return bool(found) and all(each.kind in _VALUES for each in found)

    def _check(self, path: Segments, node: Node) -> None:
        """Look a path up and note what is found."""
        if path[0] in STANDARD - KNOWN or path[0] in LOCAL_ROOTS:
            return
        name = "::".join(path)
        if self._paths.crate(path[0]) is None:
            self.notes.missing(node, name, path[0])
            return
        answer = self._paths.look_up(path, self._view.by_trait)
        if answer.status == "unknown" and standard().find(f"std::{name}"):
            answer = NOT_CHECKED  # ``time::Duration`` where ``use std::time`` is left out
        self.notes.add(node, name, answer)

    # -- the walk ----------------------------------------------------------------------------

    def walk(self, node: Node, known: ChainMap[str, Type | None], depth: int) -> None:
        """Check what stands below a node; ``known`` has the variables whose types are certain."""
        if depth > _DEEPEST or node.type == "use_declaration" or self._whole(node, known, depth):
            return
        if node.type in SCOPES:
            known = known.new_child()
        elif node.type == "call_expression":
            self._calls.call(node, known)
        elif node.type == "struct_expression":
            self._calls.literal(node)
        bind(node, known, self._values)
        for child in node.named_children:
            self.walk(child, known, depth + 1)
        if node.type == "let_declaration":
            bind_let(node, known, self._values)

    def _whole(self, node: Node, known: ChainMap[str, Type | None], depth: int) -> bool:
        """Check what is one thing, whose parts are none of their own."""
        match node.type:
            case "scoped_identifier" | "scoped_type_identifier":
                self._path(node)
                self._inside_path(node, known, depth)
            case "attribute_item" | "inner_attribute_item":
                self._attribute(node)
            case "macro_invocation":
                self._macro(node, known, depth)
            case _:
                return False
        return True

    def _inside_path(self, node: Node, known: ChainMap[str, Type | None], depth: int) -> None:
        """Generic arguments within a path have paths of their own."""
        pending = [node]
        while pending:
            for child in pending.pop().named_children:
                if child.type in {"scoped_identifier", "scoped_type_identifier", "generic_type"}:
                    pending.append(child)
                elif child.type in {"type_arguments", "bracketed_type"}:
                    self.walk(child, known, depth + 1)

    def _path(self, node: Node) -> None:
        absolute = self._meant.absolute(node)
        if absolute is not None:
            self._check(absolute, node)

    def _attribute(self, node: Node) -> None:
        attribute = node.named_children[0] if node.named_children else None
        if attribute is None or attribute.has_error or not attribute.named_children:
            return
        head = attribute.named_children[0]
        if head.type == "scoped_identifier":
            self._path(head)
        elif text_of(head) == "derive":
            for name in _BARE_IN_TEXT.findall(text_of(attribute)):
                self._derived(name, node)
            for found in _PATHS_IN_TEXT.findall(text_of(attribute)):
                path = tuple(found.split("::"))
                absolute = self._scope.expand(path) if path[0] in self._scope.imports else path
                if absolute and absolute[0] not in self._scope.declared:
                    self._check(absolute, node)

    def _derived(self, name: str, node: Node) -> None:
        """A derive macro that nothing brings into view, though one that is spelt alike is there."""
        known = name in DERIVES or self._meant.own(name)
        if known or self._scope.globs or not self._paths.may_explain():
            return
        brought = DERIVES | self._scope.imports.keys()
        alike = [each for each in brought if abs(len(each) - len(name)) <= 1]
        for best in nearest(name, sorted(alike), most=1):
            if likeness(name, best) >= _MISSPELT:
                (path, *_) = self._scope.imports.get(best, {(best,)})
                meant = "::".join(path)
                message = f"no derive macro {name} is in view; did you mean {meant}?"
                self.notes.add(node, name, Answer("unknown", (), message, (meant,)))

    def _macro(self, node: Node, known: ChainMap[str, Type | None], depth: int) -> None:
        """The macro itself; what stands inside is not Rust before it is expanded."""
        name = node.child_by_field_name("macro")
        if name is not None and name.type == "scoped_identifier":
            self._path(name)
        tokens = node.named_children[-1]
        if name is None or tokens.type != "token_tree":
            return
        called = text_of(name)
        plain = called in _PLAIN_MACROS and self._arguments(tokens, known, depth)
        if not plain and not self._meant.declares(called) and "quote" not in called:
            self._tokens(tokens)

    def _tokens(self, tree: Node) -> None:
        """Paths that begin at an import or a crate mean the same wherever a macro puts them."""
        pending = [tree]
        while pending:
            children = pending.pop().children
            if any(each.type in {"use", "mod"} for each in children):
                continue  # names that nobody has noted
            pending += [each for each in children if each.type == "token_tree"]
            for place, path in token_paths(children):
                known = self._meant.imports(path[0]) or self._paths.crate(path[0]) is not None
                absolute = self._meant.path(path) if known else None
                if absolute is not None and self._paths.crate(absolute[0]) is not None:
                    self._check(absolute, place)

    def _arguments(self, tokens: Node, known: ChainMap[str, Type | None], depth: int) -> bool:
        """Check the arguments of ``println!`` and the like, where they are expressions."""
        tree = parser().parse(f"fn f() {{ g({text_of(tokens)[1:-1]}); }}".encode())
        if tree.root_node.has_error:
            return False
        self._kept.append(tree)
        before = self.notes.row
        self.notes.row += tokens.start_point.row
        for child in tree.root_node.named_children:
            for each in child.named_children:
                if each.type == "block":
                    self.walk(each, known, depth + 1)
        self.notes.row = before
        return True
