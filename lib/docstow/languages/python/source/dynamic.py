"""Names that a module gives on demand, where they can be read.

This room knows ``lazy_loader.attach`` and the ``__getattr__`` that compares with written names,
in the module itself or made by a function of another.
Other loaders are code, and stay unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from docstow.languages.python.source.signature import dotted, literal

# What Python source does to names while it runs, where reading alone cannot follow.


# One for each: each begins with plain letters, which is ten times as fast as all in one.
_MENTIONS = tuple(
    re.compile(each)
    for each in (
        r"globals\s*\(\s*\)",
        r"vars\s*\(\s*\)",
        r"locals\s*\(\s*\)",
        r"modules\b(?<!\wmodules)",
        r"meta_path\b",
        r"exec\s*\(",
        r"setattr\b",
        r"\(\s*__name__",
        r"global\s(?<!\wglobal\s)",
        r"__dict__",
        r"__setattr__",
        r"__path__\s*=",
        r"__builtins__",
    )
)


#: Methods of a namespace that only look.
_LOOKS = {"get", "items", "keys", "values", "copy", "pop", "clear"}


_SELF = {"self", "cls"}


#: What is restored was there before, and what is set is set by a statement elsewhere.
_LATER = {"__setstate__", "__setattr__", "__delattr__"}


@dataclass(slots=True)
class Dynamics:
    """What was found.

    Attributes:
        opened: why any name may appear in the module.
        names: names that functions bind in the module by ``global``.
        classes: why any name may appear in a class, by the class's name.
        patched: names that are set on a class from outside, by the class's name.
    """

    opened: str = ""
    names: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)
    patched: dict[str, set[str]] = field(default_factory=dict)


def dynamics(tree: ast.Module, text: str) -> Dynamics:
    """Find them all."""
    found = Dynamics()
    for owner, name in _patches(tree.body):
        found.patched.setdefault(owner, set()).add(name)
    if any(each.search(text) for each in _MENTIONS):
        _Walker(found, text).visit(tree)
    return found


def _patches(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """``Owner.name = …`` in a module's own statements."""
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    yield target.value.id, target.attr
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from _patches(getattr(node, part, []))


