"""Names that ``__getattr__`` answers for, of modules and of classes.

It reads ``lazy_loader.attach``, tables of lazy imports and functions that compare the name with
literals; any other loader is taken to answer for everything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.languages.python.source.facts import (
    GetattrResult,
)
from docstow.languages.python.source.syntax import assignments, dotted, is_of_super, string_value

#: What answers for the names of the stub beside a module, and for no others.
_ATTACH_STUB = re.compile(r"_?lazy(?:_loader)?\.attach_stub")
#: Calls that replace a module by one that imports a table of names when they are asked for.
_REPLACES = re.compile(r"(?:^|\.)_?(?:recreate_module|[Ll]azy_?[Mm]odule)$")
#: Calls that fill the namespace that they are given with names that are imported later.
_FILLS = re.compile(r"(?:^|\.)_?lazy_import$")
#: Attributes that hold functions by their names.
_OF_FUNCTIONS = re.compile(
    r"func|method|handler|callback|command|plugin|regist|action|hook|__dict__|module|proxy|client"
    r"|operation"
)
#: What ``__getattr__`` may return, the narrowest first.
_WIDENING: tuple[GetattrResult, ...] = ("no", "hidden", "items", "handed", "any")


def lazy_names(tree: ast.Module, name: str, *, package: bool) -> Mapping[str, tuple[str, str]]:
    """Return the names that a module imports when they are asked for, each with its module.

    They are those of a call that makes ``__getattr__``, such as ``lazy_loader.attach``, of a call
    that replaces the module by a lazy one, and of a table that ``__getattr__`` looks them up in:
    ``{"name": "module"}`` or ``{"module": ["name"]}``. The second of each pair is the name in the
    module; empty where the name is a module. What is not literal is left out.

    Args:
        tree: of the module.
        name: of the module, dotted.
        package: whether it is an ``__init__``.
    """
    within = name if package else name.rpartition(".")[0]
    found: dict[str, tuple[str, str]] = {}
    tables: dict[str, ast.expr] = {}
    has_getattr = False
    for node in _statements(tree.body):
        if getattr(node, "name", "") == "__getattr__":
            has_getattr = True
            # One that extends another answers for the names that it compares with.
            texts = filter(str.isidentifier, _compared_texts(node))
            found |= {each: (name, each) for each in texts if found}
        values = _assigned_values(node)
        tables |= {n: v for n, v in values.items() if isinstance(v, ast.Dict | ast.DictComp)}
        call = getattr(node, "value", None)
        if not isinstance(call, ast.Call):
            continue
        called = dotted(call.func)
        if _binds_getattr(node) and [dotted(each) for each in call.args[:1]] == ["__name__"]:
            given = [*call.args[1:], *(each.value for each in call.keywords)]
            found |= _attached([tables.get(dotted(each), each) for each in given], name, within)
        if _FILLS.search(called):
            for each in call.keywords:
                found |= _table_names(tables.get(dotted(each.value), each.value), within)
        if _REPLACES.search(called):
            given = [*call.args, *(e.value for e in call.keywords if e.arg in _TABLES)]
            for table in (tables.get(dotted(each), each) for each in given):
                found |= _table_names(table, within)
            # Its own names that the new module has, too.
            own = (each.arg for each in call.keywords if each.arg == dotted(each.value) != "")
            found |= {each: (name, each) for each in own if each and each[:1] != "_"}
    if has_getattr:
        for variable, table in tables.items():
            if _OF_IMPORTS.search(variable):
                table = _with_dots(table)
            found |= _table_names(table, within)
    return found


def _compared_texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts that something is compared with."""
    for each in ast.walk(node):
        if isinstance(each, ast.Compare):
            for one in each.comparators:
                yield from filter(None, map(string_value, getattr(one, "elts", [one])))


