"""Names that Python source binds while it runs, where reading alone cannot follow.

Only statements whose text mentions one of the means are walked: visiting every node is slow.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from docstow.languages.python.source.syntax import (
    Function,
    callee,
    dotted,
    positional,
    string_value,
)

# Each begins with plain letters, which is ten times as fast as one expression for all.
_MENTIONS = tuple(
    re.compile(each)
    for each in (
        r"globals\s*\(\s*\)",
        r"vars\s*\(\s*(?:self|cls)?\s*\)",
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
#: Methods of a namespace that add nothing to it.
_READING_METHODS = {"get", "items", "keys", "values", "copy", "pop", "clear"}
#: Why a class or module has other names that a function makes up and gives it.
FILLED = "a function gives it names"
#: Why a class has other names whose instances have a dictionary.
SET_ON_SELF = "attributes of instances are set by name"
#: Why a class has other names that are keys of its items.
SET_BY_KEY = "items are kept as attributes"
#: Why a class has other names that its code tests before it sets them: they are words of code.
TESTED = "attributes are set by names that are tested"
#: With what begins why a module may have any name that changes ``sys.modules`` or what finds them.
CHANGES = "it changes sys."
#: Letters of a written part by which a name that is made of parts is told from others.
_SHORTEST_PART = 3
#: Methods of a mapping that set items.
_OF_ITEMS = frozenset({"__setitem__", "__delitem__", "update", "setdefault"})
#: What gives the names that a class or its instance has.
_OWN_NAMES = re.compile(
    r"(?:list\()?(?:dir\(self\)|vars\((?:type\(self\)|self|cls)\)"
    r"|(?:self|cls|type\(self\)|self\.__class__)\.__(?:annotations|dict|slots|dataclass_fields)__"
    r"|(?:dataclasses\.)?fields\((?:self|cls)\))"
)
#: Functions that read what they are given first.
_LOOKING = {"getmembers", "dir", "getattr", "hasattr"}
_SELF = {"self", "cls"}
#: Functions that read a namespace: what imports, and what says of objects where they are from. What
#: imports later is read in ``getattr_names``.
_READING = {"__import__", "fixup_module_metadata", "lazy_import"}
#: Functions that are given a module's name, and add nothing to it or are read elsewhere.
_HARMLESS = re.compile(r"log|version|attach|getattr|Tester|recreate_module", re.IGNORECASE)
#: Functions that find the module that calls them.
_OWN_MODULE = {"find_current_module"}
#: Methods whose attributes are set by a statement elsewhere, or were there before.
_RESTORING = {"__setstate__", "__setattr__", "__delattr__"}


@dataclass(slots=True)
class Dynamics:
    """What a file binds dynamically.

    Attributes:
        open_reason: why any name may appear in the module; empty where none can.
        names: names that functions bind in the module by ``global``.
        prefixes: what other names begin with that may appear in the module.
        classes: why any name may appear in a class, by the class's name.
        patched: names that are set on a class from outside, by the class's name.
        composed: with what names begin and end that are made of parts and may appear in a class,
            by the class's name.
        wrapped: the class whose instances another one stands for, by the name of that one.
    """

    open_reason: str = ""
    names: set[str] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)
    patched: dict[str, set[str]] = field(default_factory=dict)
    composed: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    wrapped: dict[str, str] = field(default_factory=dict)


def find_dynamics(tree: ast.Module, text: str) -> Dynamics:
    """Find what a file binds dynamically.

    Args:
        tree: of the file.
        text: of the file.
    """
    found = Dynamics()
    for owner, name in _assigned_attributes(tree.body):
        found.patched.setdefault(owner, set()).add(name)
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Call(func=function, args=[ast.Name(id=wrapper), wrapped])) if (
                "wrap" in dotted(function)
            ):
                found.wrapped[wrapper] = dotted(wrapped)
    places = sorted(match.start() for each in _MENTIONS for match in each.finditer(text))
    if places:
        _Walker(found, text, _lines_of(places, text)).visit(tree)
    return found


def _lines_of(places: Sequence[int], text: str) -> list[int]:
    """Return the lines, from 1, of places in a text that are sorted."""
    found, line, before = [], 1, 0
    for place in places:
        line += text.count("\n", before, place)
        before = place
        found.append(line)
    return found


def _assigned_attributes(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield each ``Owner.name = …`` of a module's own statements."""
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    yield target.value.id, target.attr
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from _assigned_attributes(getattr(node, part, []))


