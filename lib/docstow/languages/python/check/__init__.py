"""Check Python code against installed packages: imports, attributes, calls and their arguments.

A name is reported only where the code leaves no doubt of what it means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.check.annotations import LocalType, PackageType, ValueType
from docstow.languages.python.check.artists import mismatch_of_artist
from docstow.languages.python.check.certainty import (
    is_common_base,
    is_conclusive,
    is_told,
    is_unheard_of,
    may_be_of_middleware,
    subclass_may_have,
    subclass_may_take,
)
from docstow.languages.python.check.checked import Checked
from docstow.languages.python.check.engine_keywords import mismatch_of_engine
from docstow.languages.python.check.fitting import Surroundings
from docstow.languages.python.check.handed_on import handed_call
from docstow.languages.python.check.inference import Inference
from docstow.languages.python.check.narrowing import tested_classes
from docstow.languages.python.check.origins import with_unheard_of
from docstow.languages.python.check.parse import (
    Defined,
    Import,
    Parsed,
    Scope,
    collect_scopes,
    outer_nodes,
    parse,
)
from docstow.languages.python.check.passed import call_shape, place_of
from docstow.languages.python.check.prefixed import is_of_part, mismatch_of_prefixed
from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.syntax import Function, dotted
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.findings import ALLOWED_FOR, Finding, Verdict, sort_findings
from docstow.languages.shared.likeness import name_similarity
from docstow.languages.shared.lookup import (
    Answer,
    Installed,
    Mismatch,
    Names,
    PassedArguments,
    Resolver,
    absent,
    mismatch,
    mismatch_of_all,
)
from docstow.languages.shared.surface import Parameter, Symbol

#: Names that a class has through its metaclass or a decorator.
METACLASS_NAMES = frozenset({"register", "mro", "cache_clear", "cache_info"})
#: Builtins that nobody gives to a variable; ``id`` or ``input`` are variables, too.
_BUILTIN_TYPES = frozenset(
    {
        *("str", "bytes", "bytearray", "int", "float", "complex", "bool"),
        *("list", "tuple", "dict", "set", "frozenset"),
    }
)
_LONGEST_SIGNATURE = 300
#: Words of a condition that tests which names there are.
_AVAILABILITY = lazy_pattern(
    r"hasattr|getattr|version_info|__version__|hexversion|VERSION|\bPY|platform|find_spec"
    r"|_AVAILABLE|HAS_|HAVE_|IS_"
)
#: The same of variables, of functions and of what ``self`` holds: other objects have versions, too.
_AVAILABILITY_OF_NAME = lazy_pattern(r"version|has_")
#: Exceptions that code catches where a name may be missing.
_CAUGHT = lazy_pattern(
    r"Import|ModuleNotFound|Attribute|TypeError|(?<![\w.])(?:Base)?Exception\b|Warning|(?<![\w.])\w*Errors\b"
)
#: Calls whose code is meant to fail.
_EXPECTING = lazy_pattern(r"raises|Raises|warns|Warns|suppress|\bpatch\b")
#: Packages whose plugins get no further keywords of their functions: those of matplotlib draw.
_PLUGINS_WITHOUT_KEYWORDS = frozenset({"matplotlib"})
#: Modules beside a missing one that may have what is imported of it, and paths that are suggested.
_MOST_BESIDE = 80
_MOST_SUGGESTED = 3
#: Functions that test of which kind a value is.
_OF_KIND = lazy_pattern(
    r"is_?(?:an?_?)?(?:str|text|unicode|bytes|seq|list|tuple|dict|map|num|int|float|func|array|iter)",
    re.IGNORECASE,
)
#: Functions that test what a variable is.
_NARROWING = frozenset({"isinstance", "issubclass", "hasattr", "setattr", "type", "vars"})


def verify(code: str, resolver: Resolver) -> Verdict:
    """Check a piece of Python: a file, an example with prompts, or half-written code.

    Args:
        code: the code.
        resolver: where packages are found.
    """
    own = check(code, parse(code), resolver)
    return replace(own.verdict, findings=with_unheard_of(own, own.verdict.findings))


def check(code: str, parsed: Parsed, resolver: Resolver) -> Checked:
    """Check a piece of Python that is parsed, and return what was learnt of it, too."""
    checker = _Checker(code, parsed, Names(resolver))
    unread, body = set(parsed.unread), parsed.tree.body
    for number, statement in enumerate(body):
        try:
            checker.visit(statement)
        except RecursionError:
            # Classes or values depend on each other too deeply: report where checking ended.
            unread |= {each.lineno for each in body[number:]}
            break
    verdict = replace(checker.verdict(), unread=tuple(sorted(unread)))
    return checker.checked(verdict)


class _Checker:
    def __init__(self, code: str, parsed: Parsed, names: Names) -> None:
        tree = parsed.tree
        self._parsed = parsed
        self._around = Surroundings(tree)
        self._names = names
        self._column = parsed.column
        self._scopes = collect_scopes(tree)
        self._scope = self._scopes[tree]
        _bind_stars(tree, self._scope, names)
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._ignored = _ignored_lines(code)
        self._patched = _patched_attributes(tree)
        raised = [each for node in ast.walk(tree) for each in _raised(node)]
        self._raised = frozenset(map(id, raised))
        self._raised_names = frozenset(map(dotted, raised))
        #: What is called, by the id of its node, with its call.
        self._called = {id(e.func): e for e in ast.walk(tree) if isinstance(e, ast.Call)}
        #: Variables that are made of a version.
        self._versions = {
            name
            for each in tree.body
            if isinstance(each, ast.Assign) and "version" in ast.unparse(each.value)
            for name in map(dotted, each.targets)
        } - {""}
        #: Above zero where a guard applies, so that nothing is reported.
        self._guarded = 0
        #: Nodes of definitions that were visited in the scope around them.
        self._outer: set[int] = set()
        self._narrowed = _narrowed_variables(tree)
        tested = tested_classes(tree)
        self._values = Inference(
            names, self._scopes, parsed.lost, self._narrowed, self._patched, tested
        )
        self._visited: dict[ast.AST, Scope] = {}
        self._guarded_places: set[tuple[int, int]] = set()
        self._unsure: list[tuple[ast.Attribute, ValueType]] = []
        self._unknown: list[ast.Attribute] = []

    def checked(self, verdict: Verdict) -> Checked:
        """Return a verdict with what was learnt."""
        return Checked(
            verdict=verdict,
            parsed=self._parsed,
            names=self._names,
            values=self._values,
            scopes=self._visited,
            inner_scopes=self._scopes,
            guarded=self._guarded_places,
            patched=self._patched,
            narrowed=self._narrowed,
            around=self._around,
            unsure=self._unsure,
            unknown=self._unknown,
        )

    def verdict(self) -> Verdict:
        return Verdict(sort_findings(self._findings), tuple(self._missing))

    # -- the walk ----------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        """Check a node and those below it, each in the scope it belongs to."""
        guarded = self._guarded
        self._visited[node] = self._scope
        line = getattr(node, "lineno", 0)
        if line and (guarded or line in self._ignored):
            self._guarded_places.add((line - 1, getattr(node, "col_offset", 0)))
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
                self._guarded += _excludes_rest(child)

    def _visit_scope(self, node: ast.AST) -> None:
        """Check a node with a scope of its own; its head belongs to the scope around it."""
        scope, outer = self._scope, outer_nodes(node)
        for each in outer:
            self.visit(each)
        self._scope = self._scopes[node]
        self._guarded += _is_skipped(node)
        self._outer.update(map(id, outer))
        self._visit_children(node)
        self._scope = scope

    def _check_node(self, node: ast.AST) -> bool:
        """Check one node; return True where the nodes below it are done, too."""
        match node:
            case ast.IfExp(test=ast.Constant(value=value), body=body, orelse=orelse):
                self._guarded += not value
                self.visit(body)
                self._guarded += bool(value) - (not value)
                self.visit(orelse)
                return True
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                is_never = isinstance(test, ast.Constant) and not test.value
                self._guarded += is_never or _tests_availability(test)
                self._guarded += any(getattr(e, "id", "") in self._versions for e in ast.walk(test))
            case ast.BoolOp():
                self._guarded += _tests_availability(node)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for each in items:
                    self.visit(each)
                self._guarded += any(_expects_failure(each.context_expr) for each in items)
                for child in node.body:
                    self.visit(child)
                return True
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Call():
                self._call(node)
                return _expects_failure(node.func) and self._visit_expected(node)
            case ast.Attribute(ctx=ast.Load()):
                return self._attribute(node)
        return False

    def _visit_expected(self, node: ast.Call) -> bool:
        """Check what is to be raised, not what is to raise it: ``assertRaises(Error, call)``."""
        for each in (node.func, *node.args[:1]):
            self.visit(each)
        self._guarded += 1
        for rest in (*node.args[1:], *node.keywords):
            self.visit(rest)
        return True

    def _visit_try(self, node: ast.Try | ast.TryStar) -> None:
        guarded = self._guarded
        self._guarded += _catches_missing_names(node)
        # A handler of a failed import is for other versions.
        for child in (*node.body, *(each for one in node.handlers for each in one.body)):
            self.visit(child)
        self._guarded = guarded
        # What it is to catch is looked up outside of what the handlers protect.
        for kind in (each.type for each in node.handlers if each.type is not None):
            self.visit(kind)
        for child in (*node.orelse, *node.finalbody):
            self.visit(child)

    def _report(self, node: ast.AST, name: str, answer: Answer, column: int | None = None) -> None:
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if column is not None:
            # A member's name may stand lines below the value that it is a member of.
            line = getattr(node, "end_lineno", None) or line
        if self._guarded or line in self._ignored:
            answer = Answer(
                "not_checked", answer.symbol, package=answer.package, reason=ALLOWED_FOR
            )
        is_called = name == f"{answer.looked_in}.{answer.absent}"
        call = self._called.get(id(node)) if is_called else None
        shape = call_shape(call, self._around) if call is not None else None
        is_raised = id(node) in self._raised or (
            isinstance(node, ast.ImportFrom | ast.alias) and answer.absent in self._raised_names
        )
        answer = self._names.explain(answer, shape, is_raised=is_raised)
        column = (column if column is not None else offset) + 1 + self._column
        self._findings.append(answer.finding(name, line, column))

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
            if answer is not None and isinstance(node, ast.ImportFrom):
                answer = self._with_source(node, answer)
            if answer is not None:
                # A comment at the statement is for all its lines.
                ignored = node.lineno in self._ignored
                self._report(node if ignored or each.lineno == node.lineno else each, path, answer)

    def _with_source(self, node: ast.ImportFrom, answer: Answer) -> Answer:
        """Return an answer that suggests first what has all names of a missing module."""
        package, parent, module = answer.package, answer.looked_in, f"{node.module}."
        missing = f"{parent}.{answer.absent}"
        if not answer.absent or package is None or not module.startswith(f"{missing}."):
            return answer
        near = self._names.suggest(package, parent, answer.absent, "module")
        near = near_modules(package, missing, module[len(missing) : -1], node, near)
        message = absent(package, "module", parent, answer.absent, near)
        return replace(answer, absent="", message=message, suggestions=near)

    # -- attributes --------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> bool:
        """Check a chain of attributes; return True where the nodes below it are done, too."""
        path = self._values.import_path(node, self._scope)
        if path is not None:
            if not _may_be_variable(path):
                self._imported_attribute(node, path)
            return True
        owner = self._values.type_of(node.value, self._scope)
        if node.attr not in self._patched:
            if owner is not None:
                self._member(node, owner)
            else:
                self._unknown.append(node)
        return False

    def _imported_attribute(self, node: ast.Attribute, path: str) -> None:
        answer = self._look_up(path)
        if answer is None or self._is_patched(path) or node.attr in METACLASS_NAMES:
            return
        if answer.package is not None and answer.package.imported_as:
            return  # The import is wrong.
        if answer.status == "not_checked" and not answer.whole:
            owner = self._values.members.value_at(path.rpartition(".")[0])
            if owner is not None and self._member(node, owner):
                return
        self._report(node, path, answer)

    def _member(self, node: ast.Attribute, owner: ValueType) -> bool:
        """Check a member of a value; return whether there is anything to report."""
        call = self._called.get(id(node))
        shape = call_shape(call, self._around) if call is not None else None
        result = self._check_member(owner, node.attr, shape)
        if result is not None:
            self._report(node, *result, (node.end_col_offset or 0) - len(node.attr))
        if isinstance(owner, LocalType):
            is_unsure = result is None and not self._values.classes.has_member(owner, node.attr)
        else:
            is_unsure = result is not None and result[1].status == "not_checked"
            self._unknown += [node] if is_unsure else []
        self._unsure += [(node, owner)] if is_unsure else []
        return result is not None

    def _check_member(
        self, owner: ValueType, name: str, call: PassedArguments | None
    ) -> tuple[str, Answer] | None:
        """Return a member's path and the answer to it; None where there is nothing to report."""
        called = call is not None
        if isinstance(owner, LocalType):
            # What the code's own class has not, a type checker tells.
            base = self._values.classes.inherited_from(owner, name)
            path = f"{base.path}.{name}" if base is not None else ""
            return (path, self._names.look_up(path)) if path else None
        path, package = f"{owner.path}.{name}", owner.package
        if package.symbol(path) is not None:
            return path, self._names.look_up(path)
        may_have = (
            not owner.certainly_lacks(name)
            or is_told(owner, name)
            or may_be_of_middleware(owner, name, called=called)
            or is_common_base(owner)
            or subclass_may_have(owner, name)
            or self._values.classes.subclass_has(owner, name)
            or self._values.is_extended_with(owner, name)
        )
        # What is near costs more than the rest, and is of use where the name is absent alone.
        near = () if may_have else self._names.suggest(package, owner.path, name, call=call)
        is_missing = not may_have and (
            is_conclusive(owner, name, near, called=called)
            or is_unheard_of(owner, name, called=called)
        )
        if not is_missing:
            return path, Answer("not_checked", package=package)
        near = near or self._names.offer(package, owner.path, name, call)
        message = absent(package, "class", owner.path, name, near)
        return path, Answer(
            "unknown", message=message, suggestions=near, looked_in=owner.path, package=package
        )

    def _is_patched(self, path: str) -> bool:
        return any(part in self._patched for part in path.split(".")[1:])

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        if any(isinstance(each, ast.Constant) and each.value is ... for each in node.args):
            return  # ``f(...)`` leaves the arguments to the reader.
        path, unbound = self._called_path(node.func), False
        others: Sequence[str] = ()
        if path is None:
            called = self._values.type_of(node.func, self._scope)
            if isinstance(called, LocalType) and called.is_class:
                # ``cls`` may be a subclass, whose constructor is another one.
                if not called.is_receiver:
                    self._local_call(node, called)
                return
            path, *others = self._member_paths(node.func) or [""]
            # ``Class.method(instance)`` has the receiver among its arguments.
            owner = self._values.type_of(getattr(node.func, "value", node.func), self._scope)
            unbound = owner is not None and owner.is_class
            symbol = self._names.look_up(path).symbol if path else None
            # A function of a module that a class binds gets the receiver, too.
            unbound = unbound or (symbol is not None and symbol.kind == "function")
        elif not self._is_patched(path):
            answer = self._names.look_up(path)
            is_alias = answer.symbol is not None and answer.symbol.kind == "attribute"
            if is_alias or not answer.whole:
                self._keyword_of_compiled(node, path, answer)
            unbound = answer.symbol is not None and answer.symbol.kind == "method"
            owner_path = path.rpartition(".")[0]
            if aliased := self._values.members.aliased_method(path):
                path = aliased
            elif protocol := self._values.members.called_protocol(path):
                self._arguments(node, protocol, unbound=False, title=path)
                return
            elif unbound and self._values.members.value_at(owner_path) is None:
                path = ""  # A module names a method that has its receiver already.
            elif not answer.whole and isinstance(node.func, ast.Attribute):
                owner = self._values.members.value_at(owner_path)
                path = f"{owner.path}.{node.func.attr}" if isinstance(owner, PackageType) else ""
        else:
            return
        if path:
            self._arguments(node, path, unbound=unbound, others=others)
            self._handed_on(node, path)

    def _called_path(self, function: ast.expr) -> str | None:
        """Return the path of what is called, that of the class for ``Stream[str](size=1)``."""
        if not isinstance(function, ast.Subscript):
            return self._values.import_path(function, self._scope)
        path = self._values.import_path(function.value, self._scope)
        symbol = self._names.look_up(path).symbol if path is not None else None
        return path if symbol is not None and symbol.kind == "class" else None

    def _handed_on(self, node: ast.Call, path: str) -> None:
        """Report a keyword that a call hands on to a function which does not take it."""
        handed = handed_call(node, path, self._names.look_up(path).package)
        if handed is None:
            return
        target = self._values.import_path(handed.func, self._scope)
        paths = [target] if target is not None else self._member_paths(handed.func)
        if paths and not self._is_patched(paths[0]):
            self._arguments(handed, paths[0], unbound=True, others=paths[1:])
            return
        name = handed.func.id if isinstance(handed.func, ast.Name) else ""
        match self._scope.find(name):
            case _, [Defined(ast.FunctionDef(decorator_list=[]) as function)]:
                forms = [parameters(function.args)]
                wrong = mismatch_of_all(forms, call_shape(handed, self._around), unbound=True)
                if wrong is not None:
                    self._report_mismatch(handed, name, wrong, Answer("wrong_argument"))

    def _member_paths(self, function: ast.expr) -> list[str]:
        """Return the paths of the packages' methods that a value has, one for each of its types."""
        if not isinstance(function, ast.Attribute) or function.attr in self._patched:
            return []
        owner = self._values.type_of(function.value, self._scope)
        if isinstance(owner, LocalType):
            owner = self._values.classes.inherited_from(owner, function.attr)
        if owner is None or owner.open_ended:
            return []
        return [f"{each}.{function.attr}" for each in owner.paths]

    def _local_call(self, node: ast.Call, called: LocalType) -> None:
        parameters = self._values.classes.constructor_parameters(called)
        above = self._values.classes.constructor_owner(called) if parameters is None else None
        symbol = above.package.symbol(above.path) if above is not None else None
        overloads = symbol.forms if symbol is not None else ()
        wrong = mismatch_of_all(
            overloads if parameters is None else [parameters], call_shape(node, self._around)
        )
        if wrong is not None:
            package = above.package if above is not None else None
            answer = Answer("wrong_argument", symbol, package=package)
            self._report_mismatch(node, called.node.name, wrong, answer)

    def _arguments(
        self,
        node: ast.Call,
        path: str,
        *,
        unbound: bool,
        title: str = "",
        others: Sequence[str] = (),
    ) -> None:
        """Report what is wrong with the arguments of a call.

        Args:
            node: the call.
            path: of what is called.
            unbound: the receiver may be among the arguments.
            title: what the finding calls it; empty: its path.
            others: the paths of what may be called in its place, all of which must refuse it.
        """
        title = title or path
        wrong = self._mismatch(node, path, unbound=unbound)
        if wrong is None or any(
            self._mismatch(node, each, unbound=unbound) is None for each in others
        ):
            return
        if wrong.keyword and isinstance(node.func, ast.Attribute) and not unbound:
            owner = self._values.type_of(node.func.value, self._scope)
            if isinstance(owner, PackageType) and subclass_may_take(
                owner, node.func.attr, wrong.keyword, named=True
            ):
                return
        self._report_mismatch(node, title, wrong, self._names.look_up(path))

    def _report_mismatch(
        self, node: ast.Call, title: str, wrong: Mismatch, answer: Answer, message: str = ""
    ) -> None:
        """Report why a call cannot work.

        Args:
            node: the call.
            title: what the finding calls what is called.
            wrong: why.
            answer: what is called.
            message: what to say; empty: why, and its signature.
        """
        answer = replace(
            answer,
            status="wrong_argument",
            message=message or wrong_call(title, wrong.reason, answer.symbol),
            suggestions=wrong.suggestions(),
        )
        name = f"{title}({wrong.keyword}=)" if wrong.keyword else f"{title}()"
        self._report(place_of(node, wrong.keyword), name, answer)

    def _mismatch(self, node: ast.Call, path: str, *, unbound: bool) -> Mismatch | None:
        """Return why a call is certainly not what a function, method or class takes."""
        answer = self._names.look_up(path)
        symbol = answer.symbol
        if symbol is None or not answer.whole:
            return None
        # A call of an enumeration looks a member up, or makes another enumeration.
        if symbol.kind not in {"function", "method", "class"} or path.startswith("enum."):
            return None
        forms = symbol.forms
        wrong = mismatch_of_all(forms, call_shape(node, self._around), unbound=unbound)
        is_open = any(each.kind == "var_keyword" for one in forms for each in one)
        if wrong is None and (is_open or not forms):
            wrong = self._keyword_of_nobody(node, path, answer)
        owner = answer.package if wrong is not None and symbol.kind == "method" else None
        if owner is not None and self._values.is_replaced(owner, path):
            return None
        return wrong

    def _keyword_of_compiled(self, node: ast.Call, path: str, answer: Answer) -> None:
        """Report a keyword that no signature has which a compiled module keeps in its texts.

        Without signatures it takes no keyword that is no word of its file.
        """
        surface = answer.package.surface if answer.package is not None else None
        if not isinstance(surface, PythonSurface) or not node.keywords:
            return
        shape, forms = call_shape(node, self._around), surface.embedded(path)
        wrong = mismatch_of_all([*forms.values()], shape, unbound=True)
        if wrong is not None:
            message = f"{path} {wrong.reason}: {next(iter(forms))[:_LONGEST_SIGNATURE]}"
            self._report_mismatch(node, path, wrong, answer, message)
            return
        keyword = next((e for e in shape.keywords if surface.is_compiled_without(path, e)), "")
        if keyword and not forms:
            wrong = Mismatch(f"has no parameter {keyword}", shape, keyword=keyword)
            message = f"{path} {wrong.reason}: its compiled module has no such word."
            self._report_mismatch(node, path, wrong, answer, message)

    def _keyword_of_nobody(self, node: ast.Call, path: str, answer: Answer) -> Mismatch | None:
        """Return what is wrong with a keyword that nothing takes that a function hands it to.

        That may be a decorator of the function's own package, or what gets its further keywords.
        """
        surface = answer.package.surface if answer.package is not None else None
        if not isinstance(surface, PythonSurface) or not node.keywords:
            return None
        shape = call_shape(node, self._around)
        if answer.symbol is not None:
            wrong = mismatch_of_prefixed(surface, answer.symbol, shape)
            if wrong is None:
                wrong = mismatch_of_engine(surface, answer.symbol, node, shape)
            if wrong is None:
                wrong = mismatch_of_artist(surface, answer.symbol, path, shape, self._parsed.text)
            if wrong is not None:
                return wrong
        taken: Sequence[Parameter] | None = surface.undecorated(path)
        may_take: Callable[[str], bool] = partial(surface.decorated_may_take, path)
        hands_on = not surface.has_plugins or surface.package.name in _PLUGINS_WITHOUT_KEYWORDS
        if taken is None and hands_on:
            taken, may_take = surface.options(path), surface.may_take
        while taken is not None and (wrong := mismatch(taken, shape, unbound=True)) is not None:
            is_known = self._is_said(wrong.keyword) or is_of_part(path, wrong.keyword, taken)
            if not is_known and not may_take(wrong.keyword):
                return wrong
            taken = (*taken, Parameter(wrong.keyword, "keyword_only", required=False))
        return None

    def _is_said(self, keyword: str) -> bool:
        """Return whether the code has a word otherwise than as a keyword."""
        given = sum(
            isinstance(e, ast.keyword) and e.arg == keyword for e in ast.walk(self._parsed.tree)
        )
        return len(re.findall(rf"\b{re.escape(keyword)}\b", self._parsed.text)) > given


