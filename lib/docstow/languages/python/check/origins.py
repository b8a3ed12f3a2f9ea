"""The packages that a value comes from, where nobody knows its class.

Whatever the class is, it is one of theirs or of what they import. A name that none of them gives
to anything is then absent.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

from docstow.languages.python.check.annotations import LocalType, PackageType
from docstow.languages.python.check.certainty import best_likeness, may_be_of_middleware
from docstow.languages.python.check.documented import may_be_sparse
from docstow.languages.python.check.owners import PROTOCOL
from docstow.languages.python.check.parse import (
    UNKNOWN,
    Annotated,
    Assigned,
    Binding,
    Caught,
    Defined,
    Import,
    LoopItem,
    PlainParameter,
    Receiver,
    Scope,
    Unpacked,
    scope_nodes,
)
from docstow.languages.python.check.passed import place_of
from docstow.languages.python.source.syntax import Function, assignments
from docstow.languages.python.surface import STANDARD, PythonSurface
from docstow.languages.shared.findings import Finding, nearest, sort_findings
from docstow.languages.shared.lookup import absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from docstow.languages.python.check.checked import Checked
    from docstow.languages.shared.lookup import Installed
    from docstow.languages.shared.surface import Symbol

#: Steps from a value to what it is made of.
_DEEPEST = 40
#: How like a name is that stands for another one, though its class answers for any.
_LEAST_MISSPELT = 75.0
#: Annotations of what may be of any class, by which packages hand out what was given to them.
_ANYTHING = re.compile(r"\b(?:Any|object|Self|ModuleType|_?[A-Z]|_?T_\w+|_?[A-Z]?\w*T)\b")
#: Methods of tables that return what another package draws.
_DRAWING = frozenset({"plot", "hist", "boxplot"})
#: Members that hand out what others put there.
_STORES = frozenset(
    {"get", "pop", "load", "loads", "read", "result", "results", "value", "values", "item", "items"}
    | {"state", "data", "context", "current", "g", "config", "storage", "registry", "extensions"}
    | {"current_app", "current_user", "hook", "hooks", "plugins", "resolve", "args", "kwargs"}
    | {"app", "user", "user_data", "chat_data", "bot_data", "obj", "instance", "func", "__self__"}
)
#: Those that hand out what a container has.
_MEMBERS = frozenset({"items", "values"})
#: Packages that hand out nothing but what they make of what they are given.
_MAKERS = frozenset({"numpy"})
#: Functions that return what their packages make, whatever their annotations say.
_MAKING = frozenset({"sympy.core.symbol.symbols"})
#: Packages whose objects have methods that something else describes: services, other languages.
_DESCRIBED = frozenset(
    {"boto3", "botocore", "aioboto3", "aiobotocore", "google-api-python-client", "zeep", "suds"}
    | {"web3", "py4j", "pyspark", "JPype1", "rpy2", "pywin32", "comtypes", "dbus-python", "sh"}
)
_WORD = re.compile(r"\w+")
#: Modules of Python's own that answer for any name, or load anything.
_HANDING = (
    "ctypes",
    "unittest.mock",
    "xmlrpc",
    "importlib",
    "pickle",
    "builtins.getattr",
    "builtins.super",
    "builtins.type",
    "builtins.next",
)
#: What an attribute holds that is declared without a value.
_NOTHING = ast.Constant(None)

#: Libraries whose tables and arrays others make for code that has them.
_MADE_BY_OTHERS = ("numpy", "pandas")
_Packages: TypeAlias = "Mapping[str, Installed]"


def with_unheard_of(own: Checked, known: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with the members that no package has of which a value may be.

    Args:
        own: what our reader knows of the code.
        known: what is found there already.
    """
    added = _unheard_of(own, known)
    places = set(map(_place, added))
    kept = (e for e in known if e.status != "not_checked" or _place(e) not in places)
    return sort_findings([*kept, *added])


def _place(finding: Finding) -> tuple[int, str]:
    """Return the line of a member, and its name."""
    return finding.line, finding.name.rpartition(".")[2]


def _unheard_of(own: Checked, known: Sequence[Finding]) -> list[Finding]:
    places = {_place(each) for each in known if each.status != "not_checked"}
    missing = frozenset(each.name for each in known if each.status == "unknown")
    origins = Origins(own, missing)
    found: list[Finding] = []
    for node in own.unknown:
        is_guarded = (node.lineno - 1, node.col_offset) in own.guarded
        if not is_guarded and (node.end_lineno, node.attr) not in places:
            absent_there = [*_absent_from_all(own, node, origins)]
            if not absent_there and (call := origins.called.get(id(node))) is not None:
                absent_there += _refused_by_all(own, node, call, origins)
            found += absent_there
    return found


