"""What Python code does itself about names that may not be there.

This room knows conditions, handlers, patches and comments. It does not know packages.
"""

from __future__ import annotations

import ast
import re

#: A condition that speaks of these asks what there is; what it guards may not be there.
_ASKS = re.compile(
    r"hasattr|getattr|version|VERSION|\bPY|platform|find_spec|_AVAILABLE|HAS_|HAVE_|has_|IS_"
)
#: What is caught or expected where a name may well be missing.
_CAUGHT = re.compile(
    r"Import|ModuleNotFound|Attribute|TypeError|(?<![\w.])(?:Base)?Exception\b|Warning|Errors\b"
)
#: What takes code that is meant to fail.
_EXPECTS = re.compile(r"raises|Raises|warns|Warns|suppress|\bpatch\b")
_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "setattr", "type", "vars"})


def asks(node: ast.expr) -> bool:
    """Whether a condition asks what there is."""
    return bool(_ASKS.search(ast.unparse(node)))


def leaves(node: ast.AST) -> bool:
    """Whether a branch that asks what there is ends what it is in: what follows is otherwise."""
    if not isinstance(node, ast.If) or not asks(node.test):
        return False
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def expects(node: ast.expr) -> bool:
    """Whether what is called or entered takes code that is meant to fail."""
    return bool(_EXPECTS.search(ast.unparse(node)))


def is_skipped(node: ast.AST) -> bool:
    """Whether a test or its class is left out under some condition: ``@pytest.mark.skipif``."""
    marks = getattr(node, "decorator_list", ())
    return any("skip" in ast.unparse(each) for each in marks)


def catches(node: ast.Try | ast.TryStar) -> bool:
    """Whether a handler stands ready for names that are missing."""
    caught = (
        ast.unparse(each.type) if each.type is not None else "Exception" for each in node.handlers
    )
    return bool(_CAUGHT.search(" ".join(caught)))


def ignored(code: str) -> frozenset[int]:
    """The lines that checkers are told to leave alone."""
    return frozenset(
        number
        for number, line in enumerate(code.split("\n"), 1)
        if "type: ignore" in line or "pylint: disable" in line
    )


def patched(tree: ast.Module) -> frozenset[str]:
    """Attributes that the code itself gives to something, or replaces by name."""
    found: set[str] = set()
    own = _receivers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            # What a method gives to its own class is looked up there.
            if id(node) not in own:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in {"setattr", "delattr", "patch", "object", "register"}:
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {each.rpartition(".")[2] for each in texts if isinstance(each, str)}
    return frozenset(found)


def _receivers(tree: ast.Module) -> set[int]:
    """The ``self.name`` that methods assign to."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= {
                    id(each)
                    for each in ast.walk(method)
                    if isinstance(each, ast.Attribute)
                    and isinstance(each.value, ast.Name)
                    and each.value.id == "self"
                }
    return found


def narrowed(tree: ast.Module) -> frozenset[str]:
    """Variables of which the code asks what they are."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id in _ASKING:
                found |= {each.id for each in ast.walk(node.args[0]) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Match):
            found |= {each.id for each in ast.walk(node.subject) if isinstance(each, ast.Name)}
    return frozenset(found)
