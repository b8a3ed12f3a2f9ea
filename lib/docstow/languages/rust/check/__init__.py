"""Check Rust code against crates: imports, paths, macros, methods of certain types, and arity."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_items import FUNCTIONS, Crates, Found, standard
from docstow.languages.rust.check.expressions import SCOPES, Expressions, item_of
from docstow.languages.rust.check.own_items import OwnItems
from docstow.languages.rust.check.paths import NOT_CHECKED, Answer, Paths
from docstow.languages.rust.check.patterns import bind, bind_closure, bind_let
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import (
    LOCAL_ROOTS,
    Scope,
    Segments,
    name_of,
    parse,
    read_scope,
    segments,
    text_of,
    token_paths,
)
from docstow.languages.rust.check.std import DERIVES, KNOWN, STANDARD, is_standard
from docstow.languages.rust.check.types import (
    FUTURE,
    Type,
    Variables,
    VariableScopes,
    parse_signature,
)
from docstow.languages.shared.findings import MOST, Finding, Verdict, nearest, sort_findings
from docstow.languages.shared.likeness import name_similarity

if TYPE_CHECKING:
    from tree_sitter import Node, Point, Tree

#: Kinds whose items have no members.
_VALUES = frozenset({"function", "macro", "attribute_macro", "derive_macro", "constant"})
_BARE_IN_TEXT = re.compile(r"(?<![\w:])([A-Z]\w*)(?![\w:])")
#: Bare names that are as alike as this are the same one, misspelt.
_MISSPELT = 85.0
_PATHS_IN_TEXT = re.compile(r"\b[a-z_][\w]*(?:::\w+)+")
#: Code that is nested more deeply is not checked.
_DEEPEST = 300
#: Names that come near one, among which are methods.
_MOST_LOOKED = 9
#: Macros that bind the variables in them again, to other types.
_REBINDING = frozenset({"pin", "pin_mut", "stack_pin"})
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
        self.report = _Report()
        self._scope = scope
        self._paths = Paths(crates)
        self._resolver = Resolver(scope, self._paths)
        self._expressions = Expressions(self._resolver, self._paths, own, bind_closure)
        self._calls = _Calls(self._resolver, self._expressions, self._paths, self.report)
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
        self.report.add(node, name, answer)

    def walk(self, node: Node, variables: VariableScopes, depth: int) -> None:
        """Check a node and all below it."""
        if (
            depth > _DEEPEST
            or node.type == "use_declaration"
            or self._whole(node, variables, depth)
        ):
            return
        if node.type in SCOPES:
            variables = variables.new_child()
        elif node.type == "call_expression":
            self._calls.call(node, variables)
        elif node.type == "struct_expression":
            self._calls.literal(node)
        elif node.type == "field_expression":
            self._calls.field(node, variables)
        bind(node, variables, self._expressions)
        for child in node.named_children:
            self.walk(child, variables, depth + 1)
        if node.type == "let_declaration":
            bind_let(node, variables, self._expressions)

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
        """_Report a derive macro that is not in scope where one that is spelt alike is."""
        defined = name in DERIVES or self._resolver.is_defined(name)
        if defined or self._scope.globs or not self._paths.may_explain():
            return
        brought = DERIVES | self._scope.imports.keys()
        alike = [each for each in brought if abs(len(each) - len(name)) <= 1]
        for best in nearest(name, sorted(alike), most=1):
            if name_similarity(name, best) >= _MISSPELT:
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
        before = "fn f() { g("
        tree = parse(f"{before}{text_of(tokens)[1:-1]}); }}")
        if tree.root_node.has_error:
            return False
        self._kept.append(tree)
        outer = self.report.place
        self.report.place = self.report.at(tokens.start_point, 1 - len(before))
        for child in tree.root_node.named_children:
            for each in child.named_children:
                if each.type == "block":
                    self.walk(each, variables, depth + 1)
        self.report.place = outer
        return True


class _Calls:
    """Checks what is called and built in one piece of code.

    Args:
        resolver: resolves its names.
        expressions: the types of its expressions.
        paths: looks up its paths.
        report: where findings go.
    """

    def __init__(
        self,
        resolver: Resolver,
        expressions: Expressions,
        paths: Paths,
        report: _Report,
    ) -> None:
        self._resolver = resolver
        self._expressions = expressions
        self._paths = paths
        self._report = report

    def call(self, node: Node, variables: Variables) -> None:
        """Check a method, or the count of arguments of a function."""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or node.has_error:
            return
        given = sum(
            "comment" not in each.type and each.type != "attribute_item"
            for each in arguments.named_children
        )
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            self._method(function, given, variables)
            return
        absolute = self._resolver.resolve_node(function)
        if absolute is None:
            return
        found = self._paths.look_up(absolute).found
        if len(found) == 1 and found[0].kind in FUNCTIONS:
            self._arity(found[0], given, function, by_path=True)

    def _arity(self, found: Found, given: int, node: Node, *, by_path: bool) -> None:
        signature = parse_signature(found.signature)
        if signature is None or signature.arity is None:
            return
        if not (by_path or signature.takes_self):
            return
        wanted = signature.arity + (by_path and signature.takes_self)
        if given == wanted or self._paths.members.ambiguous(found):
            return
        name = found.path.rpartition("::")[2]
        if not by_path and self._resolver.may_bring(name) and found != self._resolver.brought(name):
            return  # a trait in scope may have one of the same name
        message = f"{found.path} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
        if not is_standard(found.path):  # signatures of the standard library have no names
            message += f": {' '.join(found.signature.split())}"
        answer = Answer("wrong_argument", (found,), message, names=found.names)
        self._report.add(node, found.path, answer)

    def _method(self, function: Node, given: int, variables: Variables) -> None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None or field.type != "field_identifier":
            return
        owner, name = self._expressions.type_of(value, variables), name_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is not None and item is None:
            self._by_bound(owner, name, field, given)
        if owner is None or item is None:
            return
        whole = f"{owner.name}::{name}"
        found = self._expressions.method(owner, name)
        if found is not None:
            answer = self._paths.look_up(tuple(found.path.split("::")))
            self._report.add(field, whole, answer)
            if not owner.through:
                self._arity(found, given, field, by_path=False)
        else:
            answer = Answer("not_checked", names=item.names)
            if self._absent(owner, item, name):
                unknown = self._unknown(item, name, whole)
                # Statements alone may lack the import of a trait that extends a common type.
                doubt = is_standard(item.path) and not self._resolver.complete
                answer = answer if doubt and not unknown.suggestions else unknown
            self._report.add(field, whole, answer)

    def _by_bound(self, owner: Type, name: str, field: Node, given: int) -> None:
        """Check a method of a value of which a trait is known."""
        item = self._paths.members.trait_of(owner.name, owner.crate)
        if item is None or owner.through:
            return
        whole = f"{item.path}::{name}"
        found = [each for each in item.names.find(whole) if each.kind == "method"]
        if found:
            self._report.add(field, whole, self._paths.look_up(tuple(whole.split("::"))))
            self._arity(found[0], given, field, by_path=False)
        elif not self._resolver.may_bring(name) and self._paths.members.trait_lacks(item, name):
            unknown = self._unknown(item, name, whole)
            near = unknown.suggestions[0].rpartition("::")[2] if unknown.suggestions else ""
            # Code without any import may lack that of a trait that extends iterators.
            if self._resolver.imports_some or name_similarity(name, near) >= _MISSPELT:
                self._report.add(field, whole, unknown)

    def field(self, node: Node, variables: Variables) -> None:
        """Check a field that is read or written."""
        value, field = node.child_by_field_name("value"), node.child_by_field_name("field")
        called = node.parent is not None and node.parent.type in {
            "call_expression",
            "generic_function",
        }
        if value is None or field is None or field.type != "field_identifier" or node.has_error:
            return
        if (
            called
            and node.parent is not None
            and node.parent.child_by_field_name("function") == node
        ):
            return
        owner, name = self._expressions.type_of(value, variables), name_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is None or item is None or item.kind != "struct":
            return
        whole = f"{item.path}::{name}"
        if (found := self._expressions.member(owner, name)) is not None:
            self._report.add(field, whole, Answer("ok", (found,), names=found.names))
        elif self._paths.members.lacks_field(item, name) and not owner.through:
            fields = [each.path for each in item.names.members(item.path) if each.kind == "field"]
            self._report.add(field, whole, self._no_field(item, name, whole, fields))

    def _no_field(self, item: Found, name: str, whole: str, fields: Sequence[str]) -> Answer:
        suggestions = nearest(name, fields, filled=True) if self._paths.may_explain() else ()
        message = self._paths.explain(item, f"field {name}", whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _absent(self, owner: Type, item: Found, name: str) -> bool:
        """Tell whether it is certain that a value has no method of a name."""
        if self._resolver.may_bring(name) or not self._paths.members.lacks(item, name):
            return False
        pointer = self._paths.look_up(tuple(owner.through.split("::"))).found
        return not any(each.names.find(f"{each.path}::{name}") for each in pointer)

    def _unknown(self, item: Found, name: str, whole: str) -> Answer:
        may = self._paths.may_explain()
        near = self._paths.members.suggest(item, name, most=_MOST_LOOKED) if may else ()
        suggestions = tuple(each for each in near if self._is_method(each))[:MOST]
        message = self._paths.explain(item, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _is_method(self, path: str) -> bool:
        found = self._paths.look_up(tuple(path.split("::"))).found
        parsed = [parse_signature(each.signature) for each in found if each.kind == "method"]
        return any(each is None or each.takes_self for each in parsed)

    def literal(self, node: Node) -> None:
        """Check the fields of ``Type { field: value }``, where all of the type's are public."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or segments(name) is None or body is None or node.has_error:
            return
        absolute = self._resolver.resolve_node(name)
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1 or found[0].kind not in {"struct", "variant"}:
            return
        owner = found[0]
        fields = [each.path for each in owner.names.members(owner.path) if each.kind == "field"]
        if not fields or "private" in owner.signature or "/*" in owner.signature:
            return
        known = frozenset(fields)
        for each in body.named_children:
            label = each.child_by_field_name("field") or each.child_by_field_name("name")
            if each.type == "shorthand_field_initializer":
                label = each.named_children[-1]
            if label is None or label.type not in {"field_identifier", "identifier"}:
                continue
            field = name_of(label)
            whole = f"{owner.path}::{field}"
            if whole in known or owner.names.undocumented.may_have(owner.path, field):
                continue
            self._report.add(label, whole, self._no_field(owner, field, whole, fields))