def _with_dots(table: ast.expr) -> ast.expr:
    """Return ``{"name": "module"}`` with relative modules; a table of anything else as it is."""
    if not isinstance(table, ast.Dict):
        return table
    values = [string_value(each) for each in table.values]
    if not all(each.isidentifier() for each in values):
        return table
    # A name whose module is ``__module__`` is itself one.
    modules = ["." if each == "__module__" else f".{each}" for each in values]
    return ast.Dict(table.keys, [ast.Constant(each) for each in modules])


#: Variables with tables of what is imported when it is asked for.
_OF_IMPORTS = re.compile(r"import|lazy", re.IGNORECASE)
#: Keywords with tables of names by module.
_TABLES = frozenset({"by_module", "import_structure"})


def _table_names(table: ast.expr, package: str) -> dict[str, tuple[str, str]]:
    """Return what a literal table of lazy imports has; nothing for a table of anything else."""
    if not isinstance(table, ast.Dict):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for key, value in zip(table.keys, table.values, strict=True):
        name = string_value(key)
        match value:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                texts = [string_value(each) for each in parts]
            case _:
                texts = [string_value(value)]
        if name.isidentifier() and len(texts) <= 2 and _is_module(texts[0], package):
            inner = texts[1] if len(texts) == 2 else name
            found[name] = (_absolute(texts[0], package), inner)
        elif _is_module(name, package) and not isinstance(value, ast.Constant):
            module = _absolute(name, package)
            found |= {each: (module, each) for each in texts if each.isidentifier()}
        else:
            return {}
    return found


def _is_module(text: str, package: str) -> bool:
    """Return whether a text names a module of a package: ``.inner`` or ``package.inner``."""
    first = package.partition(".")[0]
    is_named = text.startswith(".") or text.partition(".")[0] == first
    return is_named and all(each.isidentifier() for each in text.lstrip(".").split("."))


def _absolute(text: str, package: str) -> str:
    level = len(text) - len(text.lstrip("."))
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], text[level:]]) if level else text


def _attached(arguments: Sequence[ast.expr], name: str, within: str) -> dict[str, tuple[str, str]]:
    """Return the names of ``["module", ".module.name"]`` and ``{"module": ["name"]}``.

    Nothing where an argument is no literal.

    Args:
        arguments: of the call, without the module's name.
        name: of the module, dotted.
        within: the package that relative names begin in.
    """
    found: dict[str, tuple[str, str]] = {}
    for each in arguments:
        try:
            value = ast.literal_eval(each)
        except (ValueError, TypeError, SyntaxError):
            return {}
        if isinstance(value, dict):
            for module, names in value.items():
                found |= {inner: (f"{name}.{module}", inner) for inner in names}
        for text in value if isinstance(value, list | tuple | set) else ():
            module, _, last = _absolute(str(text), within).rpartition(".")
            is_plain = "." not in str(text)
            found[last] = (f"{name}.{last}", "") if is_plain else (module, last)
    return found


@dataclass(frozen=True, slots=True)
class Answers:
    """What a module's ``__getattr__`` answers for; all else raises ``AttributeError``.

    Attributes:
        names: as they are written.
        factories: functions whose results answer for further names, as the module names them.
    """

    names: frozenset[str] = frozenset()
    factories: tuple[str, ...] = ()


def module_getattr(tree: ast.Module) -> Answers | None:
    """Return what a module's ``__getattr__`` answers for; None where it may answer for more."""
    found = [
        each
        for each in _statements(tree.body)
        if getattr(each, "name", "") == "__getattr__"
        or "__getattr__" in _assigned_values(each)
        or _attaches_stub(each)
    ]
    if len(found) != 1:
        return None
    if _attaches_stub(found[0]):
        return Answers()
    if isinstance(found[0], ast.ClassDef):  # A decorator makes a function of its properties.
        return Answers(frozenset(n for each in found[0].body for n in _assigned_values(each)))
    if isinstance(found[0], ast.FunctionDef):
        return _GetattrReader(tree).function(found[0])
    alias = dotted(_assigned_values(found[0]).get("__getattr__"))
    named = [e for e in tree.body if isinstance(e, ast.FunctionDef) and e.name == alias]
    if len(named) == 1:
        return _GetattrReader(tree).function(named[0])
    factory = _factory(found[0])
    return Answers(factories=(factory,)) if factory else None


