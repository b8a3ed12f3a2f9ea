"""Run by an environment's own Python: what modules, classes and calls really are there."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
import warnings
from typing import Any

_NO_INIT = vars(object)["__init__"]


def parameters(thing: Any) -> list[list[Any]] | None:
    try:
        signature = inspect.signature(thing, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    return [
        [each.name, each.kind.name.lower(), each.default is each.empty]
        for each in signature.parameters.values()
    ]


def look(module: types.ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {"names": dir(module), "classes": {}, "calls": {}}
    for name in dir(module):
        thing = getattr(module, name)
        if isinstance(thing, types.FunctionType):
            found["calls"][name] = parameters(thing)
        if not isinstance(thing, type):
            continue
        found["classes"][name] = dir(thing)
        if type(thing) is type and inspect.getattr_static(thing, "__init__") is not _NO_INIT:
            found["calls"][name] = parameters(thing)
        for member in dir(thing):
            method = inspect.getattr_static(thing, member, None)
            if isinstance(method, types.FunctionType) and not member.startswith("__"):
                given = parameters(method)
                bound = given is not None and given[:1] and given[0][1].startswith("positional")
                found["calls"][f"{name}.{member}"] = given[1:] if given and bound else given
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({name: look(importlib.import_module(name)) for name in sys.argv[1:]}))