def _refused_by_all(
    own: Checked, node: ast.Attribute, call: ast.Call, origins: Origins
) -> Iterator[Finding]:
    """Yield the finding of a keyword that nothing of a name takes in any of the packages."""
    name, scope = node.attr, own.scopes[node]
    given = [e.arg for e in call.keywords if e.arg is not None and e.arg not in origins.parameters]
    if not given or name.startswith("_"):
        return
    if origins.may_give(name) or origins.may_answer(node, scope):
        return
    made, is_known = origins.packages(node.value, scope)
    asked = made if is_known else [*made, *origins.standard]
    owner = own.values.type_of(node.value, scope)
    if isinstance(owner, PackageType) and own.values.is_extended_with(owner, name):
        return
    surfaces = [each.surface for each in asked if isinstance(each.surface, PythonSurface)]
    made = [each for each in made if each.name != STANDARD]
    if not made or len(surfaces) < len(asked):
        return
    refused = [e for e in given if not any(each.may_pass(name, e) for each in surfaces)]
    every = surfaces if refused else ()
    taken = sorted({one for each in every for one in each.words.parameters(name)})
    # Without any, what has the name is made while it runs.
    for keyword in refused if taken else ():
        by = " and ".join(f"{each.name} {each.version}" for each in made)
        value, place = ast.unparse(node.value), place_of(call, keyword)
        yield Finding(
            line=getattr(place, "lineno", node.lineno),
            column=getattr(place, "col_offset", 0) + 1 + own.parsed.column,
            name=f"{value}.{name}({keyword}=)",
            status="wrong_argument",
            message=f"{value} comes from {by}, where no {name} takes {keyword}.",
            suggestions=nearest(keyword, taken, shaped=False, filled=True),
            path=f"{value}.{name}",
            package=made[0].name,
            version=made[0].version,
        )


def _absent_from_all(own: Checked, node: ast.Attribute, origins: Origins) -> Iterator[Finding]:
    """Yield the finding of a member that none of the packages has; none where one may."""
    name, scope = node.attr, own.scopes[node]
    if name.startswith("_") or origins.may_give(name) or origins.may_answer(node, scope):
        return
    made, is_known = origins.packages(node.value, scope)
    made = [each for each in made if each.name != STANDARD]
    if id(node) not in origins.called and any(map(_names_by_data, made)):
        return
    asked = made if is_known else [*made, *origins.standard]
    # What is not known may be a module, too.
    may_give = partial(_may_give, name, to_module=not is_known)
    if not made or any(may_be_sparse(each.name, name) for each in made):
        return
    if any(map(may_give, asked)) or any(_hands_out_others(own, each) for each in made):
        return
    owner = own.values.type_of(node.value, scope)
    if isinstance(owner, PackageType) and own.values.is_extended_with(owner, name):
        return
    by = " and ".join(f"{each.name} {each.version}" for each in made)
    value = ast.unparse(node.value)
    path = owner.path if isinstance(owner, PackageType) else ""
    near = own.names.suggest(made[0], path, name) if path else ()
    near = near or (own.names.offer(made[0], path, name, None) if path else ())
    message = f"{value} comes from {by}, where nothing has the name {name}."
    yield Finding(
        line=node.end_lineno or node.lineno,
        column=(node.end_col_offset or 0) - len(name.encode()) + 1 + own.parsed.column,
        name=f"{path or value}.{name}",
        status="unknown",
        message=absent(made[0], "class", path, name, near) if path else message,
        suggestions=near,
        path=path or value,
        package=made[0].name,
        version=made[0].version,
    )


def _hands_out_others(own: Checked, package: Installed) -> bool:
    """Return whether a package makes values of a library that is not at hand, if it is there."""
    surface = package.surface
    return isinstance(surface, PythonSurface) and any(
        each in surface.words.imports and own.names.resolver.package_for(each) is None
        for each in _MADE_BY_OTHERS
    )


def _may_give(name: str, package: Installed, *, to_module: bool) -> bool:
    """Return whether a class of a package, or a module, too, may have a name."""
    surface = package.surface
    if not isinstance(surface, PythonSurface) or surface.has_to_give(name, to_module=to_module):
        return True
    return package.name != STANDARD and surface.may_compose(name)


def _names_by_data(package: Installed) -> bool:
    """Return whether attributes of a package's objects may have any name."""
    surface = package.surface
    return not isinstance(surface, PythonSurface) or surface.names_by_data