def looks_up_elsewhere(tree: ast.Module) -> bool:
    """Return whether a module answers for names with items of what another one has."""
    return any(
        isinstance(each, ast.Return)
        and isinstance(each.value, ast.Subscript)
        and isinstance(each.value.value, ast.Attribute)
        and dotted(each.value.slice) in {one.arg for one in node.args.args}
        for node in _statements(tree.body)
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
        for each in ast.walk(node)
    )


def getattr_factories(tree: ast.Module) -> Mapping[str, frozenset[str]]:
    """Return the functions of a module that make a ``__getattr__``, with the names it answers for.

    A name may have the module's before it, with a colon between.
    """
    found = {}
    for node in tree.body:
        last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or not isinstance(last, ast.Return):
            continue
        inner = [each for each in node.body if getattr(each, "name", "") == dotted(last.value)]
        if len(inner) == 1 and isinstance(inner[0], ast.FunctionDef):
            answered = _GetattrReader(tree).function(inner[0])
            if answered is not None and not answered.factories:
                found[node.name] = answered.names
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield a module's own statements, those of its branches included."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, ()))


def _assigned_values(node: ast.AST) -> dict[str, ast.expr]:
    """Return the names that a statement, or a walrus, assigns, each with its value."""
    if isinstance(node, ast.NamedExpr):
        return {node.target.id: node.value}
    if isinstance(node, ast.Assign):
        return {each.id: node.value for each in node.targets if isinstance(each, ast.Name)}
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        return {node.target.id: node.value}
    return {}


