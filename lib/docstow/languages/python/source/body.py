"""The body of a Python module or class while it is read: what its statements bind.

This room knows definitions, branches and overloads. It does not know files, nor what is dynamic in
them. Every branch is read: a name that is bound in any of them may be there.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from docstow.languages.python.source.dynamic import Dynamics
from docstow.languages.python.source.facts import Asked, ClassBody, Definition, Field
from docstow.languages.python.source.signature import (
    Function,
    Source,
    decorators,
    deprecation,
    docstring,
    dotted,
    forward,
    header,
    keeps_arguments,
    literal,
    makes_itself,
    parameters,
)
from docstow.languages.shared.surface import Parameter

# What a class does with names that it has not


_ORDER: tuple[Asked, ...] = ("no", "hidden", "items", "any")


def asked(body: Sequence[ast.stmt]) -> Asked:
    """The widest of what the ``__getattr__`` and ``__getattribute__`` of a class body do."""
    found = [_form(node, hidden=hidden) for node, hidden in _askers(body)]
    return max(found, key=_ORDER.index, default="no")


def _askers(body: Sequence[ast.stmt], *, hidden: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    for node in body:
        match node:
            case ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                yield node, hidden
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(dotted(each) in {"__getattr__", "__getattribute__"} for each in targets):
                    yield node, hidden
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=operand)):
                # ``if not TYPE_CHECKING``: who reads types is to see no such name.
                secret = dotted(operand).rpartition(".")[2] == "TYPE_CHECKING"
                yield from _askers(node.body, hidden=hidden or secret)
                yield from _askers(node.orelse, hidden=hidden)
            case ast.If() | ast.Try() | ast.With():
                for part in ("body", "orelse", "finalbody"):
                    yield from _askers(getattr(node, part, ()), hidden=hidden)


def _form(node: ast.stmt, *, hidden: bool) -> Asked:
    if hidden:
        return "hidden"
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 2:
        return "any"
    if dotted(node.returns).rpartition(".")[2] in {"NoReturn", "Never"}:
        return "no"
    name = node.args.args[1].arg
    given = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    given = [each for each in given if not _passes_on(each, name)]
    if not given:
        return "no" if isinstance(node.body[-1], ast.Raise | ast.Return) else "any"
    return "items" if all(_is_item(each, name) for each in given) else "any"


def _is_item(node: ast.expr | None, name: str) -> bool:
    """``self[name]``."""
    match node:
        case ast.Subscript(value=ast.Name(id="self"), slice=ast.Name(id=key)):
            return key == name
    return False


def _passes_on(node: ast.expr | None, name: str) -> bool:
    """``object.__getattribute__(self, name)`` and the like of ``super()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="__getattribute__" | "__getattr__")):
            above = isinstance(owner, ast.Call) and dotted(owner.func) == "super"
            last = node.args[-1] if node.args else None
            return (above or dotted(owner) == "object") and dotted(last) == name
    return False


# What methods of a class give to the attributes of an instance, as far as it is written there.


_Method = ast.FunctionDef | ast.AsyncFunctionDef


def instance_attributes(node: ast.ClassDef, source: Source) -> Mapping[str, str]:
    """Signatures by name: ``name: annotation``, or ``name = Class(…)`` where nothing else is set.

    Args:
        node: the class.
        source: its file.
    """
    told: dict[str, str] = {}
    seen: dict[str, set[str]] = {}
    for method in node.body:
        every = [*method.args.posonlyargs, *method.args.args] if isinstance(method, _Method) else []
        if not every or not isinstance(method, _Method):
            continue
        typed = {
            each.arg: source.quote(each.annotation)
            for each in [*every, *method.args.kwonlyargs]
            if each.annotation is not None
        }
        for name, annotation, value in _set(method, every[0].arg):
            if annotation is not None:
                told[name] = f"{name}: {source.quote(annotation)}"
            text = ""
            if isinstance(value, ast.Name) and value.id in typed:
                text = f"{name}: {typed[value.id]}"
            elif isinstance(value, ast.Call) and dotted(value.func):
                text = f"{name} = {dotted(value.func)}()"
            seen.setdefault(name, set()).add(text)
    alone = {name: next(iter(texts)) for name, texts in seen.items() if len(texts) == 1}
    return {**alone, **told}


