"""Reading of syntax trees: quoted text, dotted names, names that statements bind, declarations."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache

from docstow.text.python_ast import try_parse_module

Function = ast.FunctionDef | ast.AsyncFunctionDef
SPACE = re.compile(r"\s+")
_LONGEST_QUOTE = 160


class SourceText:
    """A file's text, for quoting parts of it.

    Args:
        text: as it was parsed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def quote(self, node: ast.AST | None, longest: int = _LONGEST_QUOTE) -> str:
        """Return a node as it is written, on one line and cut to a length; empty for None."""
        if node is None:
            return ""
        if isinstance(node, ast.Subscript) and dotted(node.value).endswith("Annotated"):
            inner = node.slice
            return self.quote(inner.elts[0] if isinstance(inner, ast.Tuple) else inner, longest)
        text = SPACE.sub(" ", self._between(node)).strip()
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    def _between(self, node: ast.AST) -> str:
        first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
        begin, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if first == last:
            return self._cut(first, begin, end)
        middle = self.lines[first + 1 : last]
        return "\n".join([self._cut(first, begin, None), *middle, self._cut(last, 0, end)])

    def _cut(self, number: int, begin: int, end: int | None) -> str:
        """Return a part of a line by its offsets, which are in bytes."""
        line = self.lines[number]
        if line.isascii():
            return line[begin:end]
        return line.encode()[begin:end].decode(errors="replace")


def dotted(node: ast.AST | None) -> str:
    """Return ``a.b.c`` of names and attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def callee(node: ast.expr) -> ast.expr:
    """Return what a call calls; anything else as it is."""
    return node.func if isinstance(node, ast.Call) else node


def decorator_name(decorator: ast.expr) -> str:
    """Return the last name of a decorator, called or not."""
    return dotted(callee(decorator)).rpartition(".")[2]


def positional(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return the parameters of a function that may be passed by position."""
    return [*function.args.posonlyargs, *function.args.args]


def defaults(function: Function | ast.Lambda) -> dict[str, ast.expr]:
    """Return the defaults of the parameters that have one, by their names."""
    plain, given = positional(function), function.args.defaults
    last = plain[len(plain) - len(given) :]
    found = {each.arg: value for each, value in zip(last, given, strict=True)}
    only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return found | {each.arg: value for each, value in only if value is not None}


def string_value(node: ast.AST | None) -> str:
    """Return the string that a node is; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def message_text(node: ast.AST | None) -> str:
    """Return the text of a message: strings, joined where they are added, without what is put in.

    Empty for anything else.
    """
    match node:
        case ast.JoinedStr(values=parts):
            return "".join(map(string_value, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return message_text(left) + message_text(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return message_text(left)
    return string_value(node)


def string_list(node: ast.expr | None) -> list[str] | None:
    """Return the strings of a literal list; None where it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = string_list(node.left), string_list(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Dict):
        node = ast.List([each for each in node.keys if each is not None])
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [string_value(each) for each in node.elts]
    return found if all(found) else None


def named_tuple_fields(node: ast.expr | None) -> list[str] | None:
    """Return the fields of ``namedtuple("Name", "a b")`` and the like; None for anything else."""
    match node:
        case ast.Call(func=function, args=[_, fields]):
            pass
        case ast.Call(func=function, args=[_], keywords=[ast.keyword(arg="field_names"), *_]):
            fields = node.keywords[0].value
        case _:
            return None
    name = dotted(function).rpartition(".")[2]
    if name == "NamedTuple" and isinstance(fields, ast.List | ast.Tuple):
        fields = ast.Tuple([getattr(each, "elts", [each])[0] for each in fields.elts])
    elif name != "namedtuple":
        return None
    if string_value(fields):
        return string_value(fields).replace(",", " ").split()
    return string_list(fields)


def made_class_bases(node: ast.expr | None) -> list[str] | None:
    """Return the bases of ``Meta("Name", (Base, …), {…})``; None for anything else."""
    match node:
        case ast.Call(
            args=[ast.Constant(value=str()), ast.Tuple(elts=parts), ast.Dict(keys=[])],
            keywords=[],
        ) if parts:
            bases = [dotted(each) for each in parts]
            return bases if all(bases) else None
    return None


