"""Which decorators leave what they decorate as it is.

This room knows the annotations by which a decorator says that it gives back what it was given. It
does not know what a decorated thing is used for.
"""

from __future__ import annotations

import ast
import re

from docstow.languages.python.names__packages_python_views import View, nearest
from docstow.languages.python.source.facts import Decorator
from docstow.text import python_ast as python_tree

#: What takes arguments under other names too.
_RENAMES = re.compile(r"renam|alias|kwarg|transition", re.IGNORECASE)


def keeps(view: View, decorator: Decorator) -> bool:
    """Whether a decorator's own annotations say that it gives back the same type.

    ``def mark(f: F) -> F``, ``def doc(text: str) -> Callable[[F], F]``, and the same of
    ``Callable[P, T]``; or its body, which passes all arguments on. What renames parameters is
    taken to accept more.
    """
    if not decorator.name or _RENAMES.search(decorator.name):
        return False
    found = nearest(view.names.in_scope(view, decorator.name), view)
    if not isinstance(found, View) or found.definition.kind != "function" or found.several:
        return False
    if found.definition.keeps == ("called" if decorator.called else "bare"):
        return True
    head = _head(found.definition.signature)
    if head is None or head.returns is None or found.definition.decorators:
        return False
    returns = _plain(head.returns)
    if decorator.called:
        match returns:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[taken]), given])):
                return _is_same(taken, given, found)
        return False
    first = next(iter([*head.args.posonlyargs, *head.args.args]), None)
    if first is None or first.annotation is None:
        return False
    return _is_same(first.annotation, returns, found)


def _is_same(taken: ast.expr, given: ast.expr, found: View) -> bool:
    taken, given = _plain(taken), _plain(given)
    if ast.unparse(taken) != ast.unparse(given):
        return False
    if isinstance(taken, ast.Subscript):
        return True
    return isinstance(taken, ast.Name) and _is_variable(taken.id, found)


def _is_variable(name: str, found: View) -> bool:
    """Whether a name stands for any type: of one that is written out less is known."""
    views = found.names.in_scope(found, name)
    texts = [each.definition.signature for each in views if isinstance(each, View)]
    return bool(texts) and all("TypeVar(" in each for each in texts)


def _plain(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return python_tree.expression(node.value)
        except (SyntaxError, ValueError):
            return node
    return node


def _head(signature: str) -> ast.FunctionDef | None:
    if "\n@" in signature or signature.count("def ") != 1:
        return None
    try:
        statement = python_tree.module(f"{signature}: ...").body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef) else None
