"""What ``isinstance`` and patterns tell of a value, where they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from docstow.languages.python.source.syntax import dotted

#: Statements after which nothing of their block runs.
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
#: A value by its dotted name, and the class of a test.
_Test = tuple[str, ast.expr]


def tested_classes(tree: ast.Module) -> Mapping[ast.expr, ast.expr]:
    """Return the class, or classes in a tuple, that a test names for each use where it holds.

    That is in the branch of ``isinstance(value, Class)``, after ``assert`` and after a branch that
    leaves; a value that is bound anew there is left out. Inner tests go before outer ones.
    """
    found: dict[ast.expr, ast.expr] = {}
    for node in ast.walk(tree):
        for (subject, kind), where in _holding(node):
            uses = [*_uses(where, subject)]
            if all(isinstance(each.ctx, ast.Load) for each in uses):
                found |= {each: kind for each in uses if dotted(each) == subject}
    return found


def _holding(  # noqa: C901 - one case a form
    node: ast.AST,
) -> Iterator[tuple[_Test, Sequence[ast.AST]]]:
    """Yield each test that a node makes, with the nodes where it holds."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            yield from ((each, body) for each in _tests(test))
            yield from ((each, orelse) for each in _tests(test, holds=False))
        case ast.While(test=test, body=body):
            yield from ((each, body) for each in _tests(test))
        case ast.IfExp(test=test, body=first, orelse=other):
            yield from ((each, [first]) for each in _tests(test))
            yield from ((each, [other]) for each in _tests(test, holds=False))
        case ast.BoolOp(op=op, values=values):
            for index, value in enumerate(values):
                tests = _tests(value, holds=isinstance(op, ast.And))
                yield from ((each, values[index + 1 :]) for each in tests)
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts):
            yield from _in_comprehension(parts, [node.elt])
        case ast.GeneratorExp(generators=parts, elt=element):
            yield from _in_comprehension(parts, [element])
        case ast.DictComp(generators=parts, key=key, value=value):
            yield from _in_comprehension(parts, [key, value])
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                yield from ((each, case.body) for each in _of_pattern(case.pattern, subject))
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(node, block, None)
        if isinstance(statements, list):
            yield from _after(statements)


def _in_comprehension(
    parts: Sequence[ast.comprehension], elements: Sequence[ast.expr]
) -> Iterator[tuple[_Test, Sequence[ast.AST]]]:
    for part in parts:
        for index, condition in enumerate(part.ifs):
            where = [*part.ifs[index + 1 :], *elements]
            yield from ((each, where) for each in _tests(condition))


def _after(statements: Sequence[ast.stmt]) -> Iterator[tuple[_Test, Sequence[ast.AST]]]:
    """Yield what holds for the rest of a block: what is asserted, and what does not leave it."""
    for index, statement in enumerate(statements):
        match statement:
            case ast.Assert(test=test):
                tests = [*_tests(test)]
            case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, _LEAVING):
                tests = [*_tests(test, holds=False)]
            case _:
                continue
        yield from ((each, statements[index + 1 :]) for each in tests)


def _tests(test: ast.expr, *, holds: bool = True) -> Iterator[_Test]:
    """Yield what a condition says of values where it holds, or where it does not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _tests(operand, holds=not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
            for each in values:
                yield from _tests(each, holds=holds)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]) if holds:
            if name := dotted(subject):
                yield name, kind


def _of_pattern(pattern: ast.pattern, subject: ast.expr) -> Iterator[_Test]:
    """Yield what a pattern says of the value that is matched, and of the name it is bound to."""
    match pattern:
        case ast.MatchAs(pattern=ast.MatchClass(cls=kind), name=str(name)):
            yield name, kind
        case ast.MatchClass(cls=kind):
            pass
        case _:
            return
    if name := dotted(subject):
        yield name, kind


def _uses(where: Sequence[ast.AST], subject: str) -> Iterator[ast.Name | ast.Attribute]:
    """Yield where a value is read or bound, and where what it is an attribute of is bound."""
    first = subject.partition(".")[0]
    for node in where:
        for each in ast.walk(node):
            match each:
                case ast.Name() | ast.Attribute() if dotted(each) == subject:
                    yield each
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name == first:
                    yield each
                case (
                    ast.arg(arg=name)  # A function inside has another variable of the name.
                    | ast.ExceptHandler(name=str(name))
                    | ast.MatchAs(name=str(name))
                    | ast.MatchStar(name=str(name))
                ) if name == first:
                    yield ast.Name(name, ast.Store())
