"""What a Python function does with keywords that it has no parameter for.

This room knows the forms of ``**kwargs`` that are passed on. It does not know what the names of
called functions mean.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence

from docstow.languages.python.source.facts import Decorator, Forward, Keeps
from docstow.languages.shared.surface import Parameter

# Python's function headers


Function = ast.FunctionDef | ast.AsyncFunctionDef


_SPACE = re.compile(r"\s+")


_LONGEST = 160


#: The directive that says so of the whole, not of a parameter: it is not indented.
_DIRECTIVE = re.compile(r"^\.\. deprecated::[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


_NEAR = 2


class Source:
    """A file's text, for quoting parts of it.

    Args:
        text: as it was parsed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def quote(self, node: ast.AST | None, longest: int = _LONGEST) -> str:
        """The node as it is written, on one line; cut where it is longer."""
        if node is None:
            return ""
        if isinstance(node, ast.Subscript) and dotted(node.value).endswith("Annotated"):
            inner = node.slice
            return self.quote(inner.elts[0] if isinstance(inner, ast.Tuple) else inner, longest)
        text = _SPACE.sub(" ", self._between(node)).strip()
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    def _between(self, node: ast.AST) -> str:
        first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
        begin, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if first == last:
            return self._cut(first, begin, end)
        middle = self.lines[first + 1 : last]
        return "\n".join([self._cut(first, begin, None), *middle, self._cut(last, 0, end)])

    def _cut(self, number: int, begin: int, end: int | None) -> str:
        """A part of a line; trees count in bytes."""
        line = self.lines[number]
        if line.isascii():
            return line[begin:end]
        return line.encode()[begin:end].decode(errors="replace")


