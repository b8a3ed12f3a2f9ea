"""Headers of Python functions: signature, parameters, docstring, deprecation."""

from __future__ import annotations

import ast
import re
import textwrap

from docstow.languages.python.source.syntax import (
    SPACE,
    Function,
    SourceText,
    callee,
    dotted,
    is_of_super,
    positional,
    string_value,
)
from docstow.languages.shared.surface import Parameter

#: The directive for the whole definition; that of a parameter is indented.
_DEPRECATED = re.compile(r"^\.\. deprecated::[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
#: Paragraphs from the top in which the directive is about the whole definition.
_FIRST_PARAGRAPHS = 2


def parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """Return all parameters in order, ``self`` included."""
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


def format_header(node: Function, source: SourceText) -> str:
    """Return ``async def name(a: int, *, b: str = "x") -> bool``, with its decorators above."""
    above = [f"@{source.quote(each)}\n" for each in node.decorator_list]
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {source.quote(node.returns)}" if node.returns else ""
    if node.name == "__new__" and node.returns is None and _makes_own_instance(node):
        returns = " -> Self"
    inside = _format_parameters(node.args, source)
    return f"{''.join(above)}{keyword} {node.name}({inside}){returns}"


def _format_parameters(arguments: ast.arguments, source: SourceText) -> str:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    parts = []
    for number, (each, default) in enumerate(zip(plain, defaults, strict=True), 1):
        parts.append(_format_parameter(each, default, source))
        if number == len(arguments.posonlyargs):
            parts.append("/")
    if arguments.vararg:
        parts.append(f"*{_format_parameter(arguments.vararg, None, source)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(_format_parameter(each, default, source))
    if arguments.kwarg:
        parts.append(f"**{_format_parameter(arguments.kwarg, None, source)}")
    return ", ".join(parts)


def _format_parameter(argument: ast.arg, default: ast.expr | None, source: SourceText) -> str:
    text, equals = argument.arg, "="
    if argument.annotation:
        text, equals = f"{text}: {source.quote(argument.annotation)}", " = "
    return text if default is None else f"{text}{equals}{source.quote(default)}"


def _makes_own_instance(node: Function) -> bool:
    """Return whether a ``__new__`` returns what ``object`` or its base makes of the very class."""
    cls = next((each.arg for each in positional(node)), "")
    made, stored, returned = [], [], []
    for each in (inner for statement in node.body for inner in ast.walk(statement)):
        match each:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if _is_new(value, cls):
                made.append(name)
            case ast.Name(id=name, ctx=ast.Store()):
                stored.append(name)
            case ast.Return(value=value):
                returned.append(value)
    return bool(returned) and all(
        _is_new(each, cls) or (dotted(each) in made and stored.count(dotted(each)) == 1)
        for each in returned
    )


def _is_new(node: ast.AST | None, cls: str) -> bool:
    """Return whether a node is ``object.__new__(cls)`` or ``super().__new__(cls)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="__new__"), args=[first, *_]):
            return is_of_super(owner) and isinstance(first, ast.Name) and first.id == cls
    return False


def docstring(node: Function | ast.ClassDef | ast.Module) -> str:
    """Return the docstring without common indentation; empty for none."""
    return ast.get_docstring(node, clean=True) or ""


def deprecation(node: Function | ast.ClassDef, text: str) -> str:
    """Return why a definition is deprecated, or ``deprecated`` without a reason; empty if not.

    That is said by a decorator, in the docstring, or with a warning that a function always gives.

    Args:
        node: the definition.
        text: its docstring.
    """
    for each in node.decorator_list:
        if dotted(callee(each)).rpartition(".")[2] == "deprecated":
            arguments = each.args if isinstance(each, ast.Call) else []
            return string_value(arguments[0] if arguments else None) or "deprecated"
    # Further down, the directive is about a parameter or a change.
    found = _DEPRECATED.search(text)
    if found and text.count("\n\n", 0, found.start()) <= _FIRST_PARAGRAPHS:
        return SPACE.sub(" ", textwrap.dedent(found[1])).strip() or "deprecated"
    first = text.partition("\n")[0].strip()
    if re.match(r"\[?deprecated\b(?!\s+\w+s\b)", first, re.IGNORECASE):
        return first
    return "" if isinstance(node, ast.ClassDef) else _deprecation_warning(node)


def _deprecation_warning(node: Function) -> str:
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or dotted(call.func) not in {"warnings.warn", "warn"}:
            continue
        category = [each.value for each in call.keywords if each.arg == "category"]
        names = (dotted(each).rpartition(".")[2] for each in [*call.args[1:], *category])
        if any(name.endswith("DeprecationWarning") for name in names):
            text = string_value(call.args[0] if call.args else None)
            return SPACE.sub(" ", text) or "deprecated"
    return ""
