"""Python source and stubs: what a file binds, without running it.

Every branch is read: a name that is bound in any of them may be there. Only where a version of
Python is given, the branches of a stub that test it are decided.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from docstow.core.errors import UnreadableInput
from docstow.languages.python.source.doc_texts import (
    DocText,
    called_text,
    decorated_text,
    doc_text,
    filled_text,
    given_texts,
    known_text,
)
from docstow.languages.python.source.dynamic import Dynamics, find_dynamics
from docstow.languages.python.source.facts import ClassBody, Definition, Field, ModuleFacts
from docstow.languages.python.source.functions import (
    decorators,
    deprecation,
    docstring,
    find_forward,
    find_unpacked,
    format_header,
    keeps_arguments,
    parameters,
)
from docstow.languages.python.source.getattr_names import (
    allows_extra,
    answering_modules,
    class_getattr_result,
    getattr_factories,
    handed_keys,
    lazy_names,
    looks_up_elsewhere,
    module_getattr,
    proxied_attribute,
    told_names,
)
from docstow.languages.python.source.metaclasses import gives_names
from docstow.languages.python.source.syntax import (
    Function,
    SourceText,
    assignments,
    block_bodies,
    dotted,
    head_names,
    made_class_bases,
    named_tuple_fields,
    positional,
    statements,
    string_list,
    string_value,
    target_names,
)
from docstow.languages.shared.surface import Parameter
from docstow.text.python_ast import UNREADABLE, parse_module

_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Both begin with plain letters, which are much faster to find.
_SELF_ATTRIBUTE = re.compile(r"(?:self(?<!\wself)|cls(?<!\wcls))\.([A-Za-z_]\w*)")
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While, ast.Match)
_LONGEST_VALUE = 80
#: Letters of ``Handler = Union[Callable[[Event], None], …]``.
_LONGEST_TYPE = 600
#: The reason for further names of a module that defines ``__getattr__``.
_DEFINES_GETATTR = "it defines __getattr__"
Version = tuple[int, int]
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
}


def read_module(
    body: bytes, name: str, *, package: bool, version: Version | None = None
) -> ModuleFacts:
    """Read one file.

    Args:
        body: the file.
        name: of the module, dotted.
        package: whether the file is an ``__init__``, which decides what relative imports mean.
        version: of Python; branches that test it are decided. None: all of them count.

    Raises:
        UnreadableInput: it is no Python that this interpreter can parse.
    """
    text = _decode(body)
    tree = _parse(text, name)
    _spell_out_namedtuple(tree)
    if version is not None:
        _decide_branches(tree, version)
    dynamics = find_dynamics(tree, text)
    within = name if package else name.rpartition(".")[0]
    scope = _BodyReader(SourceText(text), tree, within, dynamics)
    scope.read(tree.body)
    open_reason = scope.open_reason or dynamics.open_reason
    for each in dynamics.names - scope.names.keys():
        scope.names[each] = [Definition(each, "attribute", 0, 0)]
    factories: tuple[str, ...] = ()
    answered: frozenset[str] = frozenset()
    if open_reason == _DEFINES_GETATTR and (answers := module_getattr(tree)) is not None:
        open_reason = dynamics.open_reason
        answered, factories = answers.names, answers.factories
    elif open_reason == _DEFINES_GETATTR and looks_up_elsewhere(tree):
        open_reason = "its __getattr__ looks names up in what it imports"
    if lazy := lazy_names(tree, name, package=package):
        open_reason = "" if open_reason == _DEFINES_GETATTR else open_reason
        for each, (module, imported) in lazy.items():
            definition = Definition(each, "import", 1, 1, target=module, imported=imported)
            scope.names.setdefault(each, [definition])
        if scope.exports is not None:
            scope.exports += lazy
    return ModuleFacts(
        name=name,
        docstring=docstring(tree) or scope.doc.text,
        names={each: tuple(bound) for each, bound in scope.names.items()},
        stars=tuple(dict.fromkeys(scope.stars)),
        exports=None if scope.exports is None else tuple(dict.fromkeys(scope.exports)),
        open_reason=open_reason,
        lines=len(scope.source.lines),
        getattr_names=answered,
        getattr_factories=factories,
        defined_factories=getattr_factories(tree) if "AttributeError" in text else {},
        given_texts=scope.given,
        open_prefixes=tuple(sorted(dynamics.prefixes)),
        fillers=_fillers(tree) if "f_globals" in text else frozenset(),
    )


def _fillers(tree: ast.Module) -> frozenset[str]:
    """Return the functions of a module that may write to the globals of who calls them."""
    return frozenset(
        each.name for each in tree.body if isinstance(each, Function) and _writes_globals(each)
    )


def _writes_globals(function: Function) -> bool:
    """Return whether a function does more with the globals of a frame than to read them."""
    inside = list(ast.walk(function))
    named = {
        target.id
        for each in inside
        if isinstance(each, ast.Assign)
        and any(getattr(one, "attr", "") == "f_globals" for one in ast.walk(each.value))
        for target in each.targets
        if isinstance(target, ast.Name)
    }

    def is_globals(node: ast.AST) -> bool:
        return getattr(node, "attr", "") == "f_globals" or getattr(node, "id", "") in named

    for each in inside:
        match each:
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if is_globals(value):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if is_globals(value):
                if method not in {"get", "keys", "items", "values", "copy"}:
                    return True
            case ast.Call(args=args, keywords=keywords):
                if any(map(is_globals, (*args, *(one.value for one in keywords)))):
                    return True
            case ast.Return(value=ast.expr() as value) if is_globals(value):
                return True
    return False


def _decode(body: bytes) -> str:
    """Decode a source file by its byte-order mark or its declared encoding."""
    encoding = "utf-8-sig"
    for line in body.split(b"\n", 2)[:2]:
        if found := _ENCODING.match(line):
            encoding = found[1].decode("ascii")
            break
    encoding = "utf-8-sig" if encoding.lower().replace("_", "-") == "utf-8" else encoding
    try:
        return body.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableInput(f"The file is not {encoding} text.") from error


def _parse(text: str, name: str) -> ast.Module:
    try:
        return parse_module(text)
    except UNREADABLE as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deep"
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UnreadableInput(f"{name} cannot be parsed{line}: {reason}.") from error


class _BodyReader:
    """Reader of the body of a module or class.

    Args:
        source: the text of the file.
        tree: of the file.
        package: what relative imports are relative to.
        dynamics: what the file binds dynamically.
        owner: the class's name; empty for a module.
        strings: texts of the module's names that are bound to one.
    """

    def __init__(
        self,
        source: SourceText,
        tree: ast.Module,
        package: str,
        dynamics: Dynamics,
        owner: str = "",
        strings: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.tree = tree
        self.package = package
        self.dynamics = dynamics
        self.owner = owner
        self.names: dict[str, list[Definition]] = {}
        self.stars: list[str] = []
        self.fields: dict[str, Field] = {}
        self.exports: list[str] | None = None
        self.strings: dict[str, str] = dict(strings or {})
        self.doc = DocText()
        self.given: dict[str, str] = {}
        self.open_reason = ""
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
            self.open_reason = self.open_reason or _DEFINES_GETATTR
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
        given = DocText(docstring(node))
        if not given.text:
            given = decorated_text(node.decorator_list, self.strings)
        text = filled_text(given.text, node.decorator_list, self.strings)
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
            copies=given.copies,
            deprecated="" if overloaded else deprecation(node, text),
            decorators=above,
            parameters=None if overloaded else parameters(node.args),
            overloads=tuple(each for _, each in overloads),
            conditional=conditional,
            forward=find_forward(node),
            unpacked=find_unpacked(node),
            keeps=keeps_arguments(node),
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
        inner = _BodyReader(source, self.tree, self.package, self.dynamics, name, self.strings)
        inner.read(node.body)
        own = (each for each in inner.strings.items() if each[0] not in self.strings)
        self.strings |= {f"{name}.{key}": value for key, value in own}
        given, line = DocText(docstring(node)), _first_line(node)
        for other in (inner.doc, decorated_text(node.decorator_list, self.strings)):
            given = given if given.text or given.copies else other
        given = replace(given, text=filled_text(given.text, node.decorator_list, self.strings))
        methods = "\n".join(source.lines[node.lineno : node.end_lineno])
        attributes = _instance_attributes(node, source)
        added = {*self.dynamics.patched.get(name, ()), *_alias_names(node.decorator_list)}
        for each in sorted(attributes.keys() | added):
            definition = Definition(each, "attribute", 0, 0, signature=attributes.get(each, ""))
            known = inner.names.setdefault(each, [definition])
            if len(known) == 1 and known[0].kind == "attribute" and not known[0].signature:
                # A slot gets its value, and so its type, from a method.
                known[0] = replace(known[0], signature=definition.signature)
        keywords = {each.arg or "**": each.value for each in node.keywords}
        metaclass = keywords.pop("metaclass", None)
        above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
        parts = [source.quote(each) for each in node.bases]
        parts += [f"{each.arg or '**'}={source.quote(each.value)}" for each in node.keywords]
        header = f"({', '.join(parts)})" if parts else ""
        for base in node.bases:
            for field in named_tuple_fields(base) or ():
                inner.names.setdefault(field, [_field(field, node.lineno)])
        body = ClassBody(
            bases=tuple(base for each in node.bases for base in _base_names(each)),
            metaclass=(dotted(metaclass) or "?") if metaclass is not None else "",
            keywords=bool(keywords),
            names={each: tuple(bound) for each, bound in inner.names.items()},
            fields=tuple(inner.fields.values()),
            mentioned=frozenset(_SELF_ATTRIBUTE.findall(methods))
            | told_names(node.body, self.tree)
            | handed_keys(node.body),
            open_reason=inner.open_reason or self.dynamics.classes.get(name, ""),
            getattr_result=class_getattr_result(node.body, self.tree),
            has_called_base=any(
                isinstance(each, ast.Call) and named_tuple_fields(each) is None
                for each in node.bases
            ),
            has_slots="__slots__" in inner.names and "__dict__" not in inner.names,
            allows_extra=allows_extra(node),
            answering=answering_modules(node.body),
            proxied=proxied_attribute(node.body),
            composed=tuple(sorted(self.dynamics.composed.get(name, ()))),
            wrapped=self.dynamics.wrapped.get(name, ""),
            gives_names=gives_names(node),
        )
        self._bind(
            Definition(
                name=name,
                kind="class",
                line=line,
                end_line=node.end_lineno or line,
                signature=f"{''.join(above)}class {name}{header}",
                docstring=given.text,
                copies=given.copies,
                deprecated=deprecation(node, given.text),
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
        for target, _, value in assignments(node):
            self._document(target, value)
        bound = [name for target, *_ in assignments(node) for name in target_names(target)]
        if "__all__" in bound and not self.owner:
            self._export(node)
        if isinstance(node, ast.AugAssign):
            bound = [name for name in bound if name not in self.names]
        if "__slots__" in bound and self.owner:
            for each in string_list(node.value) or ():
                self.names.setdefault(each, [_field(each, node.lineno)])
        fields, bases = named_tuple_fields(node.value), made_class_bases(node.value)
        for name in bound:
            made = self._attribute(name, node, conditional=conditional)
            if fields is not None and len(bound) == 1:
                made = self._named_tuple(made, fields)
            elif bases is not None and len(bound) == 1 and not self.owner:
                body = ClassBody(tuple(bases), "", keywords=False, names={})
                header = f"class {name}({', '.join(bases)})"
                made = replace(made, kind="class", signature=header, body=body)
            self._bind(made)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and self.owner:
            self._field(node.target.id, node)

    def _named_tuple(self, made: Definition, fields: Sequence[str]) -> Definition:
        """Return a class with some fields; of one name each system may have another one."""
        own = {each: (_field(each, made.line),) for each in fields}
        others = (each.body.names for each in self.names.get(made.name, ()) if each.body)
        names = {name: bound for each in (*others, own) for name, bound in each.items()}
        if made.name in self.names:
            self.names[made.name] = [
                replace(each, body=replace(each.body, names=names)) if each.body else each
                for each in self.names[made.name]
            ]
        body = ClassBody(("tuple",), "", keywords=False, names=names)
        return replace(made, kind="class", signature=f"class {made.name}(tuple)", body=body)

    def _document(self, target: ast.expr, value: ast.expr | None) -> None:
        """Take ``name.__doc__ = …`` and ``__doc__ = …``, and keep the text of ``name = "…"``."""
        match target:
            case ast.Name(id="__doc__"):
                self.doc = doc_text(value, self.strings)
            case ast.Name(id=name):
                text = known_text(value, self.strings)
                self.strings.pop(name, None)
                if text:
                    self.strings[name] = text
            case ast.Attribute(value=owner, attr="__doc__"):
                *within, name = dotted(owner).split(".")
                names: Mapping[str, Any] = self.names
                for each in within:
                    body = names[each][-1].body if names.get(each) else None
                    names = body.names if body is not None else {}
                given = doc_text(value, self.strings, dotted(owner))
                if name in names and (given.text or given.copies):
                    *others, last = names[name]
                    last = replace(last, docstring=given.text, copies=given.copies)
                    names[name] = type(names[name])((*others, last))  # type: ignore[index]

    def _attribute(self, name: str, node: ast.stmt, *, conditional: bool) -> Definition:
        value = getattr(node, "value", None)
        annotated = getattr(node, "annotation", None)
        annotation = self.source.quote(annotated)
        whole = next(
            (e for e, *_ in assignments(node) if isinstance(e, ast.Tuple | ast.List)), None
        )
        signature = f"{name}: {annotation}" if annotation else self.source.quote(whole) or name
        if value is not None and isinstance(value, ast.expr):
            longest = _LONGEST_TYPE if _is_alias_of_type(value) else _LONGEST_VALUE
            signature += f" = {self.source.quote(value, longest)}"
        is_alias = isinstance(node, ast.Assign) and not isinstance(value, ast.Constant)
        is_alias = is_alias and whole is None
        given = called_text(value, self.strings)
        return Definition(
            name=name,
            kind="attribute",
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
            signature=signature,
            docstring=given.text,
            copies=given.copies,
            value=dotted(value) if is_alias else "",
            maker=_maker(annotated, value),
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
        if not self.owner:
            self.given |= given_texts(call, self.package, self.strings)


def _alias_names(decorators: Sequence[ast.expr]) -> Iterator[str]:
    """Yield the methods that matplotlib's ``@define_aliases({"linewidth": ["lw"]})`` adds."""
    for each in decorators:
        match each:
            case ast.Call(func=function, args=[ast.Dict(values=values)]) if (
                dotted(function).rpartition(".")[2] == "define_aliases"
            ):
                aliases = (alias for value in values for alias in string_list(value) or ())
                yield from (f"{prefix}_{alias}" for alias in aliases for prefix in ("get", "set"))


