"""Python's function headers: parameters, and the header as one line.

This room knows syntax trees of functions. It does not know what names in them mean.
"""

from __future__ import annotations

import ast
import re
import textwrap

from docstow.languages.python.source.facts import Decorator
from docstow.languages.shared.surface__readers_call_parameters import Parameter

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
    return f"{''.join(above)}{word} {node.name}({_inside(node.args, source)}){returns}"


def _inside(arguments: ast.arguments, source: Source) -> str:
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