def _binds_getattr(node: ast.stmt) -> bool:
    """Return whether a statement is ``__getattr__, … = …``."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            return "__getattr__" in map(dotted, parts)
    return False


def _attaches_stub(node: ast.stmt) -> bool:
    """Return whether a statement is ``__getattr__, … = lazy_loader.attach_stub(…)``."""
    call = getattr(node, "value", None)
    is_call = isinstance(call, ast.Call) and _ATTACH_STUB.fullmatch(dotted(call.func))
    return bool(is_call) and _binds_getattr(node)


def _factory(node: ast.stmt) -> str:
    """Return the function of ``name = function(__name__)``; empty for anything else."""
    call = node.value if isinstance(node, ast.Assign) else None
    if isinstance(call, ast.Call) and [dotted(each) for each in call.args] == ["__name__"]:
        return dotted(call.func)
    return ""


class _GetattrReader:
    """Follower of a ``__getattr__`` that is called with a name that its file does not have.

    Such a name is equal to no literal and in no table. Where every path then raises
    ``AttributeError``, the function answers only for the names that are written in it.
    """

    def __init__(self, tree: ast.Module) -> None:
        statements = list(_statements(tree.body))
        self._values = {
            name: given for each in statements for name, given in _assigned_values(each).items()
        }
        self._factories = {
            name: _factory(each) for each in statements for name in _assigned_values(each)
        }
        for changed in _extended_names(tree):
            self._values.pop(changed, None)
        self._names: set[str] = set()
        self._used_factories: set[str] = set()
        self._name_variables: set[str] = set()
        self._none_variables: set[str] = set()
        self._namespace_variables: set[str] = set()

    def function(self, node: ast.FunctionDef) -> Answers | None:
        return self._follow(node) if len(node.args.args) == 1 else None

    def method(self, node: ast.FunctionDef) -> Answers | None:
        return self._follow(node) if len(node.args.args) == 2 else None

    def _follow(self, node: ast.FunctionDef) -> Answers | None:
        self._name_variables.add(node.args.args[-1].arg)
        if not self._rejects(node.body):
            return None
        return Answers(frozenset(self._names), tuple(sorted(self._used_factories)))

    def _rejects(self, body: Sequence[ast.stmt]) -> bool | None:
        """Return whether statements end in an AttributeError or in a factory's function.

        False: the statements after them are reached. None: they may return something.
        """
        for node in body:
            ends: bool | None = False
            match node:
                case ast.Raise() | ast.Continue():
                    return True
                case ast.Return():
                    return self._calls_factory(node.value)
                case ast.For(iter=ast.Tuple(elts=rows) | ast.List(elts=rows), orelse=[]):
                    if not all(self._passes(node, each) for each in rows):
                        return None
                case ast.If():
                    ends = self._branch(node)
                case ast.Try(
                    body=[ast.Assign(value=value) | ast.Return(value=ast.Subscript() as value), *_],
                    handlers=[handler],
                ):
                    # What follows there is reached with the names of the table alone.
                    names = self._looked_up_keys(value)
                    if names is None or dotted(handler.type) != "KeyError":
                        return None
                    self._names |= names
                    ends = self._rejects(handler.body)
                case ast.Assign() | ast.AnnAssign():
                    self._assign(node)
                case ast.Import() | ast.ImportFrom() | ast.Expr() | ast.Global() | ast.Pass():
                    pass
                case _:
                    return None
            if ends is not False:
                return ends
        return False

    def _passes(self, loop: ast.For, row: ast.expr) -> bool:
        """Return whether a turn of a loop returns nothing for a name that its file lacks."""
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        values = row.elts if isinstance(row, ast.Tuple) else [row]
        if len(targets) != len(values) or not all(isinstance(e, ast.Name) for e in targets):
            return False
        self._values |= dict(zip(map(dotted, targets), values, strict=True))
        return self._rejects(loop.body) is not None

    def _branch(self, node: ast.If) -> bool | None:
        for each in ast.walk(node.test):
            if isinstance(each, ast.NamedExpr):
                self._assign(each)
        holds = self._condition_holds(node.test, answered=_may_return(node.body))
        if holds is None:
            ways = {self._rejects(node.body), self._rejects(node.orelse)}
            return None if None in ways else all(ways)
        return self._rejects(node.body if holds else node.orelse)

    def _calls_factory(self, value: ast.expr | None) -> bool | None:
        """Return True for ``return made(name)``, where another function has made ``made``."""
        match value:
            case ast.Call(func=function, args=[ast.Name(id=n)]) if n in self._name_variables:
                factory = self._factories.get(dotted(function), "")
                self._used_factories.add(factory)
                return True if factory else None
        return None

    def _assign(self, node: ast.stmt | ast.NamedExpr) -> None:
        for name, value in _assigned_values(node).items():
            for group in (self._name_variables, self._none_variables, self._namespace_variables):
                group.discard(name)
            self._values[name] = value
            if isinstance(value, ast.JoinedStr) and self._is_name(value.values[-1]):
                self._name_variables.add(name)
            elif (names := self._looked_up_keys(value)) is not None:
                self._names |= names
                self._none_variables.add(name)
            elif re.fullmatch(r"globals\(\)|sys\.modules\[\w+\]\.__dict__", ast.unparse(value)):
                self._namespace_variables.add(name)

    def _is_name(self, node: ast.expr) -> bool:
        return isinstance(node, ast.FormattedValue) and dotted(node.value) in self._name_variables

    def _looked_up_keys(self, node: ast.expr) -> set[str] | None:
        """Return the keys of the table in ``table.get(name)`` or ``table[name]``."""
        match node:
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[ast.Name(id=name)]):
                return self._written_elements(table) if name in self._name_variables else None
            case ast.Call(
                func=ast.Attribute(value=table, attr="get"),
                args=[ast.JoinedStr(values=[ast.Constant(value=str(first)), last])],
            ):
                elements = self._written_elements(table) if self._is_name(last) else None
                if elements is None:
                    return None
                if ast.unparse(table) == "globals()":
                    elements = set(self._values)
                return {each.removeprefix(first) for each in elements if each.startswith(first)}
            case ast.Subscript(value=table, slice=ast.Name(id=name)):
                return self._written_elements(table) if name in self._name_variables else None
        return None

    def _written_elements(self, node: ast.expr) -> set[str] | None:
        """Return the elements of a table; None where they are not all literal."""
        if ast.unparse(node) == "globals()":
            return set()
        table = self._values.get(dotted(node), node)
        if isinstance(table, ast.DictComp):
            return _comprehension_keys(table)
        elements = getattr(table, "keys" if isinstance(table, ast.Dict) else "elts", None)
        if not isinstance(elements, list) or not all(
            each and string_value(each) for each in elements
        ):
            return None
        return {string_value(each) for each in elements}

    def _condition_holds(self, test: ast.expr, *, answered: bool) -> bool | None:
        """Return whether a condition holds for a name that the file does not have; None: it may."""
        match test:
            case ast.BoolOp(op=op, values=values):
                ways = {self._condition_holds(each, answered=answered) for each in values}
                decisive = isinstance(op, ast.Or)
                return decisive if decisive in ways else ways.pop() if len(ways) == 1 else None
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self._condition_holds(inner, answered=True)
                return None if holds is None else not holds
            case ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)):
                return False if name in self._none_variables else None
            case ast.Compare(
                left=ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)),
                ops=[one],
                comparators=[other],
            ):
                if name in self._none_variables and isinstance(other, ast.Constant):
                    empty = other.value is None
                    kinds = {ast.Is: True, ast.IsNot: False}
                    return kinds.get(type(one)) if empty else None
                if name in self._name_variables:
                    return self._compares(one, other, answered=answered)
        return None

    def _compares(self, one: ast.cmpop, other: ast.expr, *, answered: bool) -> bool | None:
        if isinstance(one, (ast.Eq, ast.NotEq)):
            names = {string_value(other)} if string_value(other) else None
        elif dotted(other) in self._namespace_variables:
            names = set()
        else:
            names = self._written_elements(other)
        if names is None or not isinstance(one, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return None
        without = isinstance(one, (ast.NotEq, ast.NotIn))
        if answered or without:
            self._names |= names
        return without


def _comprehension_keys(table: ast.DictComp) -> set[str] | None:
    """Return the keys of ``{f"module:{name}": … for name in ("a", "b")}``."""
    over = table.generators[0]
    names = [string_value(each) for each in getattr(over.iter, "elts", ())]
    match table.key:
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), ast.FormattedValue(value=last)]):
            plain = len(table.generators) == 1 and not over.ifs and all(names)
            if plain and names and dotted(last) == dotted(over.target) != "":
                return {f"{first}{each}" for each in names}
    return None


def _may_return(body: Sequence[ast.stmt]) -> bool:
    """Return whether statements may return."""
    return any(isinstance(each, ast.Return) for node in body for each in ast.walk(node))


def _extended_names(tree: ast.Module) -> set[str]:
    """Return the names of collections that get further elements."""
    found = set()
    # What ``__getattr__`` itself has found it may keep, by the name that it is asked for.
    kept = {
        id(place)
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name == "__getattr__" and each.args.args
        for place in ast.walk(each)
        if isinstance(place, ast.Subscript) and dotted(place.slice) == each.args.args[0].arg
    }
    for node in ast.walk(tree):
        if id(node) in kept:
            continue
        match node:
            case ast.Attribute(
                value=ast.Name(id=name),
                attr="update" | "setdefault" | "add" | "append" | "extend" | "insert",
            ):
                found.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                found.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def class_getattr_result(body: Sequence[ast.stmt], tree: ast.Module) -> GetattrResult:
    """Return the widest result of ``__getattr__`` and ``__getattribute__`` in a class body.

    Args:
        body: of the class.
        tree: of the module, which may have tables of the names that are answered for.
    """
    found = [
        _getattr_result(node, hidden=hidden)
        for node, hidden in _getattr_definitions(body)
        if _table_answers(node, tree) is None
    ]
    result: GetattrResult = max(found, key=_WIDENING.index, default="no")
    return "any" if result == "items" and any(map(_gets_functions, body)) else result


def _gets_functions(node: ast.stmt) -> bool:
    """Return whether a node is a ``__getitem__`` that looks functions up by their names."""
    if not isinstance(node, ast.FunctionDef) or node.name != "__getitem__":
        return False
    parts = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return any(dotted(each.value) == "self" and _OF_FUNCTIONS.search(each.attr) for each in parts)


def proxied_attribute(body: Sequence[ast.stmt]) -> str:
    """Return the attribute of ``return getattr(self.attribute, name)``; empty for any other answer.

    That is all that the only ``__getattr__`` of a class body answers with.
    """
    found = [node for node, _ in _getattr_definitions(body)]
    node = found[0] if len(found) == 1 else None
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 2:
        return ""
    receiver, name = (each.arg for each in node.args.args)
    assigned = {
        dotted(place): value
        for each in ast.walk(node)
        if isinstance(each, ast.Assign | ast.AnnAssign)
        for place, _, value in assignments(each)
    }
    told = _told(node, name)
    given = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    handed = set()
    for each in given:
        match _uncast(assigned.get(dotted(each), each)):
            case ast.Call(
                func=ast.Name(id="getattr"), args=[target, ast.Name(id=asked), *default]
            ) if asked == name and len(default) <= 1:
                owner, _, attribute = dotted(target).partition(".")
                handed.add(attribute if owner == receiver else "")
            case value if each not in told and not _calls_super(value, name, ()):
                handed.add("")
    return handed.pop() if len(handed) == 1 else ""


def answering_modules(body: Sequence[ast.stmt]) -> tuple[str, ...]:
    """Return what the only ``__getattr__`` of a class body looks every name up in.

    That is ``return getattr(module, name)`` in ``for module in (first, second)``, where these are
    modules that the file imports; empty for any other answer.
    """
    found = [node for node, _ in _getattr_definitions(body)]
    node = found[0] if len(found) == 1 else None
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 2:
        return ()
    name, told = node.args.args[1].arg, _told(node, node.args.args[1].arg)
    given = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    over = {
        dotted(each.target): each.iter.elts
        for each in ast.walk(node)
        if isinstance(each, ast.For) and isinstance(each.iter, ast.Tuple | ast.List)
    }
    modules: list[str] = []
    for value in given:
        match value:
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=of), ast.Name(id=asked)]):
                modules += map(dotted, over.get(of, ())) if asked == name else [""]
            case _ if value not in told:
                return ()
    return tuple(modules) if all(modules) else ()


def _uncast(node: ast.expr | None) -> ast.expr | None:
    """Return the value of ``cast(Type, value)``; any other node as it is."""
    match node:
        case ast.Call(func=function, args=[_, value]) if (
            dotted(function).rpartition(".")[2] == "cast"
        ):
            return value
    return node


def _told(node: ast.FunctionDef, name: str) -> set[ast.expr | None]:
    """Return what a function returns where a name is a text: ``if name == "event": return …``."""
    return {
        statement.value
        for each in ast.walk(node)
        if isinstance(each, ast.If) and _compares(each.test, name)
        for statement in each.body
        if isinstance(statement, ast.Return)
    }


def _table_answers(node: ast.stmt, tree: ast.Module) -> Answers | None:
    """Return what ``__getattr__`` answers for by a table of the module; None where more than that.

    ``if name in TABLE: return …`` comes before ``raise AttributeError``.
    """
    if not isinstance(node, ast.FunctionDef) or node.name != "__getattr__":
        return None
    answers = _GetattrReader(tree).method(node)
    return answers if answers is not None and not answers.factories else None


def told_names(body: Sequence[ast.stmt], tree: ast.Module) -> frozenset[str]:
    """Return the names that ``__getattr__`` of a class body compares with, or has a table of.

    Args:
        body: of the class.
        tree: of the module, which may have the table.
    """
    found: set[str] = set()
    for node, _ in _getattr_definitions(body):
        answers = _table_answers(node, tree)
        found |= {*_compared_texts(node)} | (answers.names if answers is not None else set())
    return frozenset(filter(str.isidentifier, found))


def handed_keys(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Return the keys of dictionaries that a constructor hands on whole to that of a base.

    Models of pydantic that allow further data have them as attributes.
    """
    found: set[str] = set()
    for method in body:
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        nodes = [*ast.walk(method)]
        calls = [each for each in nodes if isinstance(each, ast.Call)]
        handed = {
            dotted(keyword.value)
            for each in calls
            if isinstance(each.func, ast.Attribute) and each.func.attr == "__init__"
            for keyword in each.keywords
            if keyword.arg is None
        }
        found |= {
            string_value(each.slice)
            for each in nodes
            if isinstance(each, ast.Subscript)
            and isinstance(each.ctx, ast.Store)
            and dotted(each.value) in handed
        }
    return frozenset(found - {""})