def _field(name: str, line: int) -> Definition:
    return Definition(name, "attribute", line, line)


def _maker(annotation: ast.expr | None, value: object) -> str:
    """Return what makes a value: the class that annotates it, or else what is called for it."""
    name = dotted(annotation)
    if name.rpartition(".")[2] in {"", "Any", "ClassVar", "Final", "TypeAlias"}:
        return dotted(value.func) if isinstance(value, ast.Call) else ""
    return name


def _first_line(node: Function | ast.ClassDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _instance_attributes(node: ast.ClassDef, source: SourceText) -> Mapping[str, str]:
    """Return signatures of the attributes that methods set, by name.

    A signature is ``name: annotation``, or ``name = Class()`` where nothing else is assigned; empty
    for others.
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
        for each in statements(method.body):
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
    alone = {name: texts.pop() if len(texts) == 1 else "" for name, texts in assigned.items()}
    return {**alone, **annotated}


def _base_names(node: ast.expr) -> list[str]:
    """Return the name of a base class without its type arguments.

    Of ``Base.made_with(Other)``, which makes a class of both, return both.
    """
    if named_tuple_fields(node) is not None:
        return ["tuple"]
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=[other], keywords=[]):
            return [dotted(owner), dotted(other)]
        case ast.Subscript(value=value):
            return [dotted(value)]
    return [dotted(node)]


def _spell_out_namedtuple(tree: ast.Module) -> None:
    """Give ``from collections import namedtuple as nt`` its own name where it is called."""
    aliases = {
        alias.asname
        for each in tree.body
        if isinstance(each, ast.ImportFrom) and each.module == "collections"
        for alias in each.names
        if alias.name == "namedtuple"
    } - {None, "namedtuple"}
    for each in ast.walk(tree) if aliases else ():
        if isinstance(each, ast.Call) and dotted(each.func) in aliases:
            each.func = ast.copy_location(ast.Name("namedtuple", ast.Load()), each.func)


def _decide_branches(tree: ast.Module, version: Version) -> None:
    """Replace each statement that tests the version by the branch that applies.

    Args:
        tree: changed in place.
        version: major and minor.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for part in ("body", "orelse"):
            inside = getattr(node, part, None)
            if isinstance(inside, list):
                setattr(node, part, _decide_body(inside, version))
                waiting += getattr(node, part)


def _decide_body(body: list[ast.stmt], version: Version) -> list[ast.stmt]:
    left: list[ast.stmt] = []
    for statement in body:
        holds = _holds_in(statement.test, version) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and holds is not None:
            left += _decide_body(statement.body if holds else statement.orelse, version)
        else:
            left.append(statement)
    return left


def _holds_in(test: ast.expr, version: Version) -> bool | None:
    """Return whether a condition holds in a version; None where it depends on anything else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            holds = _holds_in(inner, version)
            return None if holds is None else not holds
        case ast.BoolOp(op=op, values=values):
            parts = [_holds_in(each, version) for each in values]
            ending = isinstance(op, ast.Or)
            if ending in parts:
                return ending
            return None if None in parts else not ending
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id="sys"), attr="version_info"),
            ops=[compared],
            comparators=[ast.Tuple(elts=parts)],
        ):
            compare = _COMPARISONS.get(type(compared))
            wanted = tuple(each.value for each in parts if isinstance(each, ast.Constant))
            if compare is None or len(wanted) != len(parts):
                return None
            numbers = tuple(each for each in wanted if isinstance(each, int))
            # Nothing is known of the numbers after the minor version.
            return compare(version, numbers) if len(numbers) == len(version) else None
    return None


def _is_alias_of_type(value: ast.expr) -> bool:
    """Return whether a value is the type of a function, or of one of several things."""
    name = dotted(value.value) if isinstance(value, ast.Subscript) else ""
    return name.rpartition(".")[2] in {"Callable", "Optional", "Union"}