class _Walker(ast.NodeVisitor):
    """Visitor of what mentions one of the means; it keeps track of the class and function around.

    Args:
        found: is filled.
        text: of the file.
        mentions: the lines that have one, sorted.
    """

    def __init__(self, found: Dynamics, text: str, mentions: Sequence[int]) -> None:
        self._found = found
        self._text = text
        self._mentions = mentions
        self._classes: list[str] = []
        self._depth = 0
        self._module = ast.Module([], [])
        #: The innermost function around what is visited.
        self._function: ast.AST = self._module

    def visit(self, node: ast.AST) -> None:
        """Visit a node; a statement only if its lines have a mention."""
        if isinstance(node, ast.stmt):
            above = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(each.lineno for each in above)])
            at = bisect_left(self._mentions, first)
            if at == len(self._mentions) or self._mentions[at] > (node.end_lineno or first):
                return
        super().visit(node)

    def visit_Module(self, node: ast.Module) -> None:
        self._module = node
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        depth, self._depth = self._depth, 0
        self.generic_visit(node)
        self._depth = depth
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in _RESTORING:
            return
        if node.name in {"__getattr__", "__dir__"} and not self._classes and not self._depth:
            # The names that it answers for are read in ``getattr_names``.
            for each in ast.walk(node):
                if isinstance(each, ast.Global):
                    self.visit_Global(each)
            return
        self._depth += 1
        within, self._function = self._function, node
        self.generic_visit(node)
        self._depth, self._function = self._depth - 1, within

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_For(self, node: ast.For) -> None:
        # for name in ["a", "b"]: globals()[name] = …
        names = [string_value(each) for each in getattr(node.iter, "elts", ())]
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
        if outside and by_name and self._imports_all_of(dotted(node.iter)):
            return
        self.generic_visit(node)

    def _imports_all_of(self, listed: str) -> bool:
        """Return whether names that are listed elsewhere, as ``api.__all__``, are imported, too."""
        module, _, last = listed.rpartition(".")
        return last == "__all__" and any(
            isinstance(each, ast.ImportFrom)
            and (each.module or "").rpartition(".")[2] == module
            and each.names[0].name == "*"
            for each in self._module.body
        )

    def visit_Global(self, node: ast.Global) -> None:
        self._found.names.update(node.names)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if dotted(node) in {"sys.modules", "sys.meta_path"}:
            self._open_module(f"{CHANGES}{node.attr}")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        looked = isinstance(node.ctx, ast.Load)
        key = string_value(node.slice)
        if isinstance(node.ctx, ast.Store) and dotted(node.value) == "sys.modules" and "." in key:
            # A module inside this package is put there by its path.
            self._found.names.update(key.split("."))
            return
        if not looked and self._is_own_dict(node.value):
            if (name := string_value(node.slice)) and self._classes:
                self._found.patched.setdefault(self._classes[-1], set()).add(name)
            elif not isinstance(node.ctx, ast.Del) and not self._keeps_answer([node.slice]):
                self._open_class(self._set_reason())
        # A module looked up by another name is only read; this one is taken to be changed.
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
        if _is_namespace(node.value) and (
            self._only_looked_at(node.targets) or self._only_fills_by_prefix(node.targets)
        ):
            return
        if _is_module_itself(node.value) and self._only_gets_members(node.targets):
            return
        if any(self._is_own_dict(each) for each in node.targets):
            self._open_class(SET_ON_SELF)
        if all(map(_is_one_key, node.targets)):
            return
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        if (read := self._only_read(node, name)) is not None:
            for each in read:
                self.visit(each)
            return
        if isinstance(node.func, ast.Attribute):
            # What another instance has is not new.
            method = node.func.attr
            is_copied = method == "update" and all(map(_is_dict, node.args))
            is_read = method in _READING_METHODS or is_copied
            if self._is_own_dict(node.func.value) and not is_read:
                key = string_value(node.args[0]) if node.args else ""
                if method == "setdefault" and key and self._classes:
                    self._found.patched.setdefault(self._classes[-1], set()).add(key)
                else:
                    # What another object makes may be functions.
                    made = any(map(_is_made_elsewhere, node.args))
                    self._open_class(FILLED if made else self._set_reason())
        if (old := _deprecated_names(node, name)) is not None:
            self._found.names |= old
        elif not self._depth and _passes_module_name(node, name):
            self._open_module(f"it hands its name to {name}")
        if _is_namespace(node) and name != "sys.modules":
            self._open(f"it uses {name}()")
        elif name == "exec" and not self._depth:
            self._open("it runs code with exec")
        elif name == "setattr" or name.endswith("__setattr__"):
            self._attribute_set(node)
        self.generic_visit(node)

    def _set_reason(self) -> str:
        classes = [
            each
            for each in self._module.body
            if isinstance(each, ast.ClassDef) and [each.name] == self._classes[-1:]
        ]
        if any(_binds_function(each) for one in classes for each in ast.walk(one)):
            return FILLED
        methods = {getattr(method, "name", "") for each in classes for method in each.body}
        is_item = getattr(self._function, "name", "") in _OF_ITEMS and "__setitem__" in methods
        return SET_BY_KEY if is_item else SET_ON_SELF

    def _only_read(self, node: ast.Call, name: str) -> list[ast.expr] | None:
        """Return what else is given to a call that only reads a namespace; None for others."""
        match node.func:
            case ast.Attribute(value=owner, attr=method) if method in _READING_METHODS:
                if _is_namespace(owner):
                    return node.args
        if name.rpartition(".")[2] in _READING:
            return []
        if _only_looks(node, name):
            return node.args[1:]
        if any(map(_is_namespace, node.args)) and self._ignores_its_argument(name):
            return []
        return None

    def _ignores_its_argument(self, name: str) -> bool:
        """Return whether a function of the module has one argument alone, and does not use it."""
        for each in self._module.body:
            match each:
                case ast.FunctionDef(name=own, args=ast.arguments(args=[only])) if own == name:
                    used = {use.id for use in ast.walk(each) if isinstance(use, ast.Name)}
                    if only.arg not in used:
                        return True
        return False

    def _only_looked_at(self, targets: list[ast.expr]) -> bool:
        """Return whether a namespace that is bound to a name is only read by key."""
        name = dotted(targets[0])
        uses = re.findall(rf"\b{re.escape(name)}\b(\[[^\]\n]*\](?!\s*=[^=]))?", self._text)
        tests = len(re.findall(rf"\bin {re.escape(name)}\b", self._text))
        return bool(name) and uses.count("") - tests <= 1

    def _only_fills_by_prefix(self, targets: list[ast.expr]) -> bool:
        """Return whether a namespace only gets names that begin with a written text.

        ``for name in dir(other): if name.startswith("RLIM"): space[name] = …``
        """
        space, found, uses = dotted(targets[0]), set(), 0
        for node in ast.walk(self._module):
            if isinstance(node, ast.Name) and node.id == space and isinstance(node.ctx, ast.Load):
                uses += 1
            match node:
                case ast.For(target=ast.Name(id=name), body=[ast.If(test=test) as only]):
                    filled = [
                        each
                        for each in ast.walk(only)
                        if isinstance(each, ast.Subscript)
                        and (dotted(each.value), dotted(each.slice)) == (space, name)
                    ]
                    if filled and (prefix := _prefix(test, name)):
                        found.add(prefix)
                        uses -= len(filled)
        self._found.prefixes |= found if not uses else set()
        return bool(found) and not uses

    def _only_gets_members(self, targets: list[ast.expr]) -> bool:
        """Return whether a module that is bound to a name only gets members of its enumerations.

        ``for kind in (Size, Colour): for item in kind: setattr(module, item.name, item.value)``
        """
        space, names, uses = dotted(targets[0]), set[str](), 0
        bodies = {e.name: e.body for e in self._module.body if isinstance(e, ast.ClassDef)}
        loops = [each for each in ast.walk(self._module) if isinstance(each, ast.For)]
        kinds = {dotted(each.target): getattr(each.iter, "elts", [each.iter]) for each in loops}
        for node in ast.walk(self._module):
            if isinstance(node, ast.Name) and node.id == space and isinstance(node.ctx, ast.Load):
                uses += 1
            match node:
                case ast.Call(
                    func=ast.Name(id="setattr"),
                    args=[ast.Name(id=owner), ast.Attribute(ast.Name(id=item), "name"), _],
                ) if owner == space and item in kinds:
                    of = [*map(dotted, kinds[item])]
                    of = [e for one in of for e in [*map(dotted, kinds.get(one, []))] or [one]]
                    uses -= all(each in bodies for each in of)
                    names |= _bound_in(bodies.get(each, []) for each in of)
        self._found.names |= names if not uses else set()
        return bool(names) and not uses

    def _attribute_set(self, node: ast.Call) -> None:
        # object.__setattr__(self, name, value) and setattr(self, name, value)
        owner = dotted(node.args[0]) if node.args else ""
        name = string_value(node.args[1]) if len(node.args) > 1 else ""
        target = self._classes[-1] if self._classes and self._is_receiver(owner) else owner
        for filled in self._filled_by(owner):
            self._open_named(filled, FILLED)
        if not target or "." in target:
            if not owner and not name and node.args and not self._depth and not self._classes:
                self._open_module("it sets attributes by name")
            return
        if name:
            self._found.patched.setdefault(target, set()).add(name)
        elif target and not self._is_private(node.args[1:2]) and not self._is_got(node):
            parts = [*map(_parts, self._values(node.args[1:2]))]
            if parts and all(map(any, parts)):
                self._found.composed.setdefault(target, set()).update(parts)
                return
            reason = SET_ON_SELF if owner == "self" else "attributes are set by name"
            self._open_named(target, TESTED if self._is_tested(node.args[1:2]) else reason)

    def _is_got(self, node: ast.Call) -> bool:
        """Return whether the function around gets an attribute by the name that it sets."""
        wanted = [*map(dotted, node.args[:2])]
        if self._keeps_answer(node.args[1:2]):
            return True
        nodes = [*ast.walk(self._function)] if "" not in wanted else []
        over = [each for each in nodes if isinstance(each, ast.For)]
        if any(wanted[1] in _keys(each.target) and _OWN_NAMES.match(_over(each)) for each in over):
            return True
        if any(isinstance(each, ast.ExceptHandler) for each in nodes):
            return False  # It may set what is not there.
        calls = (each for each in nodes if isinstance(each, ast.Call))
        return any(
            dotted(each.func) == "getattr" and [*map(dotted, each.args)] == wanted for each in calls
        )

    def _keeps_answer(self, name: list[ast.expr]) -> bool:
        """Return whether ``__getattr__`` sets what it is asked for, to answer faster next time."""
        function = self._function
        if not isinstance(function, ast.FunctionDef) or function.name != "__getattr__":
            return False
        return [*map(dotted, name)] == [each.arg for each in positional(function)[1:]]

    def _is_tested(self, name: list[ast.expr]) -> bool:
        """Return whether the function around passes names by that are not among others."""
        tested = dotted(name[0]) if name else ""
        for each in ast.walk(self._function) if tested else ():
            match each:
                case ast.If(test=test, body=[*_, ast.Raise() | ast.Continue() | ast.Return()]):
                    parts = test.values if isinstance(test, ast.BoolOp) else [test]
                    is_any = isinstance(getattr(test, "op", None), ast.And)
                    if not is_any and any(_is_not_there(part, tested) for part in parts):
                        return True
        return False

    def _is_receiver(self, owner: str) -> bool:
        """Return whether a name is what a method gets first, whatever it is called."""
        plain = positional(self._function) if isinstance(self._function, Function) else []
        return owner in _SELF or (self._depth == 1 and owner in {each.arg for each in plain[:1]})

    def _filled_by(self, owner: str) -> Iterator[str]:
        """Yield the classes for which the module calls the function around, by its parameter."""
        function = self._function
        if not isinstance(function, ast.FunctionDef) or self._depth != 1 or self._classes:
            return
        if owner not in {each.arg for each in function.args.args[:1]}:
            return
        for each in self._module.body:
            match each:
                case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Name(id=given)])):
                    if name == function.name:
                        yield given
                case ast.ClassDef(name=given, decorator_list=above):
                    if function.name in map(dotted, above):
                        yield given

    def _is_private(self, name: list[ast.expr]) -> bool:
        """Return whether a name that is made of parts begins with an underscore."""
        made = self._values(name)
        return bool(made) and all(_first_text(each).startswith("_") for each in made)

    def _values(self, name: list[ast.expr]) -> list[ast.expr]:
        """Return what a name may be: itself, or all that the function binds to a variable."""
        if not name or not isinstance(name[0], ast.Name):
            return name
        return [
            each.value
            for each in ast.walk(self._function)
            if isinstance(each, ast.Assign)
            and any(dotted(target) == name[0].id for target in each.targets)
        ]

    def _open(self, why: str) -> None:
        # vars() and locals() of a function are its own, but globals() are the module's everywhere.
        if self._depth and "globals" not in why:
            return
        if self._classes and "globals" not in why:
            self._open_class(why)
        else:
            self._open_module(why)

    def _open_module(self, why: str) -> None:
        self._found.open_reason = self._found.open_reason or why

    def _open_class(self, why: str) -> None:
        if self._classes:
            self._open_named(self._classes[-1], why)

    def _open_named(self, owner: str, why: str) -> None:
        if self._found.classes.get(owner, TESTED) in {TESTED, SET_BY_KEY}:
            self._found.classes[owner] = why

    @staticmethod
    def _is_own_dict(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return dotted(node.value) in _SELF
        call = isinstance(node, ast.Call) and dotted(node.func) == "vars"
        return call and [dotted(each) for each in node.args] in (["self"], ["cls"])  # type: ignore[attr-defined]


def _is_made_elsewhere(node: ast.expr) -> bool:
    """Return whether a node calls a method of what is not the object itself."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))):
            return owner not in {"self", "cls"}
    return False


def _binds_function(node: ast.AST) -> bool:
    """Return whether a node makes a method of a function: ``made.__get__(self, …)``."""
    if not isinstance(node, ast.Call):
        return False
    receivers = {dotted(each) for each in node.args[:2]}
    name = getattr(node.func, "attr", "") or dotted(node.func)
    return name in {"__get__", "MethodType"} and "self" in receivers


def _is_dict(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _passes_module_name(node: ast.Call, name: str) -> bool:
    """Return whether a module passes itself, or its name, to a function that may change it."""
    if any(dotted(callee(each)).rpartition(".")[2] in _OWN_MODULE for each in node.args):
        return True
    given = any(dotted(each) == "__name__" for each in node.args)
    return given and not _HARMLESS.search(name)


def _deprecated_names(node: ast.Call, name: str) -> set[str] | None:
    """Return the old names of ``deprecate_attributes(__name__, {"old": …})``; None for others."""
    match node.args:
        case [ast.Name(id="__name__"), ast.Dict(keys=keys)] if "deprecat" in name:
            names = {*map(string_value, keys)}
            return names if "" not in names else None
    return None


def _bound_in(bodies: Iterable[Sequence[ast.stmt]]) -> set[str]:
    """Return the names that class bodies bind by plain assignments."""
    nodes = (each for body in bodies for each in body if isinstance(each, ast.Assign))
    return {dotted(target) for each in nodes for target in each.targets} - {""}


def _is_one_key(node: ast.expr) -> bool:
    """Return whether a node is an item of a namespace whose key is made of texts alone.

    ``globals()["eman"[::-1]]`` hides one name, which no code is meant to use.
    """
    match node:
        case ast.Subscript(value=value, slice=ast.Call() as key) if _is_namespace(value):
            return not any(isinstance(each, ast.Name) for each in ast.walk(key))
    return False


def _is_not_there(test: ast.expr, name: str) -> bool:
    """Return whether a test is ``name not in names`` or ``not hasattr(owner, name)``."""
    match test:
        case ast.Compare(left=left, ops=[ast.NotIn()]):
            return dotted(left) == name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr"), args=[_, a])):
            return dotted(a) == name
    return False


def _parts(node: ast.expr) -> tuple[str, str]:
    """Return with what a text begins and ends that is made of parts; empty for what may be any."""
    begin, end = "", ""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            begin, end = string_value(left), string_value(right)
        case ast.BinOp(left=left, op=ast.Mod()) if string_value(left).count("%s") == 1:
            begin, _, end = string_value(left).partition("%s")
        case ast.JoinedStr(values=[first, *_, last]):
            begin, end = string_value(first), string_value(last)
    long = [each if len(each) >= _SHORTEST_PART else "" for each in (begin, end)]
    return long[0], long[1]


def _first_text(node: ast.expr) -> str:
    """Return the written text with which an expression begins: ``"_" + name``, ``f"_{name}"``."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod()):
            return _first_text(left)
        case ast.JoinedStr(values=[first, *_]):
            return _first_text(first)
    return string_value(node)


def _prefix(test: ast.expr, name: str) -> str:
    """Return the text with which a name begins where a condition holds; empty for any."""
    for each in test.values if isinstance(test, ast.BoolOp) else [test]:
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=tested), attr="startswith")):
                if tested == name and not isinstance(getattr(test, "op", None), ast.Or):
                    return string_value(each.args[0]) if each.args else ""
    return ""


def _only_looks(node: ast.Call, name: str) -> bool:
    """Return whether a call only reads a namespace, or the module, that it is given first."""
    if name in {"sorted", "list", "set", "len", "dict"} and any(map(_is_namespace, node.args)):
        return True
    is_reader = name.rpartition(".")[2] in _LOOKING
    return is_reader and bool(node.args) and _is_module_itself(node.args[0])


def _is_module_itself(node: ast.expr) -> bool:
    """Return whether a node is ``sys.modules[__name__]``."""
    match node:
        case ast.Subscript(value=value, slice=ast.Name(id="__name__")):
            return dotted(value) == "sys.modules"
    return False


def _keys(target: ast.expr) -> set[str]:
    """Return the variable of a loop, of several the first, and what it is the name of."""
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    return {dotted(first), f"{dotted(first)}.name"} if dotted(first) else set()


def _over(loop: ast.For) -> str:
    return ast.unparse(loop.iter)


def _is_namespace(node: ast.AST) -> bool:
    """Return whether a node is ``globals()``, ``locals()``, ``vars()`` or ``sys.modules``."""
    if dotted(node) == "sys.modules":
        return True
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return dotted(node.func) in {"globals", "locals", "vars"}