def allows_extra(node: ast.ClassDef) -> bool:
    """Return whether the configuration of a model of pydantic may allow data besides the fields.

    That is ``extra="allow"`` in the class's header, in ``model_config`` or in a ``Config`` inside.
    """
    values = [each.value for each in node.keywords if each.arg == "extra"]
    for statement in node.body:
        match statement:
            case ast.ClassDef(name="Config", body=body):
                for each in body:
                    values += [v for t, _, v in assignments(each) if v and dotted(t) == "extra"]
            case ast.Assign() | ast.AnnAssign():
                for target, _, value in assignments(statement):
                    if dotted(target) == "model_config" and value is not None:
                        values += _values_of_key(value, "extra")
    forbidding = (string_value(each) or dotted(each).rpartition(".")[2] for each in values)
    return any(each not in {"ignore", "forbid"} for each in forbidding)


def _values_of_key(node: ast.expr, key: str) -> list[ast.expr]:
    """Return the values of a key of ``{…}`` or ``Made(…)``; the node itself where it is neither."""
    match node:
        case ast.Call(keywords=keywords, args=[]) if all(each.arg for each in keywords):
            return [each.value for each in keywords if each.arg == key]
        case ast.Dict(keys=keys, values=values) if all(map(string_value, keys)):
            pairs = zip(keys, values, strict=True)
            return [value for each, value in pairs if string_value(each) == key]
    return [node]