def near_modules(
    package: Installed, missing: str, below: str, node: ast.ImportFrom, near: Sequence[str]
) -> tuple[str, ...]:
    """Return what may be meant by a module that is not there, what has all that is imported first.

    Such modules are beside it, or the one that it would be in; the most alike comes first, and
    last what only imports from others beside it.

    Args:
        package: in which it would be.
        missing: its path.
        below: what is imported of it lies there, with a dot before: ``.json``; or empty.
        node: the import.
        near: what is alike.
    """
    parent, surface = missing.rpartition(".")[0], package.surface
    beside = (each for each in surface.modules() if each.rpartition(".")[0] == parent)
    public = [parent, *(e for e in beside if not e.rpartition(".")[2].startswith("_"))]
    having: list[tuple[bool, float, str]] = []
    for each in public[:_MOST_BESIDE]:
        found = [surface.symbol(f"{each}{below}.{one.name}") for one in node.names]
        if all(found):
            homes = {one.target.rpartition(".")[0] for one in found if one is not None}
            is_home = not (homes - {each}).intersection(public)
            having.append((is_home, name_similarity(missing, each), each))
    having.sort(key=lambda each: each[:2], reverse=True)
    return tuple(dict.fromkeys((*(each for *_, each in having), *near)))[:_MOST_SUGGESTED]


