"""Code that expects a name to be missing: conditions, handlers, patches, comments.

Nothing is reported where one of these applies.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from docstow.languages.python.source.syntax import Function

#: Words of a condition that tests which names there are.
_AVAILABILITY = re.compile(
    r"hasattr|getattr|version|VERSION|\bPY|platform|find_spec|_AVAILABLE|HAS_|HAVE_|has_|IS_"
)
#: Exceptions that code catches where a name may be missing.
_CAUGHT = re.compile(
    r"Import|ModuleNotFound|Attribute|TypeError|(?<![\w.])(?:Base)?Exception\b|Warning|Errors\b"
)
#: Calls whose code is meant to fail.
_EXPECTING = re.compile(r"raises|Raises|warns|Warns|suppress|\bpatch\b")
#: Functions that test what a variable is.
_NARROWING = frozenset({"isinstance", "issubclass", "hasattr", "setattr", "type", "vars"})


def tests_availability(condition: ast.expr) -> bool:
    """Return whether a condition tests which names there are."""
    return bool(_AVAILABILITY.search(ast.unparse(condition)))


def excludes_rest(node: ast.AST) -> bool:
    """Return whether the code after a node runs only where its availability test fails."""
    if not isinstance(node, ast.If) or not tests_availability(node.test):
        return False
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def expects_failure(node: ast.expr) -> bool:
    """Return whether a call or context manager takes code that is meant to fail."""
    return bool(_EXPECTING.search(ast.unparse(node)))


def is_skipped(node: ast.AST) -> bool:
    """Return whether a test or its class may be skipped: ``@pytest.mark.skipif``."""
    return any("skip" in ast.unparse(each) for each in getattr(node, "decorator_list", ()))


def catches_missing_names(node: ast.Try | ast.TryStar) -> bool:
    """Return whether a handler catches what a missing name raises."""
    caught = (
        ast.unparse(each.type) if each.type is not None else "Exception" for each in node.handlers
    )
    return bool(_CAUGHT.search(" ".join(caught)))


def ignored_lines(code: str) -> frozenset[int]:
    """Return the numbers of the lines that tell checkers to ignore them."""
    return frozenset(
        number
        for number, line in enumerate(code.split("\n"), 1)
        if "type: ignore" in line or "pylint: disable" in line
    )


def patched_attributes(tree: ast.Module) -> frozenset[str]:
    """Return names of attributes that the code sets on something, or patches by name."""
    found: set[str] = set()
    # What a method sets on its own class is found with the class.
    own = {id(each) for each in _self_attributes(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if id(node) not in own:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in {"setattr", "delattr", "patch", "object", "register"}:
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {each.rpartition(".")[2] for each in texts if isinstance(each, str)}
    return frozenset(found)


def _self_attributes(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield each ``self.name`` in the methods of classes."""
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            for each in ast.walk(method) if isinstance(method, Function) else ():
                match each:
                    case ast.Attribute(value=ast.Name(id="self")):
                        yield each


def narrowed_variables(tree: ast.Module) -> frozenset[str]:
    """Return the variables whose type the code tests."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[subject, *_]) if name in _NARROWING:
                pass
            case ast.Match(subject=subject):
                pass
            case _:
                continue
        found |= {each.id for each in ast.walk(subject) if isinstance(each, ast.Name)}
    return frozenset(found)