def _getattr_definitions(
    body: Sequence[ast.stmt], *, hidden: bool = False
) -> Iterator[tuple[ast.stmt, bool]]:
    for node in body:
        match node:
            case ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                yield node, hidden
            case ast.Assign() | ast.AnnAssign():
                targets = {dotted(target) for target, *_ in assignments(node)}
                if targets & {"__getattr__", "__getattribute__"}:
                    yield node, hidden
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=operand)):
                # ``if not TYPE_CHECKING`` hides it from type checkers.
                is_hidden = dotted(operand).rpartition(".")[2] == "TYPE_CHECKING"
                yield from _getattr_definitions(node.body, hidden=hidden or is_hidden)
                yield from _getattr_definitions(node.orelse, hidden=hidden)
            case ast.If() | ast.Try() | ast.With():
                for part in ("body", "orelse", "finalbody"):
                    yield from _getattr_definitions(getattr(node, part, ()), hidden=hidden)


def _getattr_result(node: ast.stmt, *, hidden: bool) -> GetattrResult:
    result = _written_result(node)
    return "hidden" if hidden and result != "no" else result


def _written_result(node: ast.stmt) -> GetattrResult:
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 2:
        return "any"
    if dotted(node.returns).rpartition(".")[2] in {"NoReturn", "Never"}:
        return "no"
    name = node.args.args[1].arg
    given = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    supers = {
        target
        for each in ast.walk(node)
        if isinstance(each, ast.Assign) and _is_getter_of_super(each.value)
        for target in (dotted(place) for place, *_ in assignments(each))
    }
    given = [
        each for each in given if not (_calls_super(each, name, supers) or _is_enum_member(each))
    ]
    if not given:
        return "no" if _never_ends(node.body) else "any"
    parts = {
        dotted(each.target)
        for each in ast.walk(node)
        if isinstance(each, ast.For) and _is_own_part(each.iter)
    }
    if all(_is_own_item(each, name, parts) for each in given):
        # What it makes itself may be called; data is not.
        return "any" if any(_puts_item(each, name) for each in ast.walk(node)) else "items"
    told = _told(node, name)
    if all(each in told for each in given) and _never_ends(node.body):
        return "no"
    is_handed = all(each in told or _is_handed(each, name) for each in given)
    return "handed" if is_handed else "any"


