"""The body of a Python module or class while it is read: what its statements bind.

Every branch is read: a name that is bound in any of them may be there.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from docstow.languages.python.source.decorators import decorators, keeps_arguments
from docstow.languages.python.source.dynamic import Dynamics
from docstow.languages.python.source.facts import ClassBody, Definition, Field
from docstow.languages.python.source.forwarding import find_forward
from docstow.languages.python.source.getattr_names import class_getattr_result
from docstow.languages.python.source.signature import (
    deprecation,
    docstring,
    format_header,
    parameters,
)
from docstow.languages.python.source.syntax import (
    Function,
    SourceText,
    assignments,
    block_bodies,
    dotted,
    head_names,
    positional,
    string_list,
    string_value,
    target_names,
)
from docstow.languages.shared.surface import Parameter

# Both begin with plain letters, which are much faster to find.
_SELF_ATTRIBUTE = re.compile(r"(?:self(?<!\wself)|cls(?<!\wcls))\.([A-Za-z_]\w*)")
_SELF_ASSIGNMENT = re.compile(r"self(?<!\wself)\.([A-Za-z_]\w*)\s*(?::[^=\n]*)?=(?!=)")
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While, ast.Match)
_LONGEST_VALUE = 80
#: The reason for further names of a module that defines ``__getattr__``.
DEFINES_GETATTR = "it defines __getattr__"


class BodyReader:
    """Reader of the body of a module or class.

    Args:
        source: the text of the file.
        package: what relative imports are relative to.
        dynamics: what the file binds dynamically.
        owner: the class's name; empty for a module.
    """

    def __init__(
        self, source: SourceText, package: str, dynamics: Dynamics, owner: str = ""
    ) -> None:
        self.source = source
        self.package = package
        self.dynamics = dynamics
        self.owner = owner
        self.names: dict[str, list[Definition]] = {}
        self.stars: list[str] = []
        self.fields: dict[str, Field] = {}
        self.exports: list[str] | None = None
        self.open_reason = ""
        self._wraps = "wraps" in source.text
        self._overloads: dict[str, list[tuple[str, tuple[Parameter, ...]]]] = {}

    def read(self, body: Sequence[ast.stmt], *, conditional: bool = False) -> None:
        """Read statements, those of their branches included."""
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
        """Take a text below an attribute as its docstring (PEP 224, which is rejected but used)."""
        if isinstance(above, ast.Assign | ast.AnnAssign):
            for target, *_ in assignments(above):
                ways = self.names.get(target.id, []) if isinstance(target, ast.Name) else []
                if ways and ways[-1].kind == "attribute":
                    ways[-1] = replace(ways[-1], docstring=inspect.cleandoc(text))

    def _bind(self, definition: Definition) -> None:
        if definition.conditional and definition.name in self.names:
            self.names[definition.name].append(definition)
        else:
            self.names[definition.name] = [definition]
        if definition.name == "__getattr__" and not self.owner:
            self.open_reason = self.open_reason or DEFINES_GETATTR
        if definition.name == "__path__" and not self.owner:
            self.open_reason = self.open_reason or "it changes __path__"

    def _block(self, node: ast.stmt, *, conditional: bool) -> None:
        within = conditional or not isinstance(node, ast.With)
        for target in head_names(node):
            self._bind(self._attribute(target, node, conditional=within))
        for body in block_bodies(node):
            self.read(body, conditional=within)

    def _function(self, node: Function, *, conditional: bool) -> None:
        above = decorators(node, self.source)
        line = _first_line(node)
        last = {each.name.rpartition(".")[2] for each in above}
        earlier = self.names.get(node.name)
        if last & {"setter", "deleter", "getter"} and earlier and earlier[-1].kind == "property":
            return
        signature = format_header(node, self.source)
        text = docstring(node)
        overloads = self._overloads.setdefault(node.name, [])
        overloaded = "overload" in last
        if overloaded:
            overloads.append((signature, parameters(node.args)))
        is_property = any("property" in each for each in last) and bool(self.owner)
        definition = Definition(
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
            forward=find_forward(node),
            keeps=keeps_arguments(node) if self._wraps else "",
        )
        if not overloaded:
            del self._overloads[node.name]
        first = earlier[-1] if earlier else None
        if first and first.parameters is None and overloads and first.kind == "function":
            # An implementation is one definition with the overloads above it.
            if first.docstring and not text:
                definition = replace(definition, docstring=first.docstring)
            self.names[node.name] = [*earlier[:-1], definition] if earlier else [definition]
            return
        self._bind(definition)

    def _class(self, node: ast.ClassDef, *, conditional: bool) -> None:
        source, name = self.source, node.name
        inner = BodyReader(source, self.package, self.dynamics, name)
        inner.read(node.body)
        text, line = docstring(node), _first_line(node)
        methods = "\n".join(source.lines[node.lineno : node.end_lineno])
        attributes = _instance_attributes(node, source)
        for each in sorted(
            {*_SELF_ASSIGNMENT.findall(methods), *self.dynamics.patched.get(name, ())}
        ):
            definition = Definition(each, "attribute", 0, 0, signature=attributes.get(each, ""))
            inner.names.setdefault(each, [definition])
        keywords = {each.arg or "**": each.value for each in node.keywords}
        metaclass = keywords.pop("metaclass", None)
        above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
        parts = [source.quote(each) for each in node.bases]
        parts += [f"{each.arg or '**'}={source.quote(each.value)}" for each in node.keywords]
        header = f"({', '.join(parts)})" if parts else ""
        body = ClassBody(
            bases=tuple(base for each in node.bases for base in _base_names(each)),
            metaclass=(dotted(metaclass) or "?") if metaclass is not None else "",
            keywords=bool(keywords),
            names={each: tuple(bound) for each, bound in inner.names.items()},
            fields=tuple(inner.fields.values()),
            mentioned=frozenset(_SELF_ATTRIBUTE.findall(methods)),
            open_reason=inner.open_reason or self.dynamics.classes.get(name, ""),
            getattr_result=class_getattr_result(node.body),
            has_called_base=any(isinstance(each, ast.Call) for each in node.bases),
        )
        self._bind(
            Definition(
                name=name,
                kind="class",
                line=line,
                end_line=node.end_lineno or line,
                signature=f"{''.join(above)}class {name}{header}",
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
                    # ``import X as X`` exports X.
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
        bound = [name for target, *_ in assignments(node) for name in target_names(target)]
        if "__all__" in bound and not self.owner:
            self._export(node)
        if isinstance(node, ast.AugAssign):
            bound = [name for name in bound if name not in self.names]
        if "__slots__" in bound and self.owner:
            for each in string_list(node.value) or ():
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
            signature += f" = {self.source.quote(value, _LONGEST_VALUE)}"
        is_alias = isinstance(node, ast.Assign) and not isinstance(value, ast.Constant)
        return Definition(
            name=name,
            kind="attribute",
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
            signature=signature,
            value=dotted(value) if is_alias else "",
            conditional=conditional,
        )

    def _field(self, name: str, node: ast.AnnAssign) -> None:
        call = node.value if isinstance(node.value, ast.Call) else None
        keywords = {}
        if call is not None:
            keywords = {each.arg or "**": self.source.quote(each.value) for each in call.keywords}
        # A field that is annotated again keeps its place.
        self.fields[name] = Field(
            name=name,
            annotation=self.source.quote(node.annotation),
            default=self.source.quote(node.value),
            call=(dotted(call.func) or "?") if call is not None else "",
            keywords=keywords,
        )

    def _export(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        names = string_list(node.value)
        if names is None:
            self.exports = None
        elif isinstance(node, ast.AugAssign) and self.exports is not None:
            self.exports += names
        elif not isinstance(node, ast.AugAssign):
            self.exports = names

    def _call(self, call: ast.Call) -> None:
        name = dotted(call.func)
        if name in {"__all__.extend", "__all__.append"} and self.exports is not None:
            names = string_list(call.args[0]) if call.args else None
            if name.endswith("append") and call.args:
                names = [string_value(call.args[0])] if string_value(call.args[0]) else None
            self.exports = None if names is None else self.exports + names


def _first_line(node: Function | ast.ClassDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _instance_attributes(node: ast.ClassDef, source: SourceText) -> Mapping[str, str]:
    """Return signatures of the attributes that methods set, by name.

    A signature is ``name: annotation``, or ``name = Class()`` where nothing else is assigned.
    """
    annotated: dict[str, str] = {}
    assigned: dict[str, set[str]] = {}
    for method in node.body:
        if not isinstance(method, Function) or not positional(method):
            continue
        receiver = positional(method)[0].arg
        types = {
            each.arg: source.quote(each.annotation)
            for each in [*positional(method), *method.args.kwonlyargs]
            if each.annotation is not None
        }
        for each in ast.walk(method):
            for target, annotation, value in assignments(each):
                if not isinstance(target, ast.Attribute) or dotted(target.value) != receiver:
                    continue
                name, text = target.attr, ""
                if annotation is not None:
                    annotated[name] = f"{name}: {source.quote(annotation)}"
                if isinstance(each, ast.AugAssign):
                    pass
                elif isinstance(value, ast.Name) and value.id in types:
                    text = f"{name}: {types[value.id]}"
                elif isinstance(value, ast.Call) and dotted(value.func):
                    text = f"{name} = {dotted(value.func)}()"
                assigned.setdefault(name, set()).add(text)
    alone = {name: next(iter(texts)) for name, texts in assigned.items() if len(texts) == 1}
    return {**alone, **annotated}


def _base_names(node: ast.expr) -> list[str]:
    """Return the name of a base class without its type arguments.

    Of ``Base.made_with(Other)``, which makes a class of both, return both.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=[other], keywords=[]):
            return [dotted(owner), dotted(other)]
        case ast.Subscript(value=value):
            return [dotted(value)]
    return [dotted(node)]
