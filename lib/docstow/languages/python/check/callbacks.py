"""What the code's own functions get of packages that they are given to.

``study.optimize(objective)`` takes a ``Callable[[Trial], float]``: that is what ``objective`` gets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import (
    AnnotationContext,
    Annotations,
    Inferred,
    PackageType,
    Resolved,
    ValueType,
    without_none,
)
from docstow.languages.python.source.syntax import (
    Function,
    annotation_and_value,
    dotted,
    function_headers,
    positional,
)
from docstow.text.python_ast import try_parse_expression

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Symbol

_CALLABLE = frozenset({"typing.Callable", "collections.abc.Callable"})
_MEMBERS_OF = frozenset({"typing.Union", "typing.Optional", "typing.Annotated"})
#: Aliases that are followed one from another.
_DEEPEST = 8

#: What a function gets by position; None for what is not known.
Taken = tuple[ValueType | None, ...]


def taken_by(
    annotations: Annotations,
    symbol: Symbol,
    context: AnnotationContext,
    place: int | str,
) -> list[Taken]:
    """Return what the function gets that is given for a parameter of another one.

    Args:
        annotations: reads them.
        symbol: the function or method that it is given to.
        context: in which its annotations are written.
        place: of the parameter by position, the receiver not counted, or its name.
    """
    found: list[Taken] = []
    for header in function_headers(symbol.signature):
        if (annotation := _annotation(header, place)) is None:
            return []
        found += _callables(annotations, annotation, context)
    return found


def decorated_by(
    annotations: Annotations, symbol: Symbol, context: AnnotationContext
) -> list[Taken]:
    """Return what the function gets that is decorated with the result of a call.

    Args:
        annotations: reads them.
        symbol: the function or method that is called.
        context: in which its annotations are written.
    """
    found: list[Taken] = []
    for header in function_headers(symbol.signature):
        match header.returns:
            case ast.Subscript(value=value, slice=ast.Tuple(elts=[ast.List(elts=[taken]), _])):
                made = context.resolve(value)
                if isinstance(made, Resolved) and made.defined_at in _CALLABLE:
                    found += _callables(annotations, taken, context)
    return found


def _annotation(header: Function, place: int | str) -> ast.expr | None:
    """Return the annotation of a parameter; None where there is none."""
    plain = positional(header)
    plain = plain[1:] if plain and plain[0].arg in {"self", "cls"} else plain
    if isinstance(place, int):
        rest = header.args.vararg
        taken = plain[place] if place < len(plain) else rest
        return taken.annotation if taken is not None else None
    named = [each for each in (*plain, *header.args.kwonlyargs) if each.arg == place]
    return named[0].annotation if named else None


def _callables(
    annotations: Annotations, node: ast.expr | None, context: AnnotationContext, depth: int = 0
) -> Iterator[Taken]:
    """Yield what each function gets that an annotation allows for."""
    if node is None or depth > _DEEPEST:
        return
    match node:
        case ast.Constant(value=str(text)):
            yield from _callables(annotations, try_parse_expression(text), context, depth + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            for each in (left, right):
                yield from _callables(annotations, each, context, depth + 1)
        case ast.Subscript(value=value, slice=inner):
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            found = context.resolve(value)
            if not isinstance(found, Resolved):
                return
            if found.defined_at in _CALLABLE:
                taken = _parameters(arguments[0], context)
                yield tuple(_read(annotations, each, context) for each in taken)
            elif found.defined_at in _MEMBERS_OF:
                for each in arguments:
                    yield from _callables(annotations, each, context, depth + 1)
            else:
                given = [_read(annotations, each, context) for each in arguments]
                yield from _of_name(annotations, found, given, depth)
        case ast.Name() | ast.Attribute():
            found = context.resolve(node)
            if isinstance(found, Resolved):
                yield from _of_name(annotations, found, (), depth)


def _parameters(node: ast.expr, context: AnnotationContext) -> Sequence[ast.expr]:
    """Return the types of parameters: of ``[A, B]``, and those before the rest of all."""
    match node:
        case ast.List(elts=taken):
            return taken
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[*first, _])):
            found = context.resolve(value)
            last = found.defined_at.rpartition(".")[2] if isinstance(found, Resolved) else ""
            return first if last == "Concatenate" else ()
    return ()


def _of_name(
    annotations: Annotations, found: Resolved, given: Sequence[ValueType | None], depth: int
) -> Iterator[Taken]:
    """Yield the same of an alias, or of a protocol that is called.

    Args:
        annotations: reads them.
        found: what the name leads to.
        given: what stands in brackets behind it, for its type variables.
        depth: how many were followed.
    """
    if found.symbol.kind == "class" and "Protocol" in found.symbol.signature:
        call = found.package.surface.symbol(f"{found.path}.__call__")
        for header in function_headers(call.signature) if call is not None else ():
            context = annotations.context(found.defined_at, found.package)
            yield tuple(_read(annotations, e.annotation, context) for e in positional(header)[1:])
        return
    annotation, value = annotation_and_value(found.symbol.signature)
    is_alias = annotation is None or ast.unparse(annotation).endswith("TypeAlias")
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "TypeVar":
        value = next((each.value for each in value.keywords if each.arg == "bound"), None)
    if value is None or not is_alias or isinstance(value, ast.Call):
        return
    module = found.symbol.module
    context = annotations.context(found.defined_at, found.package, module=module)
    variables = dict.fromkeys(
        each.id
        for each in ast.walk(value)
        if isinstance(each, ast.Name) and _is_variable(each, context)
    )
    bound = dict(zip(variables, given, strict=False))
    context = annotations.context(found.defined_at, found.package, bound=bound, module=module)
    yield from _callables(annotations, value, context, depth + 1)


def _is_variable(node: ast.Name, context: AnnotationContext) -> bool:
    found = context.resolve(node)
    return isinstance(found, Resolved) and "TypeVar(" in found.symbol.signature


def _read(
    annotations: Annotations, node: ast.expr | None, context: AnnotationContext
) -> ValueType | None:
    kind: Inferred = annotations.read(node, context)
    known = without_none(kind)
    is_known = isinstance(known, PackageType) and not known.open_ended and not known.is_class
    return known if is_known else None