class _Report:
    """The findings of one piece of code."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._features: dict[str, dict[str, None]] = {}
        #: The row and column of the code at which the text begins that is checked now.
        self.place = (0, 0)

    def at(self, point: Point, further: int = 0) -> tuple[int, int]:
        """Return the row and column of the code that are meant by those of the text."""
        row, column = self.place
        return row + point.row, point.column + further + (0 if point.row else column)

    def verdict(self) -> Verdict:
        """Return all that was added."""
        features = {name: tuple(used) for name, used in self._features.items()}
        return Verdict(sort_findings(self._findings), tuple(self._missing), features)

    def add_missing(self, node: Node, name: str, crate: str) -> None:
        """Add a name of a crate of which no version is stored."""
        self._missing.setdefault(crate)
        self.add(node, name, Answer("not_checked"))

    def add(self, node: Node, name: str, answer: Answer) -> None:
        """Add the answer for a name."""
        message = answer.message
        for found in answer.found[:1]:
            used = self._features.setdefault(found.names.package, {})
            needed = found.names.index.features(found.row)
            used.update(dict.fromkeys(needed))
            extra = [
                each for each in needed if each not in found.names.undocumented.default_features
            ]
            if extra and answer.status == "ok":
                message = f"needs feature{'s' * (len(extra) > 1)} {', '.join(extra)}"
        row, column = self.at(node.start_point)
        self._findings.append(
            Finding(
                line=row + 1,
                column=column + 1,
                name=name,
                status=answer.status,
                message=message,
                suggestions=answer.suggestions,
                path=answer.found[0].path if answer.found else answer.looked_in,
                package=answer.names.package if answer.names else "",
                version=answer.names.version if answer.names else "",
            )
        )