class Origins:
    """Where the values of one piece of code come from.

    Args:
        own: what our reader knows of the code.
        missing: the paths in packages that are found to lead nowhere.
    """

    def __init__(self, own: Checked, missing: frozenset[str]) -> None:
        self._missing = missing
        self._names = own.names
        self._values = own.values
        self._scopes, self._scope_of = own.inner_scopes, own.scopes
        self._narrowed = own.narrowed
        self._tree = own.parsed.tree
        self._open: set[tuple[int, str]] = set()

    def packages(self, node: ast.expr, scope: Scope) -> tuple[list[Installed], bool]:
        """Return the packages that a value comes from, and whether it can be of no others.

        There are none where one of them is not known.
        """
        owner = self._values.type_of(node, scope)
        if isinstance(owner, PackageType):
            return [owner.package] if owner.package.name not in _DESCRIBED else [], True
        found = scope.find(node.id) if isinstance(node, ast.Name) else None
        functions = [
            each.node
            for each in (found[1] if found is not None else ())
            if isinstance(each, Defined) and isinstance(each.node, Function)
        ]
        if found is not None and functions and len(functions) == len(found[1]):
            # Whatever decorators make of a function, it is not what the function returns.
            made = (self._all(each.decorator_list, found[0], 0) for each in functions)
            return [*(_merged(made) or {}).values()], True
        return [*(self._of(node, scope, 0) or {}).values()], False

    def may_give(self, name: str) -> bool:
        """Return whether the code may give a name to a value, or to a class."""
        return name in self._words

    @cached_property
    def standard(self) -> list[Installed]:
        """Python's own library, of which anything may be returned."""
        found = self._names.resolver.package_for("builtins.str")
        return [found] if found is not None else []

    def may_answer(self, node: ast.Attribute, scope: Scope) -> bool:
        """Return whether what is known to have a member, or not, may answer for any name."""
        path = self._values.import_path(node.value, scope)
        owner = (
            self._values.members.value_at(path) if path else self._values.type_of(node.value, scope)
        )
        if owner is None:
            return path is not None or self._is_answered(node.value, scope)
        if isinstance(owner, LocalType):
            return True
        if may_be_of_middleware(owner, node.attr, called=id(node) in self.called):
            return True
        surface, kinds = owner.package.surface, map(owner.package.symbol, owner.paths)
        if any(each is not None and PROTOCOL.search(each.signature) for each in kinds):
            return True
        return not isinstance(surface, PythonSurface) or any(
            surface.answers_for_others(each)
            or (surface.hands_on_to_others(each) and not _is_misspelt(node.attr, surface, each))
            or surface.stands_for_others(each)
            or surface.is_filled(each, node.attr)
            or surface.is_told(each, node.attr)
            or (surface.hands_on(each) and self._is_given(owner))
            for each in owner.paths
        )

    def _is_answered(self, node: ast.expr, scope: Scope) -> bool:
        """Return whether a value is what something answers with for a name that it has not."""
        if not isinstance(node, ast.Attribute):
            return False
        owner = self._values.type_of(node.value, scope)
        has = isinstance(owner, PackageType) and owner.package.symbol(f"{owner.path}.{node.attr}")
        return not has and self.may_answer(node, scope)

    def _is_given(self, owner: PackageType) -> bool:
        """Return whether the code makes an instance of a class of something that it gives to it."""
        return any(
            (each.args or each.keywords)
            and (scope := self._scope_of.get(each.func)) is not None
            and self._values.type_of(each, scope) == owner
            for each in self.called.values()
        )

    @cached_property
    def called(self) -> Mapping[int, ast.Call]:
        """The calls of the code, by the ids of the nodes that they call."""
        return {id(e.func): e for e in ast.walk(self._tree) if isinstance(e, ast.Call)}

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The parameters of the code's functions."""
        return frozenset(e.arg for e in ast.walk(self._tree) if isinstance(e, ast.arg))

    # -- the code ------------------------------------------------------------------------------

    @cached_property
    def _members(self) -> Mapping[str, list[tuple[Binding, Scope]]]:
        """What the code binds to attributes and to members of its classes, by their names."""
        found: dict[str, list[tuple[Binding, Scope]]] = {}
        for around, scope in self._scopes.items():
            if isinstance(around, ast.ClassDef):
                for name, bindings in scope.bindings.items():
                    found.setdefault(name, []).extend((each, scope) for each in bindings)
            known: set[int] = set()
            nodes = list(scope_nodes(around))
            for target, annotation, value in (e for node in nodes for e in assignments(node)):
                if isinstance(target, ast.Attribute):
                    binding = Annotated(annotation) if annotation else Assigned(value or _NOTHING)
                    found.setdefault(target.attr, []).append((binding, scope))
                    known.add(id(target))
            for each in nodes:
                match each:
                    case ast.Attribute(attr=name, ctx=ast.Store()) if id(each) not in known:
                        found.setdefault(name, []).append((UNKNOWN, scope))
        return found

    @cached_property
    def _words(self) -> frozenset[str]:
        """The words of the code that it may give to values: all but those that it only reads."""
        found: set[str] = set()
        for node in ast.walk(self._tree):
            match node:
                case ast.Constant(value=str(text)):
                    found.update(_WORD.findall(text))
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    found |= {name, _exposed(name)}
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    found.add(name)
                case ast.keyword(arg=str(name)):
                    found.add(name)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    found |= {node.name, _exposed(node.name)}
        return frozenset(found)

    # -- expressions ---------------------------------------------------------------------------

    def _all(self, nodes: Iterable[ast.expr], scope: Scope, depth: int) -> _Packages | None:
        """Return the packages of several values together."""
        return _merged(self._of(each, scope, depth + 1) for each in nodes)

    def _of(self, node: ast.expr, scope: Scope, depth: int) -> _Packages | None:
        if depth > _DEEPEST:
            return None
        path = self._values.import_path(node, scope)
        if path is not None:
            # What is made of a name that does not exist is the fault of that name.
            return self._at(path) if path not in self._missing else None
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return {}
            case ast.Name(id=name):
                return self._variable(name, scope, depth)
            case ast.Attribute():
                return self._attribute(node, scope, depth)
            case ast.Call(func=function, args=args, keywords=keywords):
                return self._all([function, *args, *(e.value for e in keywords)], scope, depth)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._of(node.elt, self._scopes.get(node, scope), depth + 1)
            case ast.Lambda(body=body):
                return self._of(body, self._scopes.get(node, scope), depth + 1)
            case ast.DictComp(value=value):
                return self._of(value, self._scopes.get(node, scope), depth + 1)
            case ast.Subscript(value=value) | ast.Await(value=value) | ast.Starred(value=value):
                return self._of(value, scope, depth + 1)
        parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        return self._all(parts, scope, depth)

    def _at(self, path: str) -> _Packages | None:
        """Return the package of something that is imported; None where that is handed out."""
        package = self._names.resolver.package_for(path)
        if package is None or package.name in _DESCRIBED:
            return None
        if package.name == STANDARD and path.startswith(_HANDING):
            return None
        return self._unless_anything(package, path)

    def _unless_anything(self, package: Installed, path: str) -> _Packages | None:
        """Return a package; None where what it has there returns a value of any class."""
        if package.name in _MAKERS:
            return {package.name: package}
        symbol = package.symbol(path)
        if symbol is not None and symbol.target in _MAKING:
            return {package.name: package}
        said = symbol.signature.rpartition("->")[2] if symbol and "->" in symbol.signature else ""
        anything = _ANYTHING.fullmatch if package.name == STANDARD else _ANYTHING.search
        is_any = anything(said.strip()) is not None or path.rpartition(".")[2] in _STORES
        if is_any or (symbol is not None and not said and _loads(package, symbol)):
            return None
        return {package.name: package, **self._packages_of_bases(package, symbol)}

    def _packages_of_bases(self, package: Installed, symbol: Symbol | None) -> _Packages:
        """Return the packages of a class's bases, but for Python's own."""
        surface = package.surface
        if symbol is None or symbol.kind != "class" or not isinstance(surface, PythonSurface):
            return {}
        found = map(self._names.resolver.package_for, sorted(surface.base_paths(symbol.path)))
        return {each.name: each for each in found if each is not None and each.name != STANDARD}

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> _Packages | None:
        if node.attr in _STORES and not self._is_made_there(node, scope):
            return None
        found = self._of(node.value, scope, depth + 1)
        owner = self._values.type_of(node.value, scope)
        if any(_imports(each, node.attr) for each in (found or {}).values()):
            return None  # ``self.selenium`` is what that package makes.
        if node.attr in _DRAWING and "matplotlib" not in (found or {}):
            return None  # What draws is another package.
        if found is not None and isinstance(owner, PackageType):
            package = owner.package
            found = {**found, package.name: package}
            if self._unless_anything(package, f"{owner.path}.{node.attr}") is None:
                return None
        for binding, around in self._members.get(node.attr, ()) if found is not None else ():
            bound = self._bound(binding, around, depth + 1)
            if bound is None or found is None:
                return None
            found = {**found, **bound}
        return found

    def _is_made_there(self, node: ast.Attribute, scope: Scope) -> bool:
        """Return whether what ``made.items()`` hands out is what a call has put there, no more."""
        found = scope.find(node.value.id) if isinstance(node.value, ast.Name) else None
        if node.attr not in _MEMBERS or found is None or not isinstance(node.value, ast.Name):
            return False
        return node.value.id not in self._filled and all(
            isinstance(each, Assigned) and isinstance(each.expression, ast.Call)
            for each in found[1]
        )

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The variables in which the code puts something, or of which it calls what may do so."""
        found: set[str] = set()
        for each in ast.walk(self._tree):
            match each:
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    found.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                    if method not in _MEMBERS:
                        found.add(name)
        return frozenset(found)

    def _variable(self, name: str, scope: Scope, depth: int) -> _Packages | None:
        found = scope.find(name) if name not in self._narrowed else None
        if found is None:
            return None
        owner, bindings = found
        key = (id(owner), name)
        if key in self._open:
            return {}
        self._open.add(key)
        try:
            return _merged(self._bound(each, owner, depth + 1) for each in bindings)
        finally:
            self._open.discard(key)

    def _bound(self, binding: Binding, scope: Scope, depth: int) -> _Packages | None:
        match binding:
            case Import(path):
                return self._at(path)
            case Assigned(expression) | LoopItem(expression) | Caught(expression):
                return self._of(expression, scope, depth)
            case Unpacked(inner):
                return self._bound(inner, scope, depth)
            case Annotated(annotation):
                is_any = _ANYTHING.search(ast.unparse(annotation)) is not None
                return None if is_any else self._annotated(annotation, scope, depth)
            case Defined(node):
                return self._defined(node, scope, depth)
            case Receiver(node):
                around = self._scopes[node].parent if node in self._scopes else None
                return self._defined(node, around, depth) if around is not None else None
            case PlainParameter(name, function):
                given = self._values.given.get((function, name))
                if given is not None and not given.by_name:
                    return _merged(self._of(each, around, depth) for each, around in given.values)
        return None

    def _annotated(self, node: ast.expr, scope: Scope, depth: int) -> _Packages | None:
        if isinstance(node, ast.Constant):
            return {} if not isinstance(node.value, str) else None
        if isinstance(node, ast.Name | ast.Attribute):
            return self._of(node, scope, depth + 1)
        parts = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return _merged(self._annotated(each, scope, depth) for each in parts)

    def _defined(self, node: Function | ast.ClassDef, scope: Scope, depth: int) -> _Packages | None:
        """Return the packages of a class's bases, or of what a function returns."""
        key = (id(node), "")
        if key in self._open:
            return {}
        self._open.add(key)
        try:
            made = self._all(node.decorator_list, scope, depth)
            if isinstance(node, ast.ClassDef):
                given = self._all([*node.bases, *(e.value for e in node.keywords)], scope, depth)
            elif node.returns is not None:
                given = self._bound(Annotated(node.returns), scope, depth)
            else:
                inner = self._scopes.get(node, scope)
                given = self._all(_returned(node), inner, depth)
        finally:
            self._open.discard(key)
        return {**made, **given} if made is not None and given is not None else None


def _loads(package: Installed, symbol: Symbol) -> bool:
    """Return whether a function may return a module that is made while the code runs."""
    surface = package.surface
    is_function = symbol.kind in {"function", "method"} and package.name != STANDARD
    return is_function and isinstance(surface, PythonSurface) and surface.loads_modules(symbol.path)


def _imports(package: Installed, name: str) -> bool:
    surface = package.surface
    return isinstance(surface, PythonSurface) and name in surface.words.imports


def _merged(many: Iterable[_Packages | None]) -> _Packages | None:
    """Return packages together; None where one of them is not known."""
    found: dict[str, Installed] = {}
    for each in many:
        if each is None:
            return None
        found |= each
    return found


def _returned(node: Function) -> Iterator[ast.expr]:
    """Yield what a function returns or yields."""
    for each in ast.walk(node):
        if isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) and each.value is not None:
            yield each.value


def _exposed(name: str) -> str:
    """Return by what a framework may offer a name that begins with a word: ``exposed_add``."""
    return name.partition("_")[2] or name


def _is_misspelt(name: str, surface: PythonSurface, owner: str) -> bool:
    """Return whether a name is much like one that a class has."""
    return best_likeness(name, [*(surface.members(owner) or ())]) >= _LEAST_MISSPELT