def _set(method: _Method, receiver: str) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    for each in ast.walk(method):
        targets: list[ast.expr] = []
        annotation = value = None
        if isinstance(each, ast.Assign):
            targets, value = each.targets, each.value
        elif isinstance(each, ast.AnnAssign):
            targets, value, annotation = [each.target], each.value, each.annotation
        elif isinstance(each, ast.AugAssign):
            targets = [each.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and dotted(target.value) == receiver:
                yield target.attr, annotation, value


# What Python statements bind, and what of them is written out.


def bases(node: ast.expr) -> list[str]:
    """A base class's name, without what it is subscripted with.

    Of ``Base.made_with(Other)`` those of both: what a class makes of itself and another.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=[other], keywords=[]):
            return [dotted(owner), dotted(other)]
        case ast.Subscript(value=value):
            return [dotted(value)]
    return [dotted(node)]


def names(target: ast.AST | None) -> Iterator[str]:
    """The names that a target of an assignment binds."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from names(part)
        case ast.Starred(value=value):
            yield from names(value)


def targets(node: ast.stmt) -> Iterable[str]:
    """Names that the head of a block binds itself."""
    match node:
        case ast.For(target=target):
            yield from names(target)
        case ast.With(items=items):
            for item in items:
                yield from names(item.optional_vars)
        case ast.If(test=test) | ast.While(test=test):
            for each in ast.walk(test):
                if isinstance(each, ast.NamedExpr):
                    yield from names(each.target)


def bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a block: each of its branches and handlers."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(node, part, [])
        if part in {"handlers", "cases"}:
            yield from (each.body for each in inner)
        elif inner:
            yield inner


def strings(node: ast.expr | None) -> list[str] | None:
    """The strings of a literal list; None where it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = strings(node.left), strings(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Dict):
        node = ast.List([each for each in node.keys if each is not None])
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [literal(each) for each in node.elts]
    return found if all(found) else None


# What is looked for in whole classes begins with plain letters, which are much faster to find.
_OWN = re.compile(r"(?:self(?<!\wself)|cls(?<!\wcls))\.([A-Za-z_]\w*)")


_ASSIGNED = re.compile(r"self(?<!\wself)\.([A-Za-z_]\w*)\s*(?::[^=\n]*)?=(?!=)")


_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While, ast.Match)


_CERTAIN_BLOCKS = (ast.With,)


#: Why names are not all seen where a module answers for them itself.
GETATTR = "it defines __getattr__"


class Body:
    """The body of a module or class while it is read.

    Args:
        source: the text.
        package: what relative imports are relative to.
        found: what is dynamic in the file.
        owner: the class's name; empty for a module.
    """

    def __init__(self, source: Source, package: str, found: Dynamics, owner: str = "") -> None:
        self.source = source
        self.package = package
        self.found = found
        self.owner = owner
        self.names: dict[str, list[Definition]] = {}
        self.stars: list[str] = []
        self.fields: list[Field] = []
        self.exports: list[str] | None = None
        self.opened = ""
        self._wraps = "wraps" in source.text
        self._overloads: dict[str, list[tuple[str, tuple[Parameter, ...]]]] = {}

    def take(self, body: Sequence[ast.stmt], *, conditional: bool = False) -> None:
        """Read statements, those of branches included."""
        before: ast.stmt | None = None
        for statement in body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(statement, conditional=conditional)
                case ast.ClassDef():
                    self._class(statement, conditional=conditional)
                case ast.Import() | ast.ImportFrom():
                    self._import(statement, conditional=conditional)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    self._assign(statement, conditional=conditional)
                case ast.Expr(value=ast.Call() as call):
                    self._call(call)
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    self._describe(before, text)
                case _ if isinstance(statement, _BLOCKS):
                    self._block(statement, conditional=conditional)
                case _ if type(statement).__name__ == "TypeAlias":
                    name: ast.Name = statement.name  # type: ignore[attr-defined]
                    self._bind(self._attribute(name.id, statement, conditional=conditional))
            before = statement

    def _describe(self, above: ast.stmt | None, text: str) -> None:
        """A text below an attribute is what tools show of it (PEP 224, never accepted but used)."""
        if isinstance(above, ast.Assign | ast.AnnAssign):
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            for name in (each.id for each in targets if isinstance(each, ast.Name)):
                *_, last = self.names.get(name, [None])
                if last is not None and last.kind == "attribute":
                    self.names[name][-1] = replace(last, docstring=inspect.cleandoc(text))

    def _bind(self, made: Definition) -> None:
        if made.conditional and made.name in self.names:
            self.names[made.name].append(made)
        else:
            self.names[made.name] = [made]
        if made.name == "__getattr__" and not self.owner:
            self.opened = self.opened or GETATTR
        if made.name == "__path__" and not self.owner:
            self.opened = self.opened or "it changes __path__"

    def _block(self, node: ast.stmt, *, conditional: bool) -> None:
        within = conditional or not isinstance(node, _CERTAIN_BLOCKS)
        for target in targets(node):
            self._bind(self._attribute(target, node, conditional=within))
        for body in bodies(node):
            self.take(body, conditional=within)

    def _function(self, node: Function, *, conditional: bool) -> None:
        above = decorators(node, self.source)
        line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        last = {each.name.rpartition(".")[2] for each in above}
        earlier = self.names.get(node.name)
        if last & {"setter", "deleter", "getter"} and earlier and earlier[-1].kind == "property":
            return
        signature = header(node, self.source)
        if node.name == "__new__" and node.returns is None and makes_itself(node):
            signature += " -> Self"
        text = docstring(node)
        overloads = self._overloads.setdefault(node.name, [])
        overloaded = "overload" in last
        if overloaded:
            overloads.append((signature, parameters(node.args)))
        is_property = any("property" in each for each in last) and bool(self.owner)
        made = Definition(
            name=node.name,
            kind="property" if is_property else "function",
            line=line,
            end_line=node.end_lineno or line,
            signature="\n".join([*(each for each, _ in overloads), *[signature][overloaded:]]),
            docstring=text,
            deprecated="" if overloaded else deprecation(node, text),
            decorators=above,
            parameters=None if overloaded else parameters(node.args),
            overloads=tuple(each for _, each in overloads),
            conditional=conditional,
            forwards=forward(node),
            keeps=keeps_arguments(node) if self._wraps else "",
        )
        if not overloaded:
            del self._overloads[node.name]
        first = earlier[-1] if earlier else None
        if first and first.parameters is None and overloads and first.kind == "function":
            # What has overloads before it is one definition with them.
            if first.docstring and not text:
                made = replace(made, docstring=first.docstring)
            self.names[node.name] = [*earlier[:-1], made] if earlier else [made]
            return
        self._bind(made)

    def _class(self, node: ast.ClassDef, *, conditional: bool) -> None:
        source, name = self.source, node.name
        inner = Body(source, self.package, self.found, name)
        inner.take(node.body)
        text = docstring(node)
        line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        methods = "\n".join(source.lines[node.lineno : node.end_lineno])
        told = instance_attributes(node, source)
        for each in sorted({*_ASSIGNED.findall(methods), *self.found.patched.get(name, ())}):
            made = Definition(each, "attribute", 0, 0, signature=told.get(each, ""))
            inner.names.setdefault(each, [made])
        words = {each.arg or "**": each.value for each in node.keywords}
        meta = words.pop("metaclass", None)
        above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
        inside = [source.quote(each) for each in (*node.bases,)]
        inside += [f"{each.arg or '**'}={source.quote(each.value)}" for each in node.keywords]
        body = ClassBody(
            bases=tuple(base for each in node.bases for base in bases(each)),
            metaclass=(dotted(meta) or "?") if meta is not None else "",
            keywords=bool(words),
            names={each: tuple(bound) for each, bound in inner.names.items()},
            fields=tuple(inner.fields),
            mentioned=frozenset(_OWN.findall(methods)),
            opened=inner.opened or self.found.classes.get(name, ""),
            asked=asked(node.body),
            made=any(isinstance(each, ast.Call) for each in node.bases),
        )
        self._bind(
            Definition(
                name=name,
                kind="class",
                line=line,
                end_line=node.end_lineno or line,
                signature=f"{''.join(above)}class {name}"
                + (f"({', '.join(inside)})" * bool(inside)),
                docstring=text,
                deprecated=deprecation(node, text),
                decorators=decorators(node, source),
                body=body,
                conditional=conditional,
            )
        )

    def _import(self, node: ast.Import | ast.ImportFrom, *, conditional: bool) -> None:
        line, end = node.lineno, node.end_lineno or node.lineno
        if isinstance(node, ast.Import):
            for each in node.names:
                name = each.asname or each.name.partition(".")[0]
                target = each.name if each.asname else name
                self._bind(
                    Definition(name, "import", line, end, target=target, conditional=conditional)
                )
            return
        module = self._absolute(node)
        for each in node.names:
            if each.name == "*":
                self.stars.append(module)
                continue
            self._bind(
                Definition(
                    each.asname or each.name,
                    "import",
                    line,
                    end,
                    target=module,
                    imported=each.name,
                    # ``import X as X`` says that X is meant for others.
                    value="public" if each.asname == each.name else "",
                    conditional=conditional,
                )
            )

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        above = self.package.split(".")
        above = above[: len(above) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _assign(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, *, conditional: bool
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound = [name for target in targets for name in names(target)]
        if "__all__" in bound and not self.owner:
            self._export(node)
        if isinstance(node, ast.AugAssign):
            bound = [name for name in bound if name not in self.names]
        if "__slots__" in bound and self.owner:
            for each in strings(node.value) or ():
                self.names.setdefault(
                    each, [Definition(each, "attribute", node.lineno, node.lineno)]
                )
        for name in bound:
            self._bind(self._attribute(name, node, conditional=conditional))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and self.owner:
            self._field(node.target.id, node)

    def _attribute(self, name: str, node: ast.stmt, *, conditional: bool) -> Definition:
        value = getattr(node, "value", None)
        annotation = self.source.quote(getattr(node, "annotation", None))
        signature = f"{name}: {annotation}" if annotation else name
        if value is not None and isinstance(value, ast.expr):
            signature += f" = {self.source.quote(value, 80)}"
        is_other_name = isinstance(node, ast.Assign) and not isinstance(value, ast.Constant)
        return Definition(
            name=name,
            kind="attribute",
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
            signature=signature,
            value=dotted(value) if is_other_name else "",
            conditional=conditional,
        )

    def _field(self, name: str, node: ast.AnnAssign) -> None:
        call = node.value if isinstance(node.value, ast.Call) else None
        keywords = {}
        if call is not None:
            keywords = {each.arg or "**": self.source.quote(each.value) for each in call.keywords}
        made = Field(
            name=name,
            annotation=self.source.quote(node.annotation),
            default=self.source.quote(node.value),
            call=(dotted(call.func) or "?") if call is not None else "",
            keywords=keywords,
        )
        # A field that is annotated again keeps its place.
        places = [number for number, each in enumerate(self.fields) if each.name == name]
        if places:
            self.fields[places[0]] = made
        else:
            self.fields.append(made)

    def _export(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        names = strings(node.value)
        if names is None:
            self.exports = None
        elif isinstance(node, ast.AugAssign) and self.exports is not None:
            self.exports += names
        elif not isinstance(node, ast.AugAssign):
            self.exports = names

    def _call(self, call: ast.Call) -> None:
        name = dotted(call.func)
        if name in {"__all__.extend", "__all__.append"} and self.exports is not None:
            names = strings(call.args[0]) if call.args else None
            if name.endswith("append") and call.args:
                names = [literal(call.args[0])] if literal(call.args[0]) else None
            self.exports = None if names is None else self.exports + names
