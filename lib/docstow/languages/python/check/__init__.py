"""Check Python code against installed packages: imports, attributes, calls and their arguments.

A name is reported only where the code leaves no doubt of what it means.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from docstow.languages.python.check import guards
from docstow.languages.python.check.constructors import constructor_parameters
from docstow.languages.python.check.inference import Inference, call_shape
from docstow.languages.python.check.member_check import MemberCheck
from docstow.languages.python.check.parse import Parsed, parse
from docstow.languages.python.check.scopes import collect_scopes, outer_nodes
from docstow.languages.python.check.value_types import LocalType, PackageType, ValueType
from docstow.languages.shared.findings import Finding, Verdict, sort_findings
from docstow.languages.shared.lookup import Answer, Names, Resolver, mismatch_of_all

#: Names that a class has through its metaclass or a decorator.
_METACLASS_NAMES = frozenset({"register", "mro", "cache_clear", "cache_info"})
#: Builtins that nobody gives to a variable; ``id`` or ``input`` are variables, too.
_BUILTIN_TYPES = frozenset(
    {
        *("str", "bytes", "bytearray", "int", "float", "complex", "bool"),
        *("list", "tuple", "dict", "set", "frozenset"),
    }
)
_LONGEST_SIGNATURE = 300


def verify(code: str, resolver: Resolver) -> Verdict:
    """Check a piece of Python: a file, an example with prompts, or half-written code.

    Args:
        code: the code.
        resolver: where packages are found.
    """
    parsed = parse(code)
    checker = _Checker(code, parsed, Names(resolver))
    unread, body = set(parsed.unread), parsed.tree.body
    for number, statement in enumerate(body):
        try:
            checker.visit(statement)
        except RecursionError:
            # Classes or values depend on each other too deeply: report where checking ended.
            unread |= {each.lineno for each in body[number:]}
            break
    return replace(checker.verdict(), unread=tuple(sorted(unread)))


class _Checker:
    def __init__(self, code: str, parsed: Parsed, names: Names) -> None:
        tree = parsed.tree
        self._names = names
        self._column = parsed.column
        self._scopes = collect_scopes(tree)
        self._scope = self._scopes[tree]
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._ignored = guards.ignored_lines(code)
        self._patched = guards.patched_attributes(tree)
        self._called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
        #: Above zero where a guard applies, so that nothing is reported.
        self._guarded = 0
        #: Nodes of definitions that were visited in the scope around them.
        self._outer: set[int] = set()
        narrowed = guards.narrowed_variables(tree)
        self._values = Inference(names, self._scopes, parsed.lost, narrowed, self._patched)
        self._member_check = MemberCheck(names, self._values.classes)

    def verdict(self) -> Verdict:
        return Verdict(sort_findings(self._findings), tuple(self._missing))

    # -- the walk ----------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        """Check a node and those below it, each in the scope it belongs to."""
        guarded = self._guarded
        if node in self._scopes:
            self._visit_scope(node)
        elif isinstance(node, ast.Try | ast.TryStar):
            self._visit_try(node)
        elif not self._check_node(node):
            self._visit_children(node)
        self._guarded = guarded

    def _visit_children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if id(child) not in self._outer:
                self.visit(child)
                self._guarded += guards.excludes_rest(child)

    def _visit_scope(self, node: ast.AST) -> None:
        """Check a node with a scope of its own; its head belongs to the scope around it."""
        scope, outer = self._scope, outer_nodes(node)
        for each in outer:
            self.visit(each)
        self._scope = self._scopes[node]
        self._guarded += guards.is_skipped(node)
        self._outer.update(map(id, outer))
        self._visit_children(node)
        self._scope = scope

    def _check_node(self, node: ast.AST) -> bool:
        """Check one node; return True where the nodes below it are done, too."""
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                is_never = isinstance(test, ast.Constant) and not test.value
                self._guarded += is_never or guards.tests_availability(test)
            case ast.BoolOp():
                self._guarded += guards.tests_availability(node)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for each in items:
                    self.visit(each)
                self._guarded += any(guards.expects_failure(each.context_expr) for each in items)
                for child in node.body:
                    self.visit(child)
                return True
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Call():
                self._call(node)
                self._guarded += guards.expects_failure(node.func)
            case ast.Attribute(ctx=ast.Load()):
                return self._attribute(node)
        return False

    def _visit_try(self, node: ast.Try | ast.TryStar) -> None:
        guarded = self._guarded
        self._guarded += guards.catches_missing_names(node)
        # A handler of a failed import is for other versions.
        for child in (*node.body, *node.handlers):
            self.visit(child)
        self._guarded = guarded
        for child in (*node.orelse, *node.finalbody):
            self.visit(child)

    def _report(self, node: ast.AST, name: str, answer: Answer, column: int | None = None) -> None:
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if column is not None:
            # A member's name may stand lines below the value that it is a member of.
            line = getattr(node, "end_lineno", None) or line
        if self._guarded or line in self._ignored:
            answer = Answer("not_checked", answer.symbol, package=answer.package)
        package, symbol = answer.package, answer.symbol
        self._findings.append(
            Finding(
                line=line,
                column=(column if column is not None else offset) + 1 + self._column,
                name=name,
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in or (symbol.path if symbol is not None else ""),
                package=package.name if package is not None else "",
                version=package.version if package is not None else "",
            )
        )

    def _look_up(self, path: str) -> Answer | None:
        """Look up a path; note its package and return None where the package is not at hand."""
        if self._names.resolver.package_for(path) is None:
            if not self._names.resolver.is_standard(path):
                self._missing.setdefault(path.partition(".")[0])
            return None
        return self._names.look_up(path)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        prefix = ""
        if isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                return
            prefix = f"{node.module}."
        for each in node.names:
            path = prefix[:-1] if prefix and each.name == "*" else f"{prefix}{each.name}"
            answer = self._look_up(path)
            if answer is not None:
                # A comment at the statement is for all its lines.
                ignored = node.lineno in self._ignored
                self._report(node if ignored or each.lineno == node.lineno else each, path, answer)

    # -- attributes --------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> bool:
        """Check a chain of attributes; return True where the nodes below it are done, too."""
        path = self._values.import_path(node, self._scope)
        if path is not None:
            if not _may_be_variable(path):
                self._imported_attribute(node, path)
            return True
        owner = self._values.type_of(node.value, self._scope)
        if owner is not None and node.attr not in self._patched:
            self._member(node, owner)
        return False

    def _imported_attribute(self, node: ast.Attribute, path: str) -> None:
        answer = self._look_up(path)
        if answer is None or self._is_patched(path) or node.attr in _METACLASS_NAMES:
            return
        if answer.status == "not_checked" and not answer.whole:
            owner = self._values.members.value_at(path.rpartition(".")[0])
            if owner is not None and self._member(node, owner):
                return
        self._report(node, path, answer)

    def _member(self, node: ast.Attribute, owner: ValueType) -> bool:
        """Check a member of a value; return whether there is anything to report."""
        called = id(node) in self._called
        result = self._member_check.check(owner, node.attr, called=called)
        if result is not None:
            self._report(node, *result, (node.end_col_offset or 0) - len(node.attr))
        return result is not None

    def _is_patched(self, path: str) -> bool:
        return any(part in self._patched for part in path.split(".")[1:])

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        if any(isinstance(each, ast.Constant) and each.value is ... for each in node.args):
            return  # ``f(...)`` leaves the arguments to the reader.
        path, unbound = self._values.import_path(node.func, self._scope), False
        if path is None:
            called = self._values.type_of(node.func, self._scope)
            if isinstance(called, LocalType) and called.is_class:
                self._local_call(node, called)
                return
            path = self._member_path(node.func)
        elif not self._is_patched(path):
            answer = self._names.look_up(path)
            unbound = answer.symbol is not None and answer.symbol.kind == "method"
            if aliased := self._values.members.aliased_method(path):
                path = aliased
            elif not answer.whole and isinstance(node.func, ast.Attribute):
                owner = self._values.members.value_at(path.rpartition(".")[0])
                path = f"{owner.path}.{node.func.attr}" if isinstance(owner, PackageType) else ""
        else:
            return
        if path:
            self._arguments(node, path, unbound=unbound)

    def _member_path(self, function: ast.expr) -> str:
        """Return the path of the package's method that a value has; empty for anything else."""
        if not isinstance(function, ast.Attribute) or function.attr in self._patched:
            return ""
        owner = self._values.type_of(function.value, self._scope)
        if isinstance(owner, LocalType):
            owner = self._values.classes.inherited_from(owner, function.attr)
        elif owner is not None and (len(owner.paths) > 1 or owner.open_ended):
            return ""
        return f"{owner.path}.{function.attr}" if owner is not None else ""

    def _local_call(self, node: ast.Call, called: LocalType) -> None:
        parameters = constructor_parameters(called, self._values)
        if parameters is None:
            return
        wrong = mismatch_of_all([parameters], call_shape(node))
        if wrong is not None:
            title = called.node.name
            message = f"{title} {wrong.reason}"
            answer = Answer("wrong_argument", message=message, suggestions=wrong.suggestions)
            self._report(node, f"{title}({wrong.keyword}=)" if wrong.keyword else title, answer)

    def _arguments(self, node: ast.Call, path: str, *, unbound: bool) -> None:
        answer = self._names.look_up(path)
        symbol = answer.symbol
        if symbol is None or not answer.whole:
            return
        # A call of an enumeration looks a member up, or makes another enumeration.
        if symbol.kind not in {"function", "method", "class"} or path.startswith("enum."):
            return
        overloads = symbol.overloads if symbol.parameters is None else (symbol.parameters,)
        wrong = mismatch_of_all(overloads, call_shape(node), unbound=unbound)
        if wrong is not None:
            signature = " ".join(symbol.signature.split())[:_LONGEST_SIGNATURE]
            answer = replace(
                answer,
                status="wrong_argument",
                message=f"{path} {wrong.reason}: {signature}",
                suggestions=wrong.suggestions,
            )
            name = f"{path}({wrong.keyword}=)" if wrong.keyword else f"{path}()"
            self._report(node, name, answer)


def _may_be_variable(path: str) -> bool:
    """Return whether a builtin's name may be a variable around a fragment: ``input.shape``."""
    first, name, *_ = f"{path}.".split(".")
    return first == "builtins" and name not in _BUILTIN_TYPES