def dotted(node: ast.AST | None) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def literal(node: ast.AST | None) -> str:
    """The string that a node is, implicit concatenation included; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def decorators(node: Function | ast.ClassDef, source: Source) -> tuple[Decorator, ...]:
    """The decorators, the outermost first."""
    found = []
    for each in node.decorator_list:
        call = each if isinstance(each, ast.Call) else None
        keywords = {}
        if call is not None:
            keywords = {word.arg or "**": source.quote(word.value) for word in call.keywords}
        name = dotted(call.func if call is not None else each)
        found.append(Decorator(name, keywords, called=call is not None))
    return tuple(found)


def parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """All parameters in order."""
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    found = []
    for number, each in enumerate(plain):
        kind = "positional_only" if number < len(arguments.posonlyargs) else "positional"
        found.append(Parameter(each.arg, kind, number < required))  # type: ignore[arg-type]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "var_positional", required=False))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(Parameter(each.arg, "keyword_only", default is None))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "var_keyword", required=False))
    return tuple(found)


def header(node: Function, source: Source) -> str:
    """``async def name(a: int, *, b: str = "x") -> bool``, with the decorators above it."""
    above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {source.quote(node.returns)}" if node.returns else ""
    return f"{''.join(above)}{word} {node.name}({_signature_inside(node.args, source)}){returns}"


def _signature_inside(arguments: ast.arguments, source: Source) -> str:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    parts = []
    for number, (each, default) in enumerate(zip(plain, defaults, strict=True), 1):
        parts.append(_one(each, default, source))
        if number == len(arguments.posonlyargs):
            parts.append("/")
    if arguments.vararg:
        parts.append(f"*{_one(arguments.vararg, None, source)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    for each, word in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(_one(each, word, source))
    if arguments.kwarg:
        parts.append(f"**{_one(arguments.kwarg, None, source)}")
    return ", ".join(parts)


def _one(argument: ast.arg, default: ast.expr | None, source: Source) -> str:
    text = argument.arg
    if argument.annotation:
        text += f": {source.quote(argument.annotation)}"
    if default is not None:
        text += (
            f" = {source.quote(default)}" if argument.annotation else f"={source.quote(default)}"
        )
    return text


def docstring(node: Function | ast.ClassDef | ast.Module) -> str:
    """The docstring without common indentation."""
    return ast.get_docstring(node, clean=True) or ""


def deprecation(node: Function | ast.ClassDef, text: str) -> str:
    """Why it is deprecated: by decorator, by its docstring, or by a warning it always gives."""
    for each in node.decorator_list:
        name = dotted(each.func if isinstance(each, ast.Call) else each)
        if name.rpartition(".")[2] == "deprecated":
            words = each.args if isinstance(each, ast.Call) else []
            return literal(words[0] if words else None) or "deprecated"
    # Further down it speaks of a parameter, or of what has changed.
    found = _DIRECTIVE.search(text)
    if found and text.count("\n\n", 0, found.start()) <= _NEAR:
        return _SPACE.sub(" ", textwrap.dedent(found[1])).strip() or "deprecated"
    first = text.partition("\n")[0].strip()
    if re.match(r"\[?deprecated\b(?!\s+\w+s\b)", first, re.IGNORECASE):
        return first
    return "" if isinstance(node, ast.ClassDef) else _warned(node)


def _warned(node: Function) -> str:
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or dotted(call.func) not in {"warnings.warn", "warn"}:
            continue
        words = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "category")]
        names = {dotted(each).rpartition(".")[2] for each in words}
        if any(name.endswith("DeprecationWarning") for name in names):
            return _SPACE.sub(" ", literal(call.args[0] if call.args else None)) or "deprecated"
    return ""


#: Methods of a dictionary that ask for one key.
_ASKS = frozenset({"get", "pop", "setdefault"})


_LOOKS_AT_ALL = frozenset({"locals", "vars", "eval", "exec"})


def forward(node: Function) -> Forward | None:
    """The call that certainly gets all further keywords of a function; None where it is unclear.

    Every use of the dictionary must be seen: it is unpacked into calls, or asked for a written
    key. Whatever it is asked for counts as a parameter.
    """
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    if not rest:
        return None
    uses = sum(isinstance(each, ast.Name) and each.id == rest for each in _inside(node))
    taken, seen = _taken(node, rest)
    calls = [each for each in _inside(node) if isinstance(each, ast.Call) and _passes(each, rest)]
    if seen + len(calls) != uses or not calls or _is_shadowed(node, rest):
        return None
    sure = next((each for each in _unconditional(node.body) if each in calls), None)
    if sure is None:
        return None
    target, maker = _target(node, sure.func)
    return Forward(target, frozenset(taken), maker) if target else None


def keeps_arguments(node: Function, *, called: bool = False) -> Keeps:
    """Whether a decorator gives back what takes the very arguments of what it decorates.

    ``@wraps(function) def inner(*args, **kwargs)``, which calls ``function(*args, **kwargs)``;
    ``called`` where the decorator is what a call of the function gives.
    """
    inner = {each.name: each for each in node.body if isinstance(each, Function)}
    last = node.body[-1]
    given = inner.get(dotted(last.value)) if isinstance(last, ast.Return) else None
    if given is None:
        return ""
    if not given.decorator_list:
        return keeps_arguments(given, called=True) if not called else ""
    if not _is_wrapper(given, {each.arg for each in (*node.args.posonlyargs, *node.args.args)}):
        return ""
    return "called" if called else "bare"


def makes_itself(node: Function) -> bool:
    """Whether a ``__new__`` gives what ``object`` or its base makes of the very class."""
    first = next((each.arg for each in (*node.args.posonlyargs, *node.args.args)), "")
    held = [
        each.targets[0].id
        for each in _inside(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if _is_made(each.value, first)
    ]
    stored = [
        each.id
        for each in _inside(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    given = [each.value for each in _inside(node) if isinstance(each, ast.Return)]
    return bool(given) and all(
        _is_made(each, first) or (dotted(each) in held and stored.count(dotted(each)) == 1)
        for each in given
    )


def _is_made(node: ast.AST | None, kind: str) -> bool:
    """``object.__new__(cls)`` or ``super().__new__(cls)``."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=owner, attr="__new__"), args=[ast.Name(id=given), *_]
        ):
            above = isinstance(owner, ast.Call) and dotted(owner.func) == "super"
            return (above or dotted(owner) == "object") and given == kind
    return False


