"""Rust code against crates: imports, paths, macros, methods where the type is certain, and arity.

This room knows Rust's syntax and walks it with the types it is sure of. It does not know how paths
are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from docstow.verify.findings import Finding, Verdict, in_order
from docstow.verify.nearest import nearest
from docstow.verify.rust_names import STANDARD, TYPES, Crates, Found
from docstow.verify.rust_paths import Answer, explain, look_up, member_is_absent
from docstow.verify.rust_scope import LOCAL_ROOTS, Scope, Segments, scope, segments
from docstow.verify.rust_types import Type, parser, signature, text_of
from docstow.verify.rust_values import FUNCTIONS, Values
from docstow.verify.rust_view import View

if TYPE_CHECKING:
    from tree_sitter import Node

#: Kinds that no path leads through.
_VALUES = frozenset({"function", "macro", "attribute_macro", "derive_macro", "constant"})
_PATHS_IN_TEXT = re.compile(r"\b[a-z_][\w]*(?:::\w+)+")
_DEEPEST = 400
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
    tree = parser().parse(code.encode())
    root = tree.root_node
    checker = _Checker(scope(root), crates)
    checker.imports()
    checker.walk(root, {}, 0)
    return checker.verdict()


def look_up_all(paths: Sequence[tuple[Segments, int]], crates: Crates) -> Verdict:
    """Paths that a message speaks of, each with its line."""
    findings: list[Finding] = []
    missing: dict[str, None] = {}
    for path, line in paths:
        if path[0] in STANDARD or path[0] in LOCAL_ROOTS:
            continue
        if crates.crate(path[0]) is None:
            missing.setdefault(path[0])
            continue
        # What stands in a message was compiled with its imports, and traits were looked through.
        answer = look_up(path, crates, lambda _: False)
        names = answer.names or crates.crate(path[0])
        findings.append(
            Finding(
                line=line,
                column=1,
                name="::".join(path),
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in,
                package=names.package if names is not None else "",
                version=names.version if names is not None else "",
            )
        )
    return Verdict(in_order(findings), tuple(missing))


class _Checker(Values, View):
    def __init__(self, names: Scope, crates: Crates) -> None:
        super().__init__(names, crates)
        self._findings: list[Finding] = []
        self._row = 0
        self._missing: dict[str, None] = {}
        self._features: dict[str, dict[str, None]] = {}

    def verdict(self) -> Verdict:
        features = {name: tuple(used) for name, used in self._features.items()}
        return Verdict(in_order(self._findings), tuple(self._missing), features)

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
        if name in STANDARD or self._crates.crate(name) is None:
            return False
        found = look_up((name, name), self._crates).found
        return bool(found) and all(each.kind in _VALUES for each in found)

    def _check(self, path: Segments, node: Node) -> Answer | None:
        """Look a path up and note what is found; nothing is noted of the standard library."""
        if path[0] in STANDARD or path[0] in LOCAL_ROOTS:
            return None
        if self._crates.crate(path[0]) is None:
            self._missing.setdefault(path[0])
            self._note(node, "::".join(path), Answer("not_checked"))
            return None
        answer = look_up(path, self._crates, self._by_trait)
        self._note(node, "::".join(path), answer)
        return answer

    def _note(self, node: Node, name: str, answer: Answer) -> None:
        message = answer.message
        for found in answer.found[:1]:
            used = self._features.setdefault(found.names.package, {})
            needed = found.names.index.features(found.row)
            used.update(dict.fromkeys(needed))
            extra = [each for each in needed if each not in found.names.defaults]
            if extra and answer.status == "ok":
                message = f"needs feature{'s' * (len(extra) > 1)} {', '.join(extra)}"
        place = node.start_point
        self._findings.append(
            Finding(
                line=place.row + 1 + self._row,
                column=place.column + 1,
                name=name,
                status=answer.status,
                message=message,
                suggestions=answer.suggestions,
                path=answer.found[0].path if answer.found else answer.looked_in,
                package=answer.names.package if answer.names else "",
                version=answer.names.version if answer.names else "",
            )
        )

    # -- the walk ----------------------------------------------------------------------------

    def walk(self, node: Node, known: dict[str, Type | None], depth: int) -> None:
        """Check what stands below a node; ``known`` has the variables whose types are certain."""
        if depth > _DEEPEST or node.type == "use_declaration" or self._whole(node, known, depth):
            return
        match node.type:
            case "block" | "function_item" | "closure_expression" | "match_arm" | "impl_item":
                known = dict(known)
            case "for_expression" | "if_expression" | "while_expression" | "match_block":
                known = dict(known)
            case "call_expression":
                self._call(node, known)
            case "struct_expression":
                self._literal(node)
        self._bind(node, known)
        for child in node.named_children:
            self.walk(child, known, depth + 1)
        if node.type == "let_declaration":
            self._bind_let(node, known)

    def _whole(self, node: Node, known: dict[str, Type | None], depth: int) -> bool:
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

    def _inside_path(self, node: Node, known: dict[str, Type | None], depth: int) -> None:
        """Generic arguments within a path have paths of their own."""
        for child in node.named_children:
            if child.type in {"scoped_identifier", "scoped_type_identifier", "generic_type"}:
                self._inside_path(child, known, depth)
            elif child.type in {"type_arguments", "bracketed_type"}:
                self.walk(child, known, depth + 1)

    def _path(self, node: Node) -> Answer | None:
        absolute = self._absolute(node)
        return self._check(absolute, node) if absolute is not None else None

    def _attribute(self, node: Node) -> None:
        attribute = node.named_children[0] if node.named_children else None
        if attribute is None or attribute.has_error or not attribute.named_children:
            return
        head = attribute.named_children[0]
        if head.type == "scoped_identifier":
            self._path(head)
        elif text_of(head) == "derive":
            for found in _PATHS_IN_TEXT.findall(text_of(attribute)):
                path = tuple(found.split("::"))
                absolute = self._scope.expand(path) if path[0] in self._scope.imports else path
                if absolute and absolute[0] not in self._scope.declared:
                    self._check(absolute, node)

    def _macro(self, node: Node, known: dict[str, Type | None], depth: int) -> None:
        """The macro itself; what stands inside is not Rust before it is expanded."""
        name = node.child_by_field_name("macro")
        if name is not None and name.type == "scoped_identifier":
            self._path(name)
        if name is not None and text_of(name) in _PLAIN_MACROS:
            self._arguments(node, known, depth)

    def _arguments(self, node: Node, known: dict[str, Type | None], depth: int) -> None:
        """The arguments of ``println!`` and the like are expressions."""
        tokens = node.named_children[-1]
        if tokens.type != "token_tree" or depth > _DEEPEST:
            return
        inside = text_of(tokens)[1:-1]
        root = parser().parse(f"fn f() {{ g({inside}); }}".encode()).root_node
        if root.has_error:
            return
        before = self._row
        self._row += tokens.start_point.row
        for child in root.named_children:
            for each in child.named_children:
                if each.type == "block":
                    self.walk(each, known, depth + 1)
        self._row = before

    # -- variables ---------------------------------------------------------------------------

    def _bind(self, node: Node, known: dict[str, Type | None]) -> None:
        """Names that a node brings into view before its parts are looked at."""
        if node.type in {"function_item", "closure_expression"}:
            parameters = node.child_by_field_name("parameters")
            for each in parameters.named_children if parameters is not None else ():
                self._bind_parameter(each, known)
        elif node.type in {"match_arm", "for_expression", "let_condition"}:
            pattern = node.child_by_field_name("pattern")
            if pattern is not None:
                _forget(pattern, known)
        elif node.type in {"if_expression", "while_expression", "let_chain"}:
            for each in _conditions(node):
                pattern = each.child_by_field_name("pattern")
                if pattern is not None:
                    _forget(pattern, known)

    def _bind_parameter(self, node: Node, known: dict[str, Type | None]) -> None:
        if node.type != "parameter":
            return _forget(node, known)
        pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        if pattern is None:
            return None
        _forget(pattern, known)
        if pattern.type == "identifier" and annotation is not None:
            known[text_of(pattern)] = self._annotated(annotation)
        return None

    def _bind_let(self, node: Node, known: dict[str, Type | None]) -> None:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        annotation = node.child_by_field_name("type")
        if pattern is None:
            return
        before = dict(known)
        _forget(pattern, known)
        if pattern.type == "identifier" and not node.has_error:
            if annotation is not None:
                known[text_of(pattern)] = self._annotated(annotation)
            elif value is not None:
                known[text_of(pattern)] = self._type(value, before)

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: Node, known: dict[str, Type | None]) -> None:
        function, arguments = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        )
        if function is None or arguments is None or node.has_error:
            return
        given = sum(
            "comment" not in each.type and each.type != "attribute_item"
            for each in arguments.named_children
        )
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            self._method(function, given, known)
            return
        path = segments(function)
        if path is None:
            return
        absolute = self._absolute(function) if len(path) > 1 else self._named(path)
        if absolute is None or absolute[0] in STANDARD:
            return
        answer = look_up(absolute, self._crates)
        functions = [each for each in answer.found if each.kind in FUNCTIONS]
        if len(functions) == 1 == len(answer.found):
            self._arity(functions[0], given, function, by_path=True)

    def _arity(self, found: Found, given: int, node: Node, *, by_path: bool) -> None:
        read = signature(found.signature)
        if read is None or read.arity is None:
            return
        if not by_path and not read.takes_self:
            return
        wanted = read.arity + (1 if by_path and read.takes_self else 0)
        if given == wanted:
            return
        declared = " ".join(found.signature.split())
        message = (
            f"{found.path} takes {wanted} argument{'s' * (wanted != 1)}, not {given}: {declared}"
        )
        self._note(node, found.path, Answer("wrong_argument", (found,), message, names=found.names))

    def _method(self, function: Node, given: int, known: dict[str, Type | None]) -> None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None or field.type != "field_identifier":
            return
        owner, name = self._type(value, known), text_of(field)
        if owner is None or owner.crate is None:
            return
        whole = f"{owner.name}::{name}"
        found = self._inherent(owner, name)
        if found is not None:
            answer = look_up(tuple(whole.split("::")), self._crates)
            if answer.found:
                self._note(field, whole, answer)
            self._arity(found, given, field, by_path=False)
            return
        types = [each for each in owner.crate.find(owner.name) if each.kind in TYPES]
        absent = (
            len(types) == 1
            and not owner.crate.find(whole)
            and not owner.crate.hides(owner.name, name)
            and not owner.crate.may_deref(owner.name, name)
            and not self._by_trait(name)
            and member_is_absent(types[0], name, self._crates)
        )
        if not absent:
            self._note(field, whole, Answer("not_checked", names=owner.crate))
            return
        methods = [each.path for each in owner.crate.members(owner.name) if each.kind == "method"]
        suggestions = owner.crate.suggest(owner.name, name, anywhere=False)
        suggestions = tuple(each for each in suggestions if each in methods)
        message = explain(types[0], name, whole, suggestions, owner.crate, self._crates)
        answer = Answer("unknown", (), message, suggestions, owner.crate, owner.name)
        self._note(field, whole, answer)

    # -- literals ----------------------------------------------------------------------------

    def _literal(self, node: Node) -> None:
        """The fields of ``Type { field: value }``, where all of the type's are public."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or node.has_error:
            return
        path = segments(name)
        if path is None:
            return
        absolute = self._absolute(name) if len(path) > 1 else self._named(path)
        if absolute is None or absolute[0] in STANDARD:
            return
        found = look_up(absolute, self._crates).found
        if len(found) != 1 or found[0].kind not in {"struct", "variant"}:
            return
        owner = found[0]
        fields = [each.path for each in owner.names.members(owner.path) if each.kind == "field"]
        if not fields or "private" in owner.signature or "/*" in owner.signature:
            return
        for each in body.named_children:
            label = each.child_by_field_name("field") or each.child_by_field_name("name")
            if each.type == "shorthand_field_initializer":
                label = each.named_children[-1]
            if label is None or label.type not in {"field_identifier", "identifier"}:
                continue
            whole = f"{owner.path}::{text_of(label)}"
            if whole in fields or owner.names.hides(owner.path, text_of(label)):
                continue
            suggestions = nearest(text_of(label), fields)
            message = explain(
                owner, f"field {text_of(label)}", whole, suggestions, owner.names, self._crates
            )
            answer = Answer("unknown", (), message, suggestions, owner.names, owner.path)
            self._note(label, whole, answer)


def _forget(pattern: Node, known: dict[str, Type | None]) -> None:
    """Names that a pattern may bind hide those of the same name outside."""
    if pattern.type in {"identifier", "shorthand_field_identifier"}:
        known[text_of(pattern)] = None
    for child in pattern.named_children:
        _forget(child, known)


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        for child in condition.named_children:
            if child.type == "let_condition":
                yield child