def _compares(test: ast.expr, name: str) -> bool:
    """Return whether a test is that a name is a text, or one of some: ``name == "event"``."""
    match test:
        case ast.Compare(
            left=ast.Name(id=asked), ops=[ast.Eq()], comparators=[ast.Constant(value=str())]
        ):
            return asked == name
        case ast.Compare(
            left=ast.Name(id=asked),
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=texts) | ast.List(elts=texts) | ast.Set(elts=texts)],
        ):
            return asked == name and all(map(string_value, texts))
    return False


def _is_handed(node: ast.expr | None, name: str) -> bool:
    """Return whether a node is ``getattr(another, name)``."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Name(id=asked), *_]):
            return asked == name
    return False


def _puts_item(node: ast.AST, name: str) -> bool:
    """Return whether a node is ``self._made[name] = …``."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(each, ast.Subscript) and dotted(each.slice) == name for each in targets)


def _is_own_item(node: ast.expr | None, name: str, parts: Collection[str]) -> bool:
    """Return whether a node is ``self[name]``, or an item of a part of what ``self`` holds.

    Args:
        node: what is returned.
        name: the parameter that has the name that is asked for.
        parts: variables that stand for such parts.
    """
    match node:
        case ast.Subscript(value=owner, slice=ast.Name(id=key)) if key == name:
            return dotted(owner) in {"self", *parts} or _is_own_part(owner)
    return False