def _is_wrapper(given: Function, names: set[str]) -> bool:
    if len(given.decorator_list) != 1:
        return False
    wraps = given.decorator_list[0]
    if not isinstance(wraps, ast.Call) or dotted(wraps.func).rpartition(".")[2] != "wraps":
        return False
    rest, plain = given.args.kwarg, [*given.args.posonlyargs, *given.args.args]
    wrapped = [dotted(each) for each in wraps.args]
    if rest is None or given.args.vararg is None or given.args.kwonlyargs or len(plain) > 1:
        return False
    calls = [
        each
        for each in _inside(given)
        if isinstance(each, ast.Call) and _passes(each, rest.arg) and dotted(each.func) in names
    ]
    uses = sum(isinstance(each, ast.Name) and each.id == rest.arg for each in _inside(given))
    named = all(each.arg is None for call in calls for each in call.keywords)
    return len(calls) == uses > 0 and named and {dotted(each.func) for each in calls} == {*wrapped}


def _inside(node: Function) -> Iterator[ast.AST]:
    for statement in node.body:
        yield from ast.walk(statement)


def _passes(call: ast.Call, rest: str) -> bool:
    """``called(**rest)``."""
    return any(each.arg is None and dotted(each.value) == rest for each in call.keywords)


def _taken(node: Function, rest: str) -> tuple[set[str], int]:
    """The keys that the dictionary is asked for, and in how many places."""
    taken: set[str] = set()
    places = 0
    for each in _inside(node):
        key = ""
        match each:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *_]
            ):
                key = literal(first) if name == rest and method in _ASKS else ""
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                key = literal(index) if name == rest else ""
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[other]):
                key = literal(left) if dotted(other) == rest else ""
        if key:
            taken.add(key)
            places += 1
    return taken, places


def _is_shadowed(node: Function, rest: str) -> bool:
    """Whether the name may be another's, or what it holds is got at in another way."""
    for each in _inside(node):
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                if any(dotted(inner) == rest for inner in ast.walk(each)):
                    return True
            case ast.Name(id=name) if name in _LOOKS_AT_ALL:
                return True
    return False


def _unconditional(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Calls that are certainly made, as long as nothing is raised."""
    for node in body:
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    yield from _always(item.context_expr)
                yield from _unconditional(node.body)
            case ast.Try():
                yield from _unconditional(node.body)
            case ast.Return(value=value) | ast.Expr(value=value) | ast.Assign(value=value):
                yield from _always(value)
            case ast.AnnAssign(value=value):
                yield from _always(value)
        if any(isinstance(each, ast.Return) for each in ast.walk(node)):
            return


def _always(node: ast.expr | None) -> Iterator[ast.Call]:
    """The calls that an expression makes in any case."""
    match node:
        case ast.Call():
            yield node
            for each in node.args:
                yield from _always(each)
            yield from _always(node.func)
        case ast.Await(value=value) | ast.Attribute(value=value):
            yield from _always(value)


def _target(node: Function, function: ast.expr) -> tuple[str, str]:
    """What is called, dotted, and the class that makes the local value it is asked of."""
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
            return f"super().{name}", ""
    path = dotted(function)
    first, _, name = path.partition(".")
    every = [*node.args.posonlyargs, *node.args.args]
    if first in {each.arg for each in every[:1]} & {"self", "cls"}:
        return path, ""
    words = {each.arg for each in (*every, *node.args.kwonlyargs)}
    makers = [maker for bound, maker in _bound(node) if bound == first]
    if first in words or (makers and (len(makers) > 1 or not makers[0] or "." in name)):
        return "", ""
    return path, makers[0] if makers else ""


def _bound(node: Function) -> Iterator[tuple[str, str]]:
    """Local names, and the class or function whose call each is given by; empty for others."""
    told: set[int] = set()
    for each in _inside(node):
        match each:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=function)):
                told.add(id(target))
                yield target.id, dotted(function)
            case ast.withitem(context_expr=ast.Call(func=function), optional_vars=ast.Name() as t):
                told.add(id(t))
                yield t.id, dotted(function)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    yield (alias.asname or alias.name).partition(".")[0], ""
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, ""
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, ""
            case ast.Name(ctx=ast.Store()) if id(each) not in told:
                yield each.id, ""
