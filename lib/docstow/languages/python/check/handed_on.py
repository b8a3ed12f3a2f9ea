"""Calls that hand arguments on to a function among them: ``partial(open, mode="rb")``."""

from __future__ import annotations

import ast
import re

from docstow.languages.python.source.syntax import Function, function_headers, positional
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Installed

#: Classes of the standard library that hand all on to the first, which their stubs do not tell.
_PARTIAL = frozenset({"functools.partial", "functools.partialmethod"})


def handed_call(node: ast.Call, path: str, package: Installed | None) -> ast.Call | None:
    """Return the call of an argument with the keywords that are handed on to it.

    Args:
        node: the call.
        path: of what is called.
        package: whose that is.

    Returns:
        The call, without arguments by position; None where none is handed on.
    """
    named = [each for each in node.keywords if each.arg is not None]
    if not node.args or not named:
        return None
    index: int | None = 0
    if path not in _PARTIAL:
        header = _header(path, package)
        index = _called_parameter(header) if header is not None else None
        own = (*positional(header), *header.args.kwonlyargs) if header is not None else ()
        named = [each for each in named if each.arg not in {e.arg for e in own}]
    if index is None or not named:
        return None
    before = node.args[: index + 1]
    if len(before) <= index or any(isinstance(each, ast.Starred) for each in before):
        return None
    return ast.copy_location(ast.Call(before[index], [], named), node)


def _header(path: str, package: Installed | None) -> Function | None:
    """Return the source of a function that takes further keywords, or what its stub says of it."""
    symbol = package.symbol(path) if package is not None else None
    if package is None or symbol is None or "**" not in symbol.signature:
        return None
    surface = package.surface
    function = surface.function(path) if isinstance(surface, PythonSurface) else None
    return function or next(iter(function_headers(symbol.signature)), None)


def _called_parameter(node: Function) -> int | None:
    """Return which argument a function calls with the further keywords that it takes.

    A stub tells it by ``Callable[P, T]`` and ``**kwargs: P.kwargs``. The receiver of a method is
    not counted. None where the keywords are used otherwise, too.
    """
    taken = [each for each in positional(node) if each.arg != "self"]
    match node.args.kwarg:
        case ast.arg(annotation=ast.Attribute(value=ast.Name(id=variable), attr="kwargs")):
            told = [ast.unparse(each.annotation) if each.annotation else "" for each in taken]
            called = [
                re.search(rf"Callable\[.*\b{variable}\b.*,", each) is not None for each in told
            ]
            return called.index(True) if True in called else None
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == rest]
    names = [each.arg for each in taken]
    for each in ast.walk(node):
        match each:
            case ast.Call(
                func=ast.Name(id=name), keywords=[*_, ast.keyword(arg=None, value=given)]
            ):
                if given in uses and len(uses) == 1 and name in names:
                    return names.index(name)
    return None
