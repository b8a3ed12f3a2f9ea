"""Lazy loaders whose map of names can be read: ``lazy_loader.attach``.

This room knows that one call. Other loaders are code, and stay unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from docstow.readers.python_signature import dotted


def attached(tree: ast.Module, name: str) -> Mapping[str, tuple[str, str]]:
    """Names that a package's ``__init__`` loads lazily: module and name in it (or nothing).

    Empty where there is no such call, or where a part of it is not written out.
    """
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and dotted(call.func) in {
            "lazy.attach",
            "lazy_loader.attach",
        }:
            return _names(call, name)
    return {}


def _names(call: ast.Call, name: str) -> Mapping[str, tuple[str, str]]:
    given = dict(zip(("name", "submodules", "submod_attrs"), call.args, strict=False))
    given |= {each.arg or "**": each.value for each in call.keywords}
    try:
        modules = ast.literal_eval(given["submodules"]) if "submodules" in given else ()
        attributes = ast.literal_eval(given["submod_attrs"]) if "submod_attrs" in given else {}
        found = {each: (f"{name}.{each}", "") for each in modules or ()}
        for module, names in (attributes or {}).items():
            found |= {each: (f"{name}.{module}", each) for each in names}
    except (ValueError, TypeError, AttributeError, SyntaxError):
        return {}
    return found