def is_of_super(owner: ast.expr) -> bool:
    """Return whether an expression is ``super()`` or ``object``."""
    return dotted(owner) == "object" or (
        isinstance(owner, ast.Call) and dotted(owner.func) == "super"
    )


def target_names(target: ast.AST | None) -> Iterator[str]:
    """Yield the names that a target of an assignment binds."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from target_names(part)
        case ast.Starred(value=value):
            yield from target_names(value)


def assignments(
    node: ast.AST,
) -> Iterator[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    """Yield each target of an assignment with its annotation and value; None for none."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, None, value) for target in targets)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            yield target, annotation, value
        case ast.AugAssign(target=target, value=value):
            yield target, None, value


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside of them, without a look at expressions, the most nodes."""
    waiting = deque(body)
    while waiting:
        each = waiting.popleft()
        yield each
        for part in ("body", "orelse", "finalbody"):
            waiting += getattr(each, part, ())
        for part in ("handlers", "cases"):
            for inner in getattr(each, part, ()):
                waiting += inner.body


def head_names(block: ast.stmt) -> Iterator[str]:
    """Yield the names that the head of a block binds: of a loop, a manager, a walrus."""
    match block:
        case ast.For(target=target):
            yield from target_names(target)
        case ast.With(items=items):
            for item in items:
                yield from target_names(item.optional_vars)
        case ast.If(test=test) | ast.While(test=test):
            for each in ast.walk(test):
                if isinstance(each, ast.NamedExpr):
                    yield from target_names(each.target)


def block_bodies(block: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of a block: each of its branches and handlers."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(block, part, [])
        if part in {"handlers", "cases"}:
            yield from (each.body for each in inner)
        elif inner:
            yield inner


@lru_cache(maxsize=1000)
def function_headers(signature: str) -> tuple[Function, ...]:
    """Return the functions of a signature with their decorators: one, or one for each overload."""
    found: list[Function] = []
    above: list[str] = []
    for line in signature.strip().split("\n"):
        if line.startswith("@"):
            above.append(line if "…" not in line else line.partition("(")[0])
            continue
        header = parse_declaration("\n".join([*above, line.rstrip().removesuffix(":")]))
        above = []
        if not isinstance(header, Function):
            return ()
        found.append(header)
    return tuple(found)


def class_header(signature: str) -> ast.ClassDef | None:
    """Return the header of a class, without its decorators."""
    lines = [each for each in signature.split("\n") if not each.startswith("@")]
    header = parse_declaration(" ".join(lines))
    return header if isinstance(header, ast.ClassDef) else None


def annotation_and_value(signature: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the two of ``name: annotation = value``; None for what is not there."""
    statement = _statement(signature) or _statement(signature.partition(" = ")[0])
    match statement:
        case ast.AnnAssign(annotation=annotation, value=value):
            return annotation, value
        case ast.Assign(targets=targets, value=value):
            return None, value if all(isinstance(each, ast.Name) for each in targets) else None
    return None, None


def unpacked(signature: str, name: str) -> tuple[ast.expr, int] | None:
    """Return what ``a, b = value`` unpacks, and the place of a name; None for anything else."""
    match _statement(signature):
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value):
            names = [dotted(each) for each in parts]
            return (value, names.index(name)) if name in names else None
    return None


def class_type_parameters(header: ast.ClassDef) -> list[str]:
    """Return the type variables of a class in their order, with other names that may be ones."""
    bases = [each for each in header.bases if isinstance(each, ast.Subscript)]
    for base in bases:
        if ast.unparse(base.value).rpartition(".")[2] in {"Generic", "Protocol"}:
            bases = [base]
            break
    return list(dict.fromkeys(name for base in bases for name in _names_in(base.slice)))


def parse_declaration(text: str) -> ast.stmt | None:
    """Parse the header of one function or class; return None where it is none that can be read."""
    return _statement(f"{text}: ...")


def _statement(text: str) -> ast.stmt | None:
    """Parse the first statement of a text."""
    module = try_parse_module(text)
    return module.body[0] if module is not None and module.body else None


def _names_in(node: ast.expr) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the values that an expression computes with, itself where it is no arithmetic."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from operands(left)
            yield from operands(right)
        case ast.UnaryOp(operand=operand):
            yield from operands(operand)
        case _:
            yield node