def _never_ends(body: Sequence[ast.stmt]) -> bool:
    """Return whether statements return or raise in any case."""
    match body[-1]:
        case ast.Raise() | ast.Return():
            return True
        case ast.Try(body=tried, handlers=handlers, orelse=[]):
            return _never_ends(tried) and all(_never_ends(each.body) for each in handlers)
        case ast.If(body=then, orelse=[_, *_] as otherwise):
            return _never_ends(then) and _never_ends(otherwise)
    return False


def _is_enum_member(node: ast.expr | None) -> bool:
    """Return whether a node is ``cls._member_map_[name.upper()]``, a member in another case."""
    return isinstance(node, ast.Subscript) and dotted(node.value).endswith("._member_map_")


def _is_own_part(node: ast.expr) -> bool:
    """Return whether a node is an attribute of ``self`` that holds data: no functions by name."""
    owner, _, attribute = dotted(node).rpartition(".")
    return owner == "self" and _OF_FUNCTIONS.search(attribute) is None


def _is_getter_of_super(node: ast.expr) -> bool:
    """Return whether a node is ``super().__getattr__``."""
    match node:
        case ast.Attribute(value=owner, attr="__getattribute__" | "__getattr__"):
            return is_of_super(owner)
    return False


def _calls_super(node: ast.expr | None, name: str, getters: Collection[str]) -> bool:
    """Return whether a node is ``object.__getattribute__(self, name)``, or that of ``super()``.

    Args:
        node: what is returned.
        name: the parameter that has the name that is asked for.
        getters: variables that stand for such methods.
    """
    match node:
        case ast.Call(func=ast.Name(id=called), args=[ast.Name(id=given)]) if called in getters:
            return given == name
        case ast.Call(func=ast.Attribute(value=owner, attr="__getattribute__" | "__getattr__")):
            return is_of_super(owner) and bool(node.args) and dotted(node.args[-1]) == name
        case ast.Call(args=[_, ast.Call(func=ast.Name(id="super")), ast.Name(id=given)]):
            # ``fall_back(self, super(), name)`` asks the super class, or raises.
            return given == name
    return False