def wrong_call(title: str, reason: str, symbol: Symbol | None) -> str:
    """Say why a call is wrong, and how what it calls is declared."""
    signature = " ".join(symbol.signature.split()) if symbol is not None else ""
    return (
        f"{title} {reason}: {signature[:_LONGEST_SIGNATURE]}" if signature else f"{title} {reason}."
    )


def _may_be_variable(path: str) -> bool:
    """Return whether a builtin's name may be a variable around a fragment: ``input.shape``."""
    first, name, *_ = f"{path}.".split(".")
    return first == "builtins" and name not in _BUILTIN_TYPES


def _tests_availability(condition: ast.expr) -> bool:
    """Return whether a condition tests which names there are."""
    return bool(_AVAILABILITY.search(ast.unparse(condition))) or any(
        map(_AVAILABILITY_OF_NAME.search, _tested_names(condition))
    )


def _tested_names(condition: ast.expr) -> Iterator[str]:
    """Yield what a condition asks or compares: variables, functions and what ``self`` holds."""
    match condition:
        case ast.BoolOp(values=parts):
            for each in parts:
                yield from _tested_names(each)
        case ast.UnaryOp(operand=inner) | ast.NamedExpr(value=inner) | ast.Call(func=inner):
            yield from _tested_names(inner)
        case ast.Compare(left=left, comparators=others):
            held = set()
            for node in (node for one in (left, *others) for node in ast.walk(one)):
                held |= {id(node.value)} if isinstance(node, ast.Attribute) else set()
                if isinstance(node, ast.Name | ast.Attribute) and id(node) not in held:
                    yield from _tested_names(node)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            yield name