class _Walker(ast.NodeVisitor):
    """Goes over every node, knowing in which class and function it is."""

    def __init__(self, found: Dynamics, text: str) -> None:
        self._found = found
        self._text = text
        self._classes: list[str] = []
        self._depth = 0
        self._unread: set[str] = set()

    def visit_Module(self, node: ast.Module) -> None:
        # Functions that never look at their only argument: it may be a namespace.
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and len(each.args.args) == 1:
                used = {use.id for use in ast.walk(each) if isinstance(use, ast.Name)}
                if each.args.args[0].arg not in used:
                    self._unread.add(each.name)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        depth, self._depth = self._depth, 0
        self.generic_visit(node)
        self._depth = depth
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in _LATER:
            return
        if node.name in {"__getattr__", "__dir__"} and not self._classes and not self._depth:
            # What it keeps are names that it answers for; that is read elsewhere.
            for each in ast.walk(node):
                if isinstance(each, ast.Global):
                    self.visit_Global(each)
            return
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_For(self, node: ast.For) -> None:
        # for name in ["a", "b"]: globals()[name] = …
        names = [literal(each) for each in getattr(node.iter, "elts", ())]
        keys = [
            each
            for each in ast.walk(node)
            if isinstance(each, ast.Subscript) and _is_namespace(each.value)
        ]
        outside = not self._depth and not self._classes
        by_name = keys and all(dotted(each.slice) == dotted(node.target) for each in keys)
        if names and all(names) and outside and by_name:
            self._found.names.update(names)
            return
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self._found.names.update(node.names)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if dotted(node) in {"sys.modules", "sys.meta_path"}:
            self._found.opened = self._found.opened or f"it changes {dotted(node)}"
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        looked = isinstance(node.ctx, ast.Load)
        if not looked and self._is_own_dict(node.value):
            if (name := literal(node.slice)) and self._classes:
                self._found.patched.setdefault(self._classes[-1], set()).add(name)
            elif not isinstance(node.ctx, ast.Del):
                self._open_class("its __dict__ is written")
        # Another module is looked up by its name; this one is taken to be changed.
        looked = looked and dotted(node.slice) != "__name__"
        if looked and _is_namespace(node.value):
            self.visit(node.slice)
            return
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for each in (node.left, *node.comparators):
            if not _is_namespace(each):
                self.visit(each)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for each in (node.target, node.iter, *node.ifs):
            if not _is_namespace(each):
                self.visit(each)

    def visit_Assign(self, node: ast.Assign) -> None:
        if _is_namespace(node.value) and self._only_looked_at(node.targets):
            return
        if any(self._is_own_dict(each) for each in node.targets):
            self._open_class("its __dict__ is replaced")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        if isinstance(node.func, ast.Attribute):
            owner, method = node.func.value, node.func.attr
            if _is_namespace(owner) and method in _LOOKS:
                for each in node.args:
                    self.visit(each)
                return
            if self._is_own_dict(owner) and method not in _LOOKS:
                self._open_class("its __dict__ is written")
        if name in {"sorted", "list", "set", "len", "dict"} and any(map(_is_namespace, node.args)):
            return
        if name in self._unread and any(map(_is_namespace, node.args)):
            return
        if not self._depth and _hands_over_name(node, name):
            self._found.opened = self._found.opened or f"it hands its name to {name}"
        if _is_namespace(node) and name != "sys.modules":
            self._open_here(f"it uses {name}()")
        elif name == "exec" and not self._depth:
            self._open_here("it runs code with exec")
        elif name == "setattr" or name.endswith("__setattr__"):
            self._set(node)
        self.generic_visit(node)

    def _only_looked_at(self, targets: list[ast.expr]) -> bool:
        """Whether the namespace that gets a name is read by key alone."""
        name = dotted(targets[0])
        uses = re.findall(rf"\b{re.escape(name)}\b(\[[^\]\n]*\](?!\s*=[^=]))?", self._text)
        asked = len(re.findall(rf"\bin {re.escape(name)}\b", self._text))
        return bool(name) and uses.count("") - asked <= 1

    def _set(self, node: ast.Call) -> None:
        # object.__setattr__(self, name, value) and setattr(self, name, value)
        owner = dotted(node.args[0]) if node.args else ""
        name = literal(node.args[1]) if len(node.args) > 1 else ""
        target = self._classes[-1] if owner in _SELF and self._classes else owner
        if not target or "." in target:
            if not owner and not name and node.args and not self._depth and not self._classes:
                self._found.opened = self._found.opened or "it sets attributes by name"
            return
        if name:
            self._found.patched.setdefault(target, set()).add(name)
        elif target:
            self._found.classes.setdefault(target, "attributes are set by name")

    def _open_here(self, why: str) -> None:
        # vars() and locals() of a function are its own; globals() are the module's everywhere.
        if self._depth and "globals" not in why:
            return
        if self._classes and "globals" not in why:
            self._open_class(why)
        else:
            self._found.opened = self._found.opened or why

    def _open_class(self, why: str) -> None:
        if self._classes:
            self._found.classes.setdefault(self._classes[-1], why)

    @staticmethod
    def _is_own_dict(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return dotted(node.value) in _SELF
        call = isinstance(node, ast.Call) and dotted(node.func) == "vars"
        return call and [dotted(each) for each in node.args] in (["self"], ["cls"])  # type: ignore[attr-defined]


def _hands_over_name(node: ast.Call, name: str) -> bool:
    """Whether a module gives its own name to a function that may replace it."""
    given = any(dotted(each) == "__name__" for each in node.args)
    return given and not re.search(r"log|version|attach|getattr|Tester", name, re.IGNORECASE)


def _is_namespace(node: ast.AST) -> bool:
    """``globals()``, ``locals()`` or ``vars()`` of where it stands, or all modules."""
    if dotted(node) == "sys.modules":
        return True
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return dotted(node.func) in {"globals", "locals", "vars"}


def attached(tree: ast.Module, name: str) -> Mapping[str, tuple[str, str]]:
    """Names that a package's ``__init__`` loads lazily: module and name in it (or nothing).

    Empty where there is no such call, or where a part of it is not written out.
    """
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and dotted(call.func) in {
            "lazy.attach",
            "lazy_loader.attach",
        }:
            return _names(call, name)
    return {}


def _names(call: ast.Call, name: str) -> Mapping[str, tuple[str, str]]:
    given = dict(zip(("name", "submodules", "submod_attrs"), call.args, strict=False))
    given |= {each.arg or "**": each.value for each in call.keywords}
    try:
        modules = ast.literal_eval(given["submodules"]) if "submodules" in given else ()
        attributes = ast.literal_eval(given["submod_attrs"]) if "submod_attrs" in given else {}
        found = {each: (f"{name}.{each}", "") for each in modules or ()}
        for module, names in (attributes or {}).items():
            found |= {each: (f"{name}.{module}", each) for each in names}
    except (ValueError, TypeError, AttributeError, SyntaxError):
        return {}
    return found


@dataclass(frozen=True, slots=True)
class Answered:
    """What a module's ``__getattr__`` answers for; all else raises ``AttributeError``.

    Attributes:
        names: as they are written.
        makers: functions whose result is asked for the others, as they are named in the module.
    """

    names: frozenset[str] = frozenset()
    makers: tuple[str, ...] = ()


def compared(tree: ast.Module) -> Answered | None:
    """What a module's ``__getattr__`` answers for; None where it may answer for more."""
    found = [
        each
        for each in _statements(tree.body)
        if getattr(each, "name", "") == "__getattr__" or "__getattr__" in _bound(each)
    ]
    if len(found) != 1:
        return None
    if isinstance(found[0], ast.FunctionDef):
        return _Reading(tree).function(found[0])
    maker = _made_by(found[0])
    return Answered(makers=(maker,)) if maker else None


def makers(tree: ast.Module) -> Mapping[str, frozenset[str]]:
    """Functions of a module that make a ``__getattr__``, and the names that those answer for.

    A name may have the module's before it, with a colon between.
    """
    found = {}
    for node in tree.body:
        last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or not isinstance(last, ast.Return):
            continue
        inner = [each for each in node.body if getattr(each, "name", "") == dotted(last.value)]
        if len(inner) == 1 and isinstance(inner[0], ast.FunctionDef):
            answered = _Reading(tree).function(inner[0])
            if answered is not None and not answered.makers:
                found[node.name] = answered.names
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """A module's own statements, those of its branches too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, ()))


def _bound(node: ast.stmt) -> dict[str, ast.expr]:
    """The names that an assignment gives to a value."""
    if isinstance(node, ast.Assign):
        return {each.id: node.value for each in node.targets if isinstance(each, ast.Name)}
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        return {node.target.id: node.value}
    return {}


def _made_by(node: ast.stmt) -> str:
    """The function of ``name = function(__name__)``."""
    call = node.value if isinstance(node, ast.Assign) else None
    if isinstance(call, ast.Call) and [dotted(each) for each in call.args] == ["__name__"]:
        return dotted(call.func)
    return ""


class _Reading:
    """Follows a ``__getattr__`` for a name that is written nowhere in its file.

    Such a name is equal to nothing and in no table. Where that leads to ``AttributeError`` on
    every way, the written names are all that are answered for.
    """

    def __init__(self, tree: ast.Module) -> None:
        statements = list(_statements(tree.body))
        self._values = {name: given for each in statements for name, given in _bound(each).items()}
        self._makers = {name: _made_by(each) for each in statements for name in _bound(each)}
        for changed in _changed(tree):
            self._values.pop(changed, None)
        self._names: set[str] = set()
        self._delegates: set[str] = set()
        self._asked: set[str] = set()
        self._nothing: set[str] = set()
        self._own: set[str] = set()

    def function(self, node: ast.FunctionDef) -> Answered | None:
        if len(node.args.args) != 1:
            return None
        self._asked.add(node.args.args[0].arg)
        if not self._ends(node.body):
            return None
        return Answered(frozenset(self._names), tuple(sorted(self._delegates)))

    def _ends(self, body: Sequence[ast.stmt]) -> bool | None:
        """Whether statements end in an AttributeError or at a maker's function, or are passed.

        None: they may give something.
        """
        for node in body:
            ends: bool | None = False
            match node:
                case ast.Raise(exc=exc):
                    raised = exc.func if isinstance(exc, ast.Call) else exc
                    is_missing = dotted(raised).endswith(("AttributeError", "RemovedError"))
                    return True if is_missing else None
                case ast.Return():
                    return self._delegated(node.value)
                case ast.If():
                    ends = self._branch(node)
                case ast.Try(body=[ast.Assign(value=value)], handlers=[handler]):
                    names = self._key_of(value)
                    if names is None or dotted(handler.type) != "KeyError":
                        return None
                    self._names |= names
                    return self._ends(handler.body)
                case ast.Try(body=[ast.Return(value=ast.Subscript() as value)], handlers=[handler]):
                    names = self._key_of(value)
                    if names is None or dotted(handler.type) != "KeyError":
                        return None
                    self._names |= names
                    return self._ends(handler.body)
                case ast.Assign() | ast.AnnAssign():
                    self._assign(node)
                case ast.Import() | ast.ImportFrom() | ast.Expr() | ast.Global():
                    pass
                case _:
                    return None
            if ends is not False:
                return ends
        return False

    def _branch(self, node: ast.If) -> bool | None:
        holds = self._holds(node.test, answered=_returns(node.body))
        if holds is None:
            ways = {self._ends(node.body), self._ends(node.orelse)}
            return None if None in ways else all(ways)
        return self._ends(node.body if holds else node.orelse)

    def _delegated(self, value: ast.expr | None) -> bool | None:
        """True for ``return made(name)``, where another function has made ``made``."""
        match value:
            case ast.Call(func=function, args=[ast.Name(id=given)]) if given in self._asked:
                maker = self._makers.get(dotted(function), "")
                self._delegates.add(maker)
                return True if maker else None
        return None

    def _assign(self, node: ast.stmt) -> None:
        for name, value in _bound(node).items():
            for group in (self._asked, self._nothing, self._own):
                group.discard(name)
            self._values[name] = value
            if isinstance(value, ast.JoinedStr) and self._is_asked(value.values[-1]):
                self._asked.add(name)
            elif (names := self._key_of(value)) is not None:
                self._names |= names
                self._nothing.add(name)
            elif re.fullmatch(r"globals\(\)|sys\.modules\[\w+\]\.__dict__", ast.unparse(value)):
                self._own.add(name)

    def _is_asked(self, node: ast.expr) -> bool:
        return isinstance(node, ast.FormattedValue) and dotted(node.value) in self._asked

    def _key_of(self, node: ast.expr) -> set[str] | None:
        """The keys of a table that is asked for the name: ``table.get(name)``, ``table[name]``."""
        match node:
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[ast.Name(id=name)]):
                return self._written(table) if name in self._asked else None
            case ast.Subscript(value=table, slice=ast.Name(id=name)):
                return self._written(table) if name in self._asked else None
        return None

    def _written(self, node: ast.expr) -> set[str] | None:
        """The elements of a table; None where they are not all written out."""
        if ast.unparse(node) == "globals()":
            return set()
        table = self._values.get(dotted(node), node)
        if isinstance(table, ast.DictComp):
            return _made_keys(table)
        elements = getattr(table, "keys" if isinstance(table, ast.Dict) else "elts", None)
        if not isinstance(elements, list) or not all(each and literal(each) for each in elements):
            return None
        return {literal(each) for each in elements}

    def _holds(self, test: ast.expr, *, answered: bool) -> bool | None:
        """Whether a condition holds for a name that is written nowhere; None: it may."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self._holds(inner, answered=True)
                return None if holds is None else not holds
            case ast.Name(id=name):
                return False if name in self._nothing else None
            case ast.Compare(left=ast.Name(id=name), ops=[one], comparators=[other]):
                if name in self._nothing and isinstance(other, ast.Constant):
                    empty = other.value is None
                    kinds = {ast.Is: True, ast.IsNot: False}
                    return kinds.get(type(one)) if empty else None
                if name in self._asked:
                    return self._compares(one, other, answered=answered)
        return None

    def _compares(self, one: ast.cmpop, other: ast.expr, *, answered: bool) -> bool | None:
        if isinstance(one, (ast.Eq, ast.NotEq)):
            names = {literal(other)} if literal(other) else None
        elif dotted(other) in self._own:
            names = set()
        else:
            names = self._written(other)
        if names is None or not isinstance(one, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return None
        without = isinstance(one, (ast.NotEq, ast.NotIn))
        if answered or without:
            self._names |= names
        return without


def _made_keys(table: ast.DictComp) -> set[str] | None:
    """The keys of ``{f"module:{name}": … for name in ("a", "b")}``."""
    over = table.generators[0]
    names = [literal(each) for each in getattr(over.iter, "elts", ())]
    match table.key:
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), ast.FormattedValue(value=last)]):
            plain = len(table.generators) == 1 and not over.ifs and all(names)
            if plain and names and dotted(last) == dotted(over.target) != "":
                return {f"{first}{each}" for each in names}
    return None


def _returns(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may give a value."""
    return any(isinstance(each, ast.Return) for node in body for each in ast.walk(node))


def _changed(tree: ast.Module) -> set[str]:
    """Names of what gets more elements than are written out."""
    found = set()
    for node in ast.walk(tree):
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
