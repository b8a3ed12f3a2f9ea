"""Check Rust code against crates: imports, paths, macros, methods of certain types, and arity."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.calls import Calls
from docstow.languages.rust.check.crate_items import Crates, standard
from docstow.languages.rust.check.expressions import SCOPES, Expressions
from docstow.languages.rust.check.fitting import called_at
from docstow.languages.rust.check.own_items import OwnItems
from docstow.languages.rust.check.paths import MISSPELT, NOT_CHECKED, Answer, Paths
from docstow.languages.rust.check.patterns import bind, bind_filled, bind_let
from docstow.languages.rust.check.report import Report
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import (
    LOCAL_ROOTS,
    Scope,
    Segments,
    method_chains,
    parse,
    read_scope,
    segments,
    text_of,
    token_paths,
)
from docstow.languages.rust.check.std import DERIVES, KNOWN, STANDARD
from docstow.languages.rust.check.types import VariableScopes
from docstow.languages.shared.findings import Finding, Verdict, nearest, sort_findings
from docstow.languages.shared.likeness import name_similarity

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

#: Kinds whose items have no members.
_VALUES = frozenset({"function", "macro", "attribute_macro", "derive_macro", "constant"})
_BARE_IN_TEXT = re.compile(r"(?<![\w:])([A-Z]\w*)(?![\w:])")
_CRATE = re.compile(r"[a-z][a-z0-9_]*")
_PATHS_IN_TEXT = re.compile(r"\b[a-z_][\w]*(?:::\w+)+")
#: Code that is nested more deeply is not checked.
_DEEPEST = 300
#: Macros that bind the variables in them again, to other types.
_REBINDING = frozenset({"pin", "pin_mut", "stack_pin"})
#: Tokens of macros that may bring names in.
_BINDING = frozenset({"let", "|", "||", "=>", "for", "in", "use", "mod", "fn", "ref"})
#: Macros whose arguments are expressions.
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
    tree = parse(code)
    checker = _Checker(read_scope(tree.root_node), crates, OwnItems(tree.root_node))
    checker.check_imports()
    checker.walk(tree.root_node, ChainMap(), 0)
    return checker.report.verdict()


def imported_crates(code: str) -> tuple[str, ...]:
    """Return the names of crates that a piece of code imports, or begins paths with."""
    tree = parse(code)
    scope = read_scope(tree.root_node)
    firsts = dict.fromkeys(leaf.path[0] for leaf in scope.leaves if leaf.path)
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        if node.type == "scoped_identifier" and (path := segments(node)) is not None:
            firsts.setdefault(path[0])
        pending += reversed(node.named_children)
    own = scope.declared | LOCAL_ROOTS | STANDARD
    return tuple(
        each
        for each in firsts
        if each not in own
        and _CRATE.fullmatch(each)
        and scope.imports.get(each, set()) <= {(each,)}
    )


def look_up_all(paths: Sequence[tuple[Segments, int]], crates: Crates) -> Verdict:
    """Look up the paths that a message mentions, each with its line."""
    lookups = Paths(crates)
    findings: list[Finding] = []
    missing: dict[str, None] = {}
    for path, line in paths:
        if path[0] in STANDARD - KNOWN or path[0] in LOCAL_ROOTS:
            continue
        names = lookups.crate(path[0])
        if names is None:
            missing.setdefault(path[0])
            continue
        # The compiler has resolved imports and traits before it wrote the message.
        answer = lookups.look_up(path, _no_trait)
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
    return Verdict(sort_findings(findings), tuple(missing))


def _no_trait(_: str) -> bool:
    return False


class _Checker:
    def __init__(self, scope: Scope, crates: Crates, own: OwnItems) -> None:
        self.report = Report()
        self._scope = scope
        self._paths = Paths(crates)
        self._resolver = Resolver(scope, self._paths)
        self._expressions = Expressions(self._resolver, self._paths, own, bind)
        self._calls = Calls(self._resolver, self._expressions, self._paths, self.report)
        self._kept: list[Tree] = []  # nodes are told apart by their places in memory

    def check_imports(self) -> None:
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
        """Tell whether all items of a crate that have its name are macros or functions."""
        if name in STANDARD or self._paths.crate(name) is None:
            return False
        found = self._paths.look_up((name, name)).found
        return bool(found) and all(each.kind in _VALUES for each in found)

    def _check(self, path: Segments, node: Node) -> None:
        """Look a path up and report the answer."""
        if path[0] in STANDARD - KNOWN or path[0] in LOCAL_ROOTS:
            return
        name = "::".join(path)
        if self._paths.crate(path[0]) is None:
            self.report.add_missing(node, name, path[0])
            return
        answer = self._paths.look_up(path, self._resolver.may_bring)
        if answer.status == "unknown" and standard().find(f"std::{name}"):
            answer = NOT_CHECKED  # ``time::Duration`` where ``use std::time`` is left out
        elif answer.suggestions and (call := called_at(node)) is not None:
            answer = self._paths.suited(answer, path, call)
        self.report.add(node, name, answer)

    def walk(self, node: Node, variables: VariableScopes, depth: int) -> None:
        """Check a node and all below it."""
        if (
            depth > _DEEPEST
            or node.type == "use_declaration"
            or self._whole(node, variables, depth)
        ):
            return
        if node.type == "impl_item":
            self._calls.implemented(node)
        if node.type in SCOPES:
            variables = variables.new_child()
        elif node.type == "call_expression":
            self._calls.call(node, variables)
        elif node.type in {"struct_expression", "struct_pattern"}:
            self._calls.fields(node)
        elif node.type == "field_expression":
            self._calls.field(node, variables)
        bind(node, variables, self._expressions)
        for child in node.named_children:
            self.walk(child, variables, depth + 1)
        if node.type == "let_declaration":
            bind_let(node, variables, self._expressions)
        elif node.type in {"call_expression", "assignment_expression"}:
            bind_filled(node, variables, self._expressions)

    def _whole(self, node: Node, variables: VariableScopes, depth: int) -> bool:
        """Check a node that is handled as a whole; False for others."""
        match node.type:
            case "scoped_identifier" | "scoped_type_identifier":
                self._path(node)
                self._inside_path(node, variables, depth)
            case "attribute_item" | "inner_attribute_item":
                self._attribute(node)
            case "macro_invocation":
                self._macro(node, variables, depth)
            case _:
                return False
        return True

    def _inside_path(self, node: Node, variables: VariableScopes, depth: int) -> None:
        """Check the generic arguments within a path."""
        pending = [node]
        while pending:
            for child in pending.pop().named_children:
                if child.type in {"scoped_identifier", "scoped_type_identifier", "generic_type"}:
                    pending.append(child)
                elif child.type in {"type_arguments", "bracketed_type"}:
                    self.walk(child, variables, depth + 1)

    def _path(self, node: Node) -> None:
        absolute = self._resolver.resolve_node(node)
        if absolute is not None:
            self._check(absolute, node)
            return
        match segments(node):
            case (owner, name):
                self._calls.own_member(owner, name, node)

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
        """Report a derive macro that is not in scope where one that is spelt alike is."""
        defined = name in DERIVES or self._resolver.is_defined(name)
        if defined or self._scope.globs or not self._paths.may_explain():
            return
        brought = DERIVES | self._scope.imports.keys()
        alike = [each for each in brought if abs(len(each) - len(name)) <= 1]
        for best in nearest(name, sorted(alike), most=1):
            if name_similarity(name, best) >= MISSPELT:
                (path, *_) = self._scope.imports.get(best, {(best,)})
                suggestion = "::".join(path)
                message = f"no derive macro {name} is in view; did you mean {suggestion}?"
                self.report.add(node, name, Answer("unknown", (), message, (suggestion,)))

    def _macro(self, node: Node, variables: VariableScopes, depth: int) -> None:
        """Check a macro call: its path, and what is certain of its arguments before expansion."""
        name = node.child_by_field_name("macro")
        if name is not None and name.type == "scoped_identifier":
            self._path(name)
        tokens = node.named_children[-1]
        if name is None or tokens.type != "token_tree":
            return
        called = text_of(name)
        if called.rpartition("::")[2] in _REBINDING:
            for each in tokens.named_children:
                variables[text_of(each)] = None
        plain = called in _PLAIN_MACROS and self._arguments(tokens, variables, depth)
        if not plain and not self._resolver.declares(called) and "quote" not in called:
            self._tokens(tokens)
            if all(each.type not in _BINDING for each in tokens.children):
                self._chains(tokens, variables, depth)

    def _tokens(self, tree: Node) -> None:
        """Check paths in tokens that begin at an import or a crate: they mean the same anywhere."""
        pending = [tree]
        while pending:
            children = pending.pop().children
            if any(each.type in {"use", "mod"} for each in children):
                continue  # names of a scope that was not read
            pending += [each for each in children if each.type == "token_tree"]
            for place, path in token_paths(children):
                certain = self._resolver.imports(path[0]) or self._paths.crate(path[0]) is not None
                absolute = self._resolver.resolve(path) if certain else None
                if absolute is not None and self._paths.crate(absolute[0]) is not None:
                    self._check(absolute, place)

    def _arguments(self, tokens: Node, variables: VariableScopes, depth: int) -> bool:
        """Check the arguments of ``println!`` and the like; False where they are no expressions."""
        return self._expression(text_of(tokens)[1:-1], tokens, 1, variables, depth)

    def _chains(self, tree: Node, variables: VariableScopes, depth: int) -> None:
        """Check what is called of variables in tokens: ``json!({"id": id.to_string()})``."""
        pending = [tree]
        while pending:
            children = pending.pop().children
            pending += [each for each in children if each.type == "token_tree"]
            for first, last in method_chains(children):
                if text_of(first) in variables:
                    start, end = first.start_byte - tree.start_byte, last.end_byte - tree.start_byte
                    text = (tree.text or b"")[start:end].decode()
                    self._expression(text, first, 0, variables, depth)

    def _expression(
        self, text: str, first: Node, further: int, variables: VariableScopes, depth: int
    ) -> bool:
        """Check expressions between commas; False where the text is something else.

        Args:
            text: it.
            first: the node with which it begins.
            further: so many characters after the node's beginning.
            variables: those in scope.
            depth: of the node.
        """
        before = "fn f() { g("
        tree = parse(f"{before}{text}); }}")
        if tree.root_node.has_error:
            return False
        self._kept.append(tree)
        outer = self.report.place
        self.report.place = self.report.at(first.start_point, further - len(before))
        for child in tree.root_node.named_children:
            for each in child.named_children:
                if each.type == "block":
                    self.walk(each, variables, depth + 1)
        self.report.place = outer
        return True