def _excludes_rest(node: ast.AST) -> bool:
    """Return whether the code after a node runs only where its availability test fails."""
    if not isinstance(node, ast.If) or not _tests_availability(node.test):
        return False
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _expects_failure(node: ast.expr) -> bool:
    """Return whether a call or context manager takes code that is meant to fail."""
    return bool(_EXPECTING.search(ast.unparse(node)))


def _is_skipped(node: ast.AST) -> bool:
    """Return whether a test or its class may be skipped or fail: ``@pytest.mark.skipif``."""
    decorators = (ast.unparse(each).lower() for each in getattr(node, "decorator_list", ()))
    return any("skip" in each or "xfail" in each for each in decorators)


def _catches_missing_names(node: ast.Try | ast.TryStar) -> bool:
    """Return whether a handler catches what a missing name raises."""
    caught = (
        ast.unparse(each.type) if each.type is not None else "Exception"
        for each in node.handlers
        if not _only_tells(each)
    )
    return bool(_CAUGHT.search(" ".join(caught)))


def _only_tells(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler of all exceptions tells of one or raises, and offers nothing else.

    Code that does without a name that may be missing has something in its place.
    """
    if dotted(handler.type) not in {"Exception", "BaseException"} or not handler.name:
        return False
    match handler.body:
        case [*before, ast.Raise()]:
            return all(isinstance(each, ast.Expr | ast.Assign) for each in before)
        case [*told] if any(isinstance(each, ast.Expr) for each in told):
            names = {e.id for one in told for e in ast.walk(one) if isinstance(e, ast.Name)}
            return handler.name in names and all(map(_is_telling, told))
    return False


def _is_telling(node: ast.stmt) -> bool:
    """Return whether a statement is a call for its own sake, or leaves with nothing or a number."""
    match node:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Return(value=None | ast.Constant(value=None | bool() | int())):
            return True
    return False


#: What tells a checker to ignore a line.
_IGNORED = lazy_pattern(r"\b(?:(?:type|ty|pyright|pyrefly|mypy): ?ignore|pylint: ?disable)")


def _bind_stars(tree: ast.Module, top: Scope, names: Names) -> None:
    """Bind the names that the code uses and that ``from … import *`` brings, as imports of each.

    The last star that has a name brings it. Nothing before one whose names are not known counts.
    """
    stars = [each for each in tree.body if isinstance(each, ast.ImportFrom) and _is_star(each)]
    if not stars or len(stars) != len(top.bindings["*"]):
        return
    left = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    for each in reversed(stars):
        module = each.module or ""
        package = names.resolver.package_for(module) if not each.level else None
        surface = package.surface if package is not None else None
        offered = surface.offered(module) if isinstance(surface, PythonSurface) else None
        if offered is None:
            return
        for name in sorted(left & offered):
            top.add(name, Import(f"{module}.{name}"))
        left -= offered
    del top.bindings["*"]


def _is_star(node: ast.ImportFrom) -> bool:
    return any(each.name == "*" for each in node.names)


def _raised(node: ast.AST) -> list[ast.expr]:
    """Return what a node raises or catches."""
    match node:
        case ast.Raise(exc=ast.Call(func=kind)) | ast.Raise(exc=ast.expr() as kind):
            return [kind]
        case ast.ExceptHandler(type=ast.Tuple(elts=kinds)):
            return kinds
        case ast.ExceptHandler(type=ast.expr() as kind):
            return [kind]
    return []


def _ignored_lines(code: str) -> frozenset[int]:
    """Return the numbers of the lines that tell checkers to ignore them."""
    return frozenset(
        number for number, line in enumerate(code.split("\n"), 1) if _IGNORED.search(line)
    )


def _patched_attributes(tree: ast.Module) -> frozenset[str]:
    """Return names of attributes that the code sets on something, or patches by name."""
    found: set[str] = set()
    # What a method sets on its own class is found with the class.
    own = {id(each) for each in _self_attributes(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if id(node) not in own:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            # ``@register_expr_namespace("greek")`` gives values of a package a name.
            is_known = called in {"setattr", "delattr", "patch", "object", "register"}
            if is_known or called.startswith("register_"):
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {each.rpartition(".")[2] for each in texts if isinstance(each, str)}
    return frozenset(found)


def _self_attributes(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield each ``self.name`` in the methods of classes."""
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            for each in ast.walk(method) if isinstance(method, Function) else ():
                match each:
                    case ast.Attribute(value=ast.Name(id="self")):
                        yield each


def _narrowed_variables(tree: ast.Module) -> frozenset[str]:
    """Return the variables whose type the code tests."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[subject, *_]) if name in _NARROWING:
                pass
            case ast.Call(func=function, args=[subject]) if _OF_KIND.match(
                dotted(function).rpartition(".")[2]
            ):
                pass
            case ast.Match(subject=subject):
                pass
            case _:
                continue
        found |= {each.id for each in ast.walk(subject) if isinstance(each, ast.Name)}
    return frozenset(found)
